"""Kept verdicts that are known to be wrong, as the claims of a paper say, until kept again."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from dpfl.words.vocabulary import WITHDRAWN


def reason(claim: Mapping[str, Any], commit: str) -> str:
    """Return why the verdict on a claim in results kept at a commit is withdrawn, or nothing."""
    told = claim.get(WITHDRAWN, {})
    return " ".join(told["reason"].split()) if told.get("commit") == commit else ""


def from_table(
    judged: pd.DataFrame, claims: Iterable[Mapping[str, Any]], commit: str
) -> pd.DataFrame:
    """Return judged claims, kept at a commit, without the verdicts that are withdrawn."""
    names = [claim["id"] for claim in claims if reason(claim, commit)]
    verdicts = judged["verdict"].mask(judged["claim"].isin(names), WITHDRAWN)
    return judged.assign(verdict=verdicts)

"""The rows of the analysis `privacy-loss`: every printed epsilon beside our price."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd
from papers.zhou2022.analyses._assumptions import Assumptions, Pair, steps
from papers.zhou2022.analyses._needed import single
from papers.zhou2022.analyses._printed import DECIMALS

from dpfl.privacy.composition import classic_sigma
from dpfl.words.vocabulary import DIFFERS, MATCHES


def prices(assumed: Assumptions, pairs: Iterable[Pair]) -> pd.DataFrame:
    """Return one row per printed cell and reading: our price, its distance and the verdict."""
    rows = []
    for pair in pairs:
        note = _note(assumed, pair)
        rows += [_cell(assumed, pair, *cell) | {"note": note} for cell in pair.printed]
    return pd.DataFrame(rows)


def _cell(assumed: Assumptions, pair: Pair, epochs: int, printed: float) -> dict[str, Any]:
    rate = assumed.rate(pair.dataset)
    sigma = classic_sigma(pair.header, assumed.header_delta)
    other = classic_sigma(pair.header, assumed.other_header_delta)
    found = assumed.classic(rate, sigma * pair.joint, epochs)
    return pair.row() | {
        "epochs": epochs,
        "sample_rate": rate,
        "steps": steps(rate, epochs),
        "delta": assumed.delta,
        "header_delta": assumed.header_delta,
        "sigma": sigma,
        "noise_multiplier": sigma * pair.joint,
        "published": printed,
        "classic_rdp": found,
        "residual": found - printed,
        "verdict": MATCHES if matches(found, printed) else DIFFERS,
        "pld": assumed.truth(rate, sigma * pair.joint, epochs),
        "other_header_delta": assumed.other_header_delta,
        "other_sigma": other,
        "other_classic_rdp": assumed.classic(rate, other * pair.joint, epochs),
    }


def matches(found: float, printed: float) -> bool:
    """Return whether a price is the printed one, rounded as that is."""
    return round(found, DECIMALS) == printed


def _note(assumed: Assumptions, pair: Pair) -> str:
    """Say that one σ reproduces all printed epsilons of a pair, and what the header's own gives."""
    fitted = single(assumed, pair).fitted
    if math.isnan(fitted):
        return ""
    rate, own = assumed.rate(pair.dataset), classic_sigma(pair.header, assumed.header_delta)
    found = [assumed.classic(rate, own * pair.joint, epochs) for epochs, _ in pair.printed]
    texts = " / ".join(f"{value:.{DECIMALS}f}" for value in found)
    return f"reproduced at fitted σ {fitted:g}; {texts} at the header's own σ"

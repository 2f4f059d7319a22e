"""Three epsilons side by side, each a chip: claimed, certified, audited."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dpfl.words import cell_words
from dpfl.words.numerals import known, number, rounded_up
from dpfl.words.vocabulary import BEATEN


@dataclass(frozen=True)
class Chip:
    """One epsilon: what it is, its value, and whether that is good, bad or open."""

    name: str
    value: str
    tone: str


def epsilons(row: Mapping, unit: str = "example") -> tuple[Chip, ...]:
    """Return the three chips of a judged claim or of a cell, none where nothing is private.

    An epsilon that protects a client says so; an example goes unsaid.
    """
    if not known(row["eps_claimed"]) or math.isinf(row["eps_claimed"]):
        return ()
    claimed = number(row["eps_claimed"], "{:g}") + ", client-level" * (unit == "client")
    proof = row["eps_certified"]
    certified = (f"≤ {rounded_up(float(proof))}", "good") if known(proof) else ("no proof", "bad")
    refuted = row["privacy"] in BEATEN
    audited = cell_words.audited(row) + ", refuted" * refuted
    return (
        Chip("claimed", claimed, "open"),
        Chip("certified", *certified),
        Chip("audited", audited, "bad" if refuted else "open"),
    )


def text(found: Iterable[Chip]) -> str:
    """Return the values of chips in one line: `8 / ≤ 8 / ≥ 7.97`."""
    return " / ".join(chip.value for chip in found)

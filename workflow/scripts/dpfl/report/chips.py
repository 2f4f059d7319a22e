"""Three epsilons side by side, each a chip: claimed, certified, audited."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dpfl.report import units
from dpfl.words.numerals import known, number, rounded_down, rounded_up

NONE = "not audited"


@dataclass(frozen=True)
class Chip:
    """One epsilon: what it is, its value, and whether that is good, bad or open."""

    name: str
    value: str
    tone: str


def of(row: Mapping) -> tuple[Chip, ...]:
    """Return the three chips of a judged claim or of a cell, none where nothing is private."""
    if not known(row["eps_claimed"]) or math.isinf(row["eps_claimed"]):
        return ()
    return (
        Chip("claimed", number(row["eps_claimed"], "{:g}") + units.level(row), "open"),
        _certified(row),
        _audited(row),
    )


def certified(row: Mapping) -> str:
    """Return `yes` or `no`, or nothing of a row without an epsilon."""
    if not of(row):
        return ""
    return "yes" if known(row["eps_certified"]) else "no"


def _certified(row: Mapping) -> Chip:
    if not known(row["eps_certified"]):
        return Chip("certified", "no proof", "bad")
    return Chip("certified", f"≤ {rounded_up(float(row['eps_certified']))}", "good")


def _audited(row: Mapping) -> Chip:
    refuted = "refuted" in str(row["privacy"])
    if not known(row["eps_audited"]):
        status = row["audit_status"] if known(row["audit_status"]) else NONE
        return Chip("audited", "none" if status == NONE else status, "bad" if refuted else "open")
    shown = f"≥ {rounded_down(row['eps_audited'])}" + ", refuted" * refuted
    return Chip("audited", shown, "bad" if refuted else "open")

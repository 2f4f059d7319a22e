"""The rows of the analysis `privacy-loss`: every printed epsilon beside our price."""

import math
from collections.abc import Iterable
from typing import Any

import pandas as pd

from dpfl.analyses._privacy_loss_needed import single
from dpfl.analyses._privacy_loss_plan import Pair, Plan, steps
from dpfl.privacy.composition import classic_sigma
from dpfl.tables.printed_losses import DECIMALS


def prices(plan: Plan, pairs: Iterable[Pair]) -> pd.DataFrame:
    """Return one row per printed cell and reading: our price, its distance and the verdict."""
    rows = []
    for pair in pairs:
        note = _note(plan, pair)
        rows += [_cell(plan, pair, *cell) | {"note": note} for cell in pair.printed]
    return pd.DataFrame(rows)


def _cell(plan: Plan, pair: Pair, epochs: int, printed: float) -> dict[str, Any]:
    rate = plan.rate(pair.dataset)
    sigma = classic_sigma(pair.header, plan.header_delta)
    other = classic_sigma(pair.header, plan.other_header_delta)
    found = plan.classic(rate, sigma * pair.joint, epochs)
    return pair.row() | {
        "epochs": epochs,
        "sample_rate": rate,
        "steps": steps(rate, epochs),
        "delta": plan.delta,
        "header_delta": plan.header_delta,
        "sigma": sigma,
        "noise_multiplier": sigma * pair.joint,
        "published": printed,
        "classic_rdp": found,
        "residual": found - printed,
        "verdict": "matches" if matches(found, printed) else "differs",
        "pld": plan.truth(rate, sigma * pair.joint, epochs),
        "other_header_delta": plan.other_header_delta,
        "other_sigma": other,
        "other_classic_rdp": plan.classic(rate, other * pair.joint, epochs),
    }


def matches(found: float, printed: float) -> bool:
    """Return whether a price is the printed one, rounded as that is."""
    return round(found, DECIMALS) == printed


def _note(plan: Plan, pair: Pair) -> str:
    """Say that one σ reproduces all printed epsilons of a pair, and what the header's own gives."""
    fitted = single(plan, pair).fitted
    if math.isnan(fitted):
        return ""
    rate, own = plan.rate(pair.dataset), classic_sigma(pair.header, plan.header_delta)
    found = [plan.classic(rate, own * pair.joint, epochs) for epochs, _ in pair.printed]
    texts = " / ".join(f"{value:.{DECIMALS}f}" for value in found)
    return f"reproduced at fitted σ {fitted:g}; {texts} at the header's own σ"

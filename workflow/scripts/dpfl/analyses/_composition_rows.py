"""The rows of the analysis `composition`: formulas and accountants on the same releases."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from dp_accounting import DpEvent, get_epsilon_gaussian, get_sigma_gaussian

from dpfl.base.errors import UserError
from dpfl.privacy import composition
from dpfl.privacy.accountants import classic_rdp, gaussian, pld, prv, rdp
from dpfl.privacy.events import poisson_gaussian

UNPROVEN = f"the classic z is unproven for ε ≥ {composition.CLASSIC_BELOW:g}"
CERTAIN = "δ of advanced composition reaches 1, which bounds nothing"


@dataclass(frozen=True)
class Mechanism:
    """One round: a Gaussian on a Poisson batch, and the (epsilon, delta) it has on its own."""

    label: str
    epsilon: float
    delta: float
    sample_rate: float
    noise_multiplier: float
    note: str = ""


def read(settings: dict[str, float]) -> Mechanism:
    """Return the mechanism of (epsilon, delta), at the classic noise, or of (q, z, delta)."""
    delta = settings["delta"]
    tail = f"δ = {delta:g}".replace("e-0", "e-")
    if "epsilon" in settings:
        epsilon = settings["epsilon"]
        noise = composition.classic_sigma(epsilon, delta)
        note = UNPROVEN if epsilon >= composition.CLASSIC_BELOW else ""
        label = f"ε = {epsilon:g}, z = {noise:.4g}, {tail}"
        return Mechanism(label, epsilon, delta, 1.0, noise, note)
    rate, noise = settings["sample_rate"], settings["noise_multiplier"]
    epsilon = pld.epsilon(poisson_gaussian(rate, noise, 1), delta)
    return Mechanism(f"q = {rate:g}, z = {noise:g}, {tail}", epsilon, delta, rate, noise)


def prices(mechanisms: Sequence[Mechanism], rounds: Sequence[int], slack: float) -> pd.DataFrame:
    """Return one row per mechanism and number of rounds k."""
    return pd.DataFrame([_price(own, k, slack) for own in mechanisms for k in rounds])


def _price(own: Mechanism, k: int, slack: float) -> dict[str, Any]:
    """Return what k rounds cost by every formula, and by every accountant at the round's delta."""
    basic, basic_delta = composition.basic(own.epsilon, own.delta, k)
    advanced, total = composition.advanced(own.epsilon, own.delta, k, slack)
    event = poisson_gaussian(own.sample_rate, own.noise_multiplier, k)
    certain = total >= 1
    best = math.nan if certain else composition.optimal(own.epsilon, own.delta, k, slack)[0]
    opacus, failure = _opacus(event, own.delta)
    return {
        "mechanism": own.label,
        "sample_rate": own.sample_rate,
        "noise_multiplier": own.noise_multiplier,
        "epsilon_round": own.epsilon,
        "delta_round": own.delta,
        "k": k,
        "basic_epsilon": basic,
        "basic_delta": basic_delta,
        "advanced_epsilon": advanced,
        "advanced_delta": total,
        "smaller_epsilon": min(basic, advanced),
        "optimal_epsilon": best,
        "classic_rdp": classic_rdp.epsilon(event, own.delta),
        "rdp": rdp.epsilon(event, own.delta),
        "prv": opacus,
        "pld": pld.epsilon(event, own.delta),
        "exact": gaussian.epsilon(event, own.delta) if own.sample_rate == 1 else math.nan,
        "pld_at_advanced_delta": math.nan if certain else pld.epsilon(event, total),
        "note": "; ".join(filter(None, [own.note, failure, CERTAIN * certain])),
    }


def _opacus(event: DpEvent, delta: float) -> tuple[float, str]:
    """Return PRV's price and "", or nan and the reason: it fails on some settings."""
    try:
        found = prv.epsilon(event, delta)
    except UserError as error:
        return math.nan, str(error)
    return (found, "") if math.isfinite(found) else (math.nan, f"PRV says {found}")


def rule(epsilon: float, delta: float, rounds: Sequence[int], slack: float) -> pd.DataFrame:
    """Return one row per number of rounds T: the uniform rule, and what an accountant allows."""
    return pd.DataFrame([_rule(epsilon, delta, number, slack) for number in rounds])


def _rule(epsilon: float, delta: float, rounds: int, slack: float) -> dict[str, Any]:
    """Compose the rule's shares again: by formula, for Gaussians, and what would have fitted.

    The allowed share is that of Gaussians which together cost exactly (epsilon, delta), at the
    same delta per round.
    """
    share, share_delta = composition.square_root_rule(epsilon, delta, rounds)
    advanced, total = composition.advanced(share, share_delta, rounds, slack)
    classic = composition.classic_sigma(share, share_delta)
    exact = get_sigma_gaussian(share, share_delta)
    allowed = math.sqrt(rounds) * get_sigma_gaussian(epsilon, delta)
    certain = total >= 1
    best = math.nan if certain else composition.optimal(share, share_delta, rounds, slack)[0]
    unproven = share >= composition.CLASSIC_BELOW
    return {
        "epsilon": epsilon,
        "delta": delta,
        "rounds": rounds,
        "epsilon_round": share,
        "delta_round": share_delta,
        "advanced_epsilon": advanced,
        "advanced_delta": total,
        "overspend": advanced / epsilon,
        "optimal_epsilon": best,
        "classic_noise": classic,
        "classic_pld": _gaussians(classic, rounds, delta),
        "exact_noise": exact,
        "exact_pld": _gaussians(exact, rounds, delta),
        "allowed_noise": allowed,
        "allowed_epsilon_round": get_epsilon_gaussian(allowed, share_delta),
        "note": "; ".join(filter(None, [UNPROVEN * unproven, CERTAIN * certain])),
    }


def _gaussians(noise: float, rounds: int, delta: float) -> float:
    return pld.epsilon(poisson_gaussian(1.0, noise, rounds), delta)


def crossovers(mechanisms: Sequence[Mechanism], slack: float) -> pd.DataFrame:
    """Return one row per mechanism: the first k at which advanced composition is below basic."""
    found = [
        composition.crossover(own.epsilon, slack) if own.epsilon else None for own in mechanisms
    ]
    return pd.DataFrame(
        {
            "mechanism": [own.label for own in mechanisms],
            "epsilon_round": [own.epsilon for own in mechanisms],
            "delta_round": [own.delta for own in mechanisms],
            "slack": slack,
            "k": [math.nan if k is None else k for k in found],
        }
    )

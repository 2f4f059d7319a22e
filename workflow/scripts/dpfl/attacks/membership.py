"""Membership inference: was this model trained on this example?

An attack gives every target model a score for every example, [models, examples], larger for
likelier members. Each model is the target once; all others are its references, whose training sets
the adversary knows. These are attacks, not proofs: they bound no epsilon.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp
from scipy.stats import norm

from dpfl.attacks import roc
from dpfl.attacks.observed import Observed

OFFLINE_REFERENCES = 2
COEFFICIENTS = np.linspace(0, 1, 11)
SMALLEST = 1e-12
"""The least standard deviation: references that agree exactly would divide by zero."""


def loss_threshold(observed: Observed) -> np.ndarray:
    """Score by minus the cross-entropy, log p, without any reference (Yeom et al. 2018)."""
    return log_probability(observed.confidences)


def lira(observed: Observed) -> np.ndarray:
    """Score by the likelihood ratio of two Gaussians, online (Carlini et al. 2022, algorithm 1).

    Their means are an example's own over the references that held it and those that did not. Their
    variances are pooled over examples, as is advised there for few references. NaN where no
    reference held the example, or all did.
    """
    return _each_target(observed, _gaussian_ratio)


def rmia(observed: Observed) -> np.ndarray:
    """Score by the share of a population that x dominates, online (Zarifzadeh et al. 2024).

    With r(x) = p(x | target) / p(x), x dominates z if r(x) > gamma r(z). Here gamma = 1. Halfway
    between the means of p over the references that held x and those that did not lies p(x). NaN as
    for `lira`.
    """
    return _each_target(observed, _dominated_online)


def rmia_offline(observed: Observed) -> np.ndarray:
    """Score as `rmia`, by at most two references, none of which held the example.

    p(x) is ((1 + a) m + 1 - a) / 2 for their mean m. Here a is the one that serves best to attack a
    reference. NaN where every reference held the example.
    """
    return _each_target(observed, _dominated_offline)


ATTACKS: dict[str, Callable[[Observed], np.ndarray]] = {
    "loss threshold": loss_threshold,
    "RMIA, two references": rmia_offline,
    "RMIA": rmia,
    "LiRA": lira,
}


def comparable(members: np.ndarray) -> np.ndarray:
    """Tell which examples a target's references both held and did not: [models, examples].

    On these all attacks give a score. Nothing of the target's own members enters.
    """
    others = members.sum(0) - members
    return (others > 0) & (others < len(members) - 1)


def log_probability(confidences: np.ndarray) -> np.ndarray:
    """Return log p from log(p / (1 - p)), exact at both ends."""
    return -np.logaddexp(0, -confidences)


def gaussian_log_ratio(
    confidences: np.ndarray, held: tuple[np.ndarray, float], not_held: tuple[np.ndarray, float]
) -> np.ndarray:
    """Return log N(c; held) - log N(c; not held), for means and standard deviations."""
    return norm.logpdf(confidences, *held) - norm.logpdf(confidences, *not_held)


def _each_target(
    observed: Observed, attack: Callable[[Observed, int, np.ndarray], np.ndarray]
) -> np.ndarray:
    """Attack every model with all others as its references."""
    models = np.arange(len(observed.members))
    return np.stack([attack(observed, target, models[models != target]) for target in models])


def _gaussian_ratio(observed: Observed, target: int, references: np.ndarray) -> np.ndarray:
    confidences, held = observed.confidences[references], observed.members[references]
    fits = (_gaussian(confidences, held), _gaussian(confidences, ~held))
    return gaussian_log_ratio(observed.confidences[target], *fits)


def _gaussian(confidences: np.ndarray, where: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the mean of each example and one standard deviation within them, unbiased."""
    counts = where.sum(0)
    total = np.where(where, confidences, 0).sum(0)
    mean = np.divide(total, counts, out=np.full(len(total), np.nan), where=counts > 0)
    squares = np.square(np.where(where, confidences - mean, 0)).sum()
    freedom = np.maximum(counts - 1, 0).sum()
    return mean, max(np.sqrt(squares / max(freedom, 1)), SMALLEST)


def _dominated_online(observed: Observed, target: int, references: np.ndarray) -> np.ndarray:
    log_p, held = log_probability(observed.confidences), observed.members[references]
    means = [_log_mean(log_p[references], where) for where in (held, ~held)]
    expected = logsumexp(means, axis=0) - np.log(2)
    population = log_probability(observed.population)
    everyone = np.ones_like(population[references], dtype=bool)
    usual = _log_mean(population[references], everyone)
    return _dominated(log_p[target] - expected, population[target] - usual)


def _dominated_offline(observed: Observed, target: int, references: np.ndarray) -> np.ndarray:
    return _offline(observed, target, references, _coefficient(observed, references))


def _coefficient(observed: Observed, references: np.ndarray) -> float:
    """Return the coefficient a with which an attack on the first reference has the largest AUC."""
    victim, *others = references
    members = observed.members[victim]
    areas = [
        roc.area(_offline(observed, victim, np.array(others), a), members) for a in COEFFICIENTS
    ]
    return COEFFICIENTS[int(np.argmax(areas))]


def _offline(observed: Observed, target: int, references: np.ndarray, a: float) -> np.ndarray:
    ratios = []
    absent = np.zeros_like(observed.population, dtype=bool)
    for confidences, members in (
        (observed.confidences, observed.members),
        (observed.population, absent),
    ):
        log_p, out = log_probability(confidences), ~members[references]
        used = out & (np.cumsum(out, axis=0) <= OFFLINE_REFERENCES)
        mean = np.exp(_log_mean(log_p[references], used))
        with np.errstate(divide="ignore"):  # a = 1, and no reference gives it a chance
            ratios.append(log_p[target] - np.log(((1 + a) * mean + 1 - a) / 2))
    return _dominated(*ratios)


def _log_mean(log_p: np.ndarray, where: np.ndarray) -> np.ndarray:
    """Return log of the mean of p over some of the models, for each example; NaN over none."""
    counts = where.sum(0)
    total = logsumexp(np.where(where, log_p, -np.inf), axis=0)
    return np.where(counts > 0, total - np.log(np.maximum(counts, 1)), np.nan)


def _dominated(ratios: np.ndarray, population: np.ndarray) -> np.ndarray:
    """Return the share of the population with a smaller ratio; NaN for a ratio that is none."""
    shares = np.searchsorted(np.sort(population), ratios) / len(population)
    return np.where(np.isnan(ratios), np.nan, shares)

"""Whether a mechanism goes with the other components of a method, as their files declare it."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from dpfl import plugins
from dpfl.contracts.federation import DEFAULT

Parts = dict[str, dict[str, Any]]
"""Settings of the `mechanism`, the `clipping` and any `optimizer`, as a run names them."""


def misfits(parts: Parts) -> Iterator[str]:
    """Tell what does not go together, each as words that follow a method's name."""
    estimator, rule = parts["mechanism"]["estimator"], parts["clipping"]["rule"]
    declared = partial(plugins.constant, "mechanisms", estimator)
    taken = declared("CLIPPING_RULES")
    if rule not in taken:
        listed = f"expected {' or '.join(taken)} with {estimator}"
        because = "; ".join(plugins.constant("clippings", rule, "REASONS"))
        reason = f"its proof covers no other: {because}" if because else "it takes no other"
        yield f"clips by rule {rule!r}, {listed}; {reason}"
    for part, reason in declared("REFUSES"):
        if part.items() <= parts["mechanism"].items():
            found = " and ".join(f"{key} {value}" for key, value in part.items())
            yield f"has {found} with {estimator}: {reason}"
    algorithm = parts.get("optimizer", {}).get("algorithm")
    if algorithm and plugins.constant("optimizers", algorithm, "NEEDS_NOISE"):
        yield from unknown_noise(parts, algorithm)


def wrong_unit(parts: Parts) -> Iterator[str]:
    """Tell that the rule of the federation is not for whom the mechanism protects, if so."""
    rule = parts["federation"].get("rule", DEFAULT)
    unit = plugins.constant("mechanisms", parts["mechanism"]["estimator"], "UNIT")
    if unit not in (units := plugins.constant("federations", rule, "UNITS")):
        yield f"has federation {rule} with unit {unit}, expected {' or '.join(units)}"


def misdrawn(parts: Parts) -> Iterator[str]:
    """Tell what does not go with batches that are not drawn, or not charged, by Poisson.

    Nor with noise of a whole run.
    """
    drawn = parts["federation"].get("sampling", "poisson")
    told = f"has sampling {drawn}" if drawn != "poisson" else ""
    if charged := parts["federation"].get("charged"):
        told = f"has sampling {drawn}, charged as {charged}"
    if told and parts["budget"] != {"strategy": "uniform"}:
        yield f"{told}, expected budget uniform, found {parts['budget']['strategy']}"
    unit = plugins.constant("mechanisms", parts["mechanism"]["estimator"], "UNIT")
    for name in dict.fromkeys((drawn, charged or drawn)):
        if unit != "client" and plugins.constant("samplings", name, "BEFOREHAND"):
            yield f"has sampling {name} with unit example, expected client: it is of cohorts"
    if told and "statistics" in parts:
        yield f"{told}, expected no statistics"
    if not (asked := parts["federation"].get("factorization")):
        return
    told, estimator = f"has factorization {asked['uses']}", parts["mechanism"]["estimator"]
    declared = partial(plugins.constant, "mechanisms", estimator)
    if declared("UNIT") == "example" and not declared("NOISE_IS_Z_C"):
        yield f"{told} with {estimator}, whose noise is not z C in every coordinate"
    algorithm = parts["optimizer"]["algorithm"]
    if plugins.constant("optimizers", algorithm, "NEEDS_NOISE"):
        yield f"{told} with {algorithm}, which is told the noise of steps apart"
    if (rule := parts["clipping"]["rule"]) != "fixed":
        yield f"{told} with clipping rule {rule}, expected fixed: the run is one release"


def unknown_noise(parts: Parts, optimizer: str) -> Iterator[str]:
    """Tell why nobody could tell an optimizer that needs it the noise of a step, if so."""
    estimator, rule = parts["mechanism"]["estimator"], parts["clipping"]["rule"]
    asks = f"has optimizer {optimizer}, which asks for the noise of a step"
    if not plugins.constant("mechanisms", estimator, "NOISE_IS_Z_C"):
        yield f"{asks}: that of {estimator} is not z C in every coordinate, expected one like dpsgd"
    because = "; ".join(plugins.constant("clippings", rule, "REASONS"))
    if because:
        yield f"{asks}: with clipping rule {rule} it is not public, {because}"


def needs_public(mechanism: dict[str, Any]) -> bool:
    """Tell whether a mechanism, with these settings, uses examples declared public."""
    needs = plugins.constant("mechanisms", mechanism["estimator"], "NEEDS_PUBLIC")
    if isinstance(needs, bool):
        return needs
    return any(mechanism.get(key) == value for key, value in needs.items())


def example_level(parts: Parts) -> Iterator[str]:
    """Tell what is for single examples beside a mechanism that protects clients."""
    if plugins.constant("mechanisms", parts["mechanism"]["estimator"], "UNIT") != "client":
        return
    if "statistics" in parts:
        yield "has statistics, which protect one example, with unit client"
    for key, needed in (("weighting", "uniform"), ("state", "reset")):
        if (found := parts["federation"][key]) != needed:
            yield f"has {key} {found!r}, expected {needed!r} with unit client"

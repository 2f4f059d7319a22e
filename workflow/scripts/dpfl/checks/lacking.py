"""Finds what a study needs and does not have: for its kind, and for what its figures declare."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from dpfl import plugins
from dpfl.clients import assignment
from dpfl.papers import datasets
from dpfl.planning.methods import variants

Study = dict[str, Any]

MOST_RUNS = 100_000
"""Of a study; more are a mistake, and would take minutes to list."""
KINDS: dict[str, dict[str, Any]] = {
    "compare": {},
    "rates": {"HOLDS_OUT": True, "VARIES": ("rate",)},
    "variants": {"VARIES_SOME": True},
}
"""What a kind of study needs, as a figure declares it."""


def lacking(where: str, study: Study) -> Iterator[str]:
    """Yield a line for everything that a study lacks; `where` names it."""
    if not any(variants(study, method) for method in study["methods"]):
        yield f"{where}.leave_out leaves nothing, expected at least one combination that is run"
    kind = study["kind"]
    for line in _lacks(study, lambda name, default: KINDS[kind].get(name, default)):
        yield f"{where}.{line}: kind {kind}"
    for figure in study.get("figures", []):
        for line in _lacks(study, partial(plugins.constant, "figures/kinds", figure)):
            yield f"{where}.{line}: figure {figure}"


def too_many(where: str, study: Study) -> Iterator[str]:
    """Yield a line for a study that varies so much that its runs cannot be listed."""
    lists = [study["methods"], study["epsilons"], study["seeds"], *study.get("vary", {}).values()]
    count = math.prod(map(len, lists))
    if count > MOST_RUNS:
        yield f"{where} makes {count} runs, expected at most {MOST_RUNS}"


def _lacks(study: Study, declared: Callable[[str, Any], Any]) -> Iterator[str]:
    """Find what is declared, by name with a default, and a study does not have."""
    vary = study.get("vary", {})
    if declared("VARIES_SOME", False) and not vary:
        yield "vary is missing, expected at least one setting"
    yield from _seeds(study, declared("LEAST_SEEDS", 1))
    if declared("HOLDS_OUT", False):
        yield from _held_out(study)
    if declared("NO_PUBLIC", False) and study.get("public_examples"):
        yield "public_examples, expected none"
    yield from (
        f"vary has no {key!r}, expected one" for key in declared("VARIES", ()) if key not in vary
    )
    yield from _numbers(vary, declared("NUMBERS", None))


def _seeds(study: Study, least: int) -> Iterator[str]:
    seeds = {key: study[key] for key in ("seeds", "nonprivate_seeds") if key in study}
    seeds |= {f"method_seeds.{k}": v for k, v in study.get("method_seeds", {}).items()}
    for key, given in seeds.items():
        if len(given) < least:
            yield f"{key} has {len(given)}, expected at least {least}"


def _held_out(study: Study) -> Iterator[str]:
    fraction = study.get("validation_fraction", 0)
    total = plugins.constant("data", datasets.base(study["dataset"]), "TRAIN_EXAMPLES")
    if not fraction:
        yield "validation_fraction, expected more than 0"
    elif not assignment.held_out(total, fraction):
        yield f"validation_fraction = {fraction:g} holds none of {total} examples out"


def _numbers(vary: dict[str, list], wanted: int | None) -> Iterator[str]:
    """Compare how many settings vary in numbers, as `tables.results.numeric_keys` counts them."""
    varied = vary.items()
    found = [k for k, vs in varied if len(vs) > 1 and all(isinstance(v, int | float) for v in vs)]
    if wanted is not None and len(found) != wanted:
        told = " and ".join(found) or "none"
        yield f"vary has numbers in {told}, expected {wanted} settings with more than one number"

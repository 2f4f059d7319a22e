"""Finds what a study needs and does not have: for its kind, and for what its figures declare."""

from collections.abc import Callable, Iterator
from typing import Any

from dpfl import plugins
from dpfl.clients import assignment
from dpfl.papers import datasets
from dpfl.planning.methods import variants

Study = dict[str, Any]

MOST_RUNS = 100_000
"""Of a study; more are a mistake, and would take minutes to list."""


def lacking(where: str, study: Study) -> Iterator[str]:
    """Yield a line for everything that a study lacks; `where` names it."""
    if not any(variants(study, method) for method in study["methods"]):
        yield f"{where}.leave_out leaves nothing, expected at least one combination that is run"
    for line in KINDS[study["kind"]](study):
        yield f"{where}.{line}: kind {study['kind']}"
    for figure in study.get("figures", []):
        for line in _of_figure(figure, study):
            yield f"{where}.{line}: figure {figure}"


def too_many(where: str, study: Study) -> Iterator[str]:
    """Yield a line for a study that varies so much that its runs cannot be listed."""
    count = len(study["methods"]) * len(study["epsilons"]) * len(study["seeds"])
    for values in study.get("vary", {}).values():
        count *= len(values)
    if count > MOST_RUNS:
        yield f"{where} makes {count} runs, expected at most {MOST_RUNS}"


def _grid(study: Study) -> Iterator[str]:
    yield from _held_out(study)
    yield from _varied(study, ("rate",))


def _variants(study: Study) -> Iterator[str]:
    if not study.get("vary"):
        yield "vary is missing, expected at least one setting"


KINDS: dict[str, Callable[[Study], Iterator[str]]] = {
    "compare": lambda study: iter(()),
    "rates": _grid,
    "variants": _variants,
}


def _of_figure(figure: str, study: Study) -> Iterator[str]:
    def declared(name: str, default: Any) -> Any:
        return plugins.constant("figures/kinds", figure, name, default)

    yield from _seeds(study, declared("LEAST_SEEDS", 1))
    if declared("HOLDS_OUT", False):
        yield from _held_out(study)
    if declared("NO_PUBLIC", False) and study.get("public_examples"):
        yield "public_examples, expected none"
    yield from _varied(study, declared("VARIES", ()))
    yield from _numbers(study, declared("NUMBERS", None))


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


def _varied(study: Study, keys: tuple[str, ...]) -> Iterator[str]:
    for key in keys:
        if key not in study.get("vary", {}):
            yield f"vary has no {key!r}, expected one"


def _numbers(study: Study, wanted: int | None) -> Iterator[str]:
    """Compare how many settings vary in numbers, as `tables.results.numeric_keys` counts them."""
    varied = study.get("vary", {}).items()
    found = [k for k, vs in varied if len(vs) > 1 and all(isinstance(v, int | float) for v in vs)]
    if wanted is not None and len(found) != wanted:
        told = " and ".join(found) or "none"
        yield f"vary has numbers in {told}, expected {wanted} settings with more than one number"

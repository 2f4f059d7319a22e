"""How values of hyper-parameters are chosen: rules are files here, in fixed stages of trials.

A rule is pure: values tried and their validation accuracies say what is tried next, and what is
chosen. The number of trials never depends on what came out. So it is the same for every method. The
workflow knows all of its jobs before the first one.
"""

from collections.abc import Iterable, Sequence

from dpfl import plugins
from dpfl.contracts.points import Point, Stage, Values
from dpfl.tuning.parts import chance


def stages(rule: str, over: Sequence[str]) -> list[Stage]:
    """Return what follows the grid where a rule tunes these settings."""
    return [
        Stage(declared["slots"], declared.get("more_seeds", 0), key)
        for declared in plugins.constant("tuning", rule, "STAGES")
        for key in (over if declared.get("each_setting") else ("",))
    ]


def points(trials: Iterable[tuple[Values, Sequence[float]]]) -> list[Point]:
    """Return what was tried, once for equal values, with the accuracies of all their seeds."""
    found: dict[tuple[float, ...], Point] = {}
    for values, accuracies in trials:
        before = found.get(tuple(values.values()), Point(values, ()))
        found[before.order] = Point(values, (*before.accuracies, *accuracies))
    return list(found.values())


def learned(tried: Sequence[Point], dataset: str) -> bool:
    """Tell whether a network left chance at any of the values that were tried."""
    return 100 * max(point.mean for point in tried) > chance.level(dataset)


def best(tried: Sequence[Point]) -> int:
    """Return the index of the highest mean; of equal ones that of the lowest values."""
    ranked = sorted(range(len(tried)), key=lambda i: (-tried[i].mean, tried[i].order))
    return ranked[0]

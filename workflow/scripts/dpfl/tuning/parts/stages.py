"""The trials that choose a method's values: one stage of a rule after the other (dpfl.tuning).

How many trials a stage has is known beforehand, which values they try is not. So a stage has
slots. A run that waits for one says which: its settings hold a mark in place of a value.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from dpfl.tuning.parts import rules, tuned

DEFAULT = {"uses": "grid", "over": ["rate"]}

Train = Callable[..., str]
"""Adds a trial of values with a seed to the plan; returns its name.

A third argument is the stage that will name the values, which are marks until then.
"""


def rule_of(grid: dict) -> dict:
    """Return the rule that a grid is the start of."""
    return DEFAULT | grid.get("tuning", {})


def tuned_settings(grid: dict) -> list[str]:
    """Return the settings that the rule of a grid chooses."""
    return rule_of(grid)["over"]


def own_variant(study: dict, variant: dict) -> dict:
    """Return the part of a variant that is tuned on its own."""
    return {k: v for k, v in variant.items() if k not in study.get("tuned_once", ())}


def epsilon_for(study: dict, method: str, epsilon: float | str) -> float | str:
    """Return the epsilon at which a cell is tuned: its own, or the smallest one for all cells."""
    at = study.get("method_tuned_at", {}).get(method, study.get("tuned_at", "each"))
    if at == "each":
        return epsilon
    return min((float(e) for e in study["epsilons"] if e != "inf"), default="inf")


def ends(grid: Iterable[float], steps: int) -> tuple[float, float]:
    """Return how far stages may go outwards from a grid, by its largest factor at each step."""
    ladder = sorted(grid)
    factor = max((high / low for low, high in pairwise(ladder)), default=1) ** steps
    return ladder[0] / factor, ladder[-1] * factor


def expand(
    grid: dict, first: list[rules.Values], train: Train, add: Callable[[dict[str, Any]], str]
) -> str:
    """Add all stages of a grid's rule, and their trials, to a plan; return the one that chooses.

    The `first` trials are those of the grid's values; `add` takes a stage and returns its name.
    More seeds than those of the grid are the numbers that follow its largest.
    """
    rule, seeds = rule_of(grid), grid["seeds"]
    trials = [{"values": values, "runs": [train(values, s) for s in seeds]} for values in first]
    for number, stage in enumerate(rules.stages(rule["uses"], tuple(rule["over"]))):
        name = add(rule | {"stage": number, "trials": trials})
        new = max(seeds) + 1
        tried_with = range(new, new + stage.more_seeds) if stage.more_seeds else seeds
        for slot in range(stage.slots):
            marks = tuned.marks(name, slot, rule["over"])
            runs = [train(marks, seed, name) for seed in tried_with]
            trials = [*trials, {"slot": [name, slot], "runs": runs}]
    return add(rule | {"stage": None, "trials": trials})


def stages_before(stage: dict) -> list[str]:
    """Return the stages that name values of its trials."""
    return list(dict.fromkeys(trial["slot"][0] for trial in stage["trials"] if "slot" in trial))

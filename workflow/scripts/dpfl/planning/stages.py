"""The trials that choose a method's values: one stage of a rule after the other (dpfl.tuning).

How many trials a stage has is known beforehand, which values they try is not. So a stage has
slots, and a run that waits for one says which: its settings hold a mark in place of a value. A
stage is named by its trials, not by the method: methods of equal settings share both.
"""

from collections.abc import Callable

from dpfl import tuning
from dpfl.planning.methods import Epsilon, variants
from dpfl.planning.naming import digest
from dpfl.runs import tuned

DEFAULT = {"uses": "grid", "over": ["rate"]}

Train = Callable[..., str]
"""Adds a trial of values with a seed to the plan; returns its name.

A third argument is the stage that will name the values, which are marks until then.
"""


def rule_of(grid: dict) -> dict:
    """Return the rule that a grid is the start of, and which settings it chooses."""
    return DEFAULT | grid.get("tuning", {})


def own_variant(study: dict, variant: dict) -> dict:
    """Return the part of a variant that is tuned on its own."""
    return {k: v for k, v in variant.items() if k not in study.get("tuned_once", ())}


def epsilon_for(study: dict, method: str, epsilon: Epsilon) -> Epsilon:
    """Return the epsilon at which a cell is tuned: its own, or the smallest one for all cells."""
    at = study.get("method_tuned_at", {}).get(method, study.get("tuned_at", "each"))
    if at == "each":
        return epsilon
    return min((float(e) for e in study["epsilons"] if e != "inf"), default="inf")


def listed(grid: dict, method: str, variant: dict) -> list[tuning.Values]:
    """Return the values of a grid that are tried first, those of other settings as in a variant."""
    over = rule_of(grid)["over"]
    return [
        {key: found[key] for key in over}
        for found in variants(grid, method)
        if {k: v for k, v in found.items() if k not in over}.items() <= variant.items()
    ]


def expand(
    label: str, grid: dict, listed_values: list[tuning.Values], train: Train, stages: dict
) -> str:
    """Add all stages of a grid's rule to `stages`, and their trials; return the one that chooses.

    More seeds than those of the grid are the numbers that follow its largest.
    """
    rule, seeds = rule_of(grid), grid["seeds"]
    trials = [{"values": v, "runs": [train(v, s) for s in seeds]} for v in listed_values]
    for number, stage in enumerate(tuning.stages(rule["uses"], tuple(rule["over"]))):
        name = _add(stages, label, rule | {"stage": number, "trials": trials})
        first = max(seeds) + 1
        tried_with = range(first, first + stage.more_seeds) if stage.more_seeds else seeds
        for slot in range(stage.slots):
            marks = tuned.marks(name, slot, rule["over"])
            runs = [train(marks, seed, name) for seed in tried_with]
            trials = [*trials, {"slot": [name, slot], "runs": runs}]
    return _add(stages, label, rule | {"stage": None, "trials": trials})


def stages_before(stage: dict) -> list[str]:
    """Return the stages that name values of its trials."""
    return list(dict.fromkeys(trial["slot"][0] for trial in stage["trials"] if "slot" in trial))


def _add(stages: dict, label: str, content: dict) -> str:
    name = f"{label}-{digest(content)}"
    stages[name] = content
    return name

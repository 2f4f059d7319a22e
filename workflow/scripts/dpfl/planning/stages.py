"""The trials that choose a method's values: one stage of a rule after the other (dpfl.tuning).

How many trials a stage has is known beforehand, which values they try is not. So a stage has
slots, and a run that waits for one says which: its settings hold a mark in place of a value. A
stage is named by its trials, not by the method: methods of equal settings share both.
"""

from collections.abc import Callable
from dataclasses import dataclass

from dpfl import tuning
from dpfl.planning.methods import variants
from dpfl.planning.naming import digest
from dpfl.runs import tuned

DEFAULT = {"uses": "grid", "over": ["rate"]}


@dataclass(frozen=True)
class Slot:
    """A place for values that a stage names when its trials are done."""

    stage: str
    number: int
    over: tuple[str, ...]

    def marks(self) -> dict[str, list]:
        """Return what stands in settings where the values will be."""
        return {key: tuned.mark(self.stage, self.number, key) for key in self.over}


Train = Callable[[tuning.Values | Slot, int], str]
"""Adds a trial of values, or of those of a slot, with a seed to the plan; returns its name."""


def rule_of(grid: dict) -> dict:
    """Return the rule that a grid is the start of, and which settings it chooses."""
    return DEFAULT | grid.get("tuning", {})


def own_variant(study: dict, variant: dict) -> dict:
    """Return the part of a variant that is tuned on its own."""
    return {k: v for k, v in variant.items() if k not in study.get("tuned_once", ())}


def epsilon_for(study: dict, method: str, epsilon: float | str) -> float | str:
    """Return the epsilon at which a cell of a study is tuned."""
    at = study.get("method_tuned_at", {}).get(method, study.get("tuned_at", "each"))
    return AT[at](study, epsilon)


def _smallest(study: dict, _epsilon: float | str) -> float | str:
    return min((float(e) for e in study["epsilons"] if e != "inf"), default="inf")


AT: dict[str, Callable[[dict, float | str], float | str]] = {
    "each": lambda _study, epsilon: epsilon,
    "smallest": _smallest,
}
"""Where a study is tuned: at the epsilon of each cell, also without privacy; or once for all."""


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
) -> Slot:
    """Add all stages of a grid's rule to `stages`, and their trials; return the slot of the choice.

    More seeds than those of the grid are the numbers that follow its largest.
    """
    rule, seeds = rule_of(grid), grid["seeds"]
    over = tuple(rule["over"])
    trials = [{"values": v, "runs": [train(v, s) for s in seeds]} for v in listed_values]
    for number, stage in enumerate(tuning.stages(rule["uses"], over)):
        name = _add(stages, label, rule | {"stage": number, "trials": trials})
        first = max(seeds) + 1
        tried_with = range(first, first + stage.more_seeds) if stage.more_seeds else seeds
        slots = [Slot(name, slot, over) for slot in range(stage.slots)]
        trials = trials + [
            {"slot": [s.stage, s.number], "runs": [train(s, seed) for seed in tried_with]}
            for s in slots
        ]
    return Slot(_add(stages, label, rule | {"stage": None, "trials": trials}), 0, over)


def runs_of(stage: dict) -> list[str]:
    """Return the names of all trials that a stage waits for."""
    return [run for trial in stage["trials"] for run in trial["runs"]]


def stages_before(stage: dict) -> list[str]:
    """Return the stages that name values of its trials."""
    return list(dict.fromkeys(trial["slot"][0] for trial in stage["trials"] if "slot" in trial))


def _add(stages: dict, label: str, content: dict) -> str:
    name = f"{label}-{digest(content)}"
    stages[name] = content
    return name

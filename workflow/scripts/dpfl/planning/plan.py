"""Expands the configuration into everything the DAG has to make: pure, and quick to import.

A *run* is one training: resolved settings, named by what a reader wants to see and a digest of
all the rest. Two studies that ask for the same settings share the run.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dpfl import plugins
from dpfl.contracts.points import Values
from dpfl.papers import datasets
from dpfl.planning import run_settings, stages
from dpfl.planning.beside import Beside
from dpfl.planning.method_order import numbers
from dpfl.planning.methods import components, epsilon_of, remark, unit_of, variants
from dpfl.planning.naming import digest
from dpfl.privacy import calibration_settings


@dataclass(frozen=True)
class Plan:
    """What to make, by name: resolved settings of every artefact, and the studies over them.

    Studies and analyses, which train nothing, are named `paper/study`.
    """

    runs: dict[str, dict] = field(default_factory=dict)
    partitions: dict[str, dict] = field(default_factory=dict)
    calibrations: dict[str, dict] = field(default_factory=dict)
    tunings: dict[str, dict] = field(default_factory=dict)
    studies: dict[str, dict] = field(default_factory=dict)
    analyses: dict[str, dict] = field(default_factory=dict)
    papers: tuple[str, ...] = ()
    counts_kept: bool = True
    """Whether runs that results/reference keeps count as done."""
    reads: dict[str, list[str]] = field(default_factory=dict)
    """The studies of other papers that a paper selects."""
    unfinished: dict[str, dict] = field(default_factory=dict)
    """What is left out of studies, by their names (see `planning.unfinished`)."""
    tuned: dict[tuple, stages.Slot] = field(default_factory=dict)
    """The choice for each (paper, grid, method, variant, epsilon), expanded once for all seeds."""


def make(papers: dict[str, dict]) -> Plan:
    """Expand the checked configurations of some papers."""
    kept = all(config["kept"] == "count" for config in papers.values())
    reads = {paper: config["reads"] for paper, config in papers.items() if config.get("reads")}
    plan = Plan(papers=tuple(papers), counts_kept=kept, reads=reads)
    for paper, config in papers.items():
        for name in config["select"]:
            if name in config["analyses"]:
                plan.analyses[f"{paper}/{name}"] = config["analyses"][name]
            else:
                plan.studies[f"{paper}/{name}"] = _study(config, paper, name, plan)
    return plan


def papers_with(plan: Plan) -> list[str]:
    """Return the papers of which a plan makes something."""
    return [p for p in plan.papers if judging(plan, p) or of_paper(plan.analyses, p)]


def judging(plan: Plan, paper: str) -> list[str]:
    """Return the studies that judge a paper: its own, and those of others that it selects."""
    lent = [name for name in plan.reads.get(paper, []) if name in plan.studies]
    return [*of_paper(plan.studies, paper), *lent]


def of_paper(names: Iterable[str], paper: str) -> list[str]:
    """Return those of some studies or analyses that a paper has."""
    return [name for name in names if name.split("/")[0] == paper]


TAKEN = ("title", "dataset", "kind", "focus", "figures", "vary", "validation_fraction")


def _study(config: dict, paper: str, name: str, plan: Plan) -> dict:
    """Resolve a study: its cells with the names of their runs, which are added to the plan."""
    study = config["studies"][name]
    beside = Beside(paper, name, config)
    cells = [
        _cell(config, study, method, variant, epsilon, seeds, beside, plan)
        for method in study["methods"]
        for variant in variants(study, method)
        for epsilon, seeds in _budgets(study, method)
    ]
    return {
        "name": f"{paper}/{name}",
        "paper": paper,
        **{key: study[key] for key in TAKEN if key in study},
        **({"tuned_by": f"{paper}/{study['tuned_by']}"} if "tuned_by" in study else {}),
        "demonstrates": demonstrates(study),
        "delta": config["delta"],
        "margin": config["margin"],
        "seeds": study["seeds"],
        "baseline": study.get("baseline", {}),
        "method_numbers": numbers(config, name),
        "cells": cells,
    }


def demonstrates(study: dict) -> bool:
    """Tell whether a study only shows the machinery: it says so, or else its data set does."""
    shown = plugins.constant("data", datasets.base(study["dataset"]), "DEMONSTRATES", False)
    return study.get("demonstrates", shown)


def _cell(
    config: dict,
    study: dict,
    method: str,
    variant: dict,
    epsilon: float | str,
    seeds: list[int],
    beside: Beside,
    plan: Plan,
) -> dict:
    """Resolve a cell, with a run for each of its seeds, and what has chosen their values."""
    slot = _tuning(config, study, method, variant, epsilon, plan)
    runs = [_run(config, study, method, variant, epsilon, s, plan, slot) for s in seeds]
    return {
        "method": method,
        "label": method,
        "variant": variant,
        "remark": remark(components(config, method, variant)),
        "epsilon": epsilon,
        "unit": unit_of(config, method, variant),
        "seeds": seeds,
        "published": beside.cell(method, variant, epsilon),
        "runs": runs,
        **(
            {"tuning": slot.stage, "calibration": plan.runs[runs[0]]["calibration"]} if slot else {}
        ),
    }


def _budgets(study: dict, method: str) -> Iterator[tuple[float | str, list[int]]]:
    """Yield the epsilons of a study, each with the seeds that a method runs there."""
    private = study.get("method_seeds", {}).get(method, study["seeds"])
    for value in study["epsilons"]:
        epsilon = epsilon_of(value)
        yield epsilon, study.get("nonprivate_seeds", private) if epsilon == "inf" else private


def _run(
    config: dict,
    study: dict,
    method: str,
    variant: dict,
    epsilon: float | str,
    seed: int,
    plan: Plan,
    slot: stages.Slot | None = None,
) -> str:
    """Add one run, and what it needs, to the plan; return its name.

    With a slot it waits for the values that a stage of tuning names.
    """
    chosen = slot.marks() if slot else {}
    settings = run_settings.of(config, study, method, variant | chosen, epsilon, seed)
    # A bound on partitions, no part of what they or the runs are.
    min_examples = settings["federation"].pop("min_examples")
    partition = _partition(settings, min_examples, plan)
    needs = {"partition": partition, "calibration": None, "tuning": None}
    if epsilon != "inf":
        needs["calibration"] = _calibration(settings, partition, plan)
    if slot:
        needs["tuning"] = slot.stage
    name = f"{_label(study, settings)}-eps{_short(epsilon)}-s{seed}-{digest(settings)}"
    plan.runs.setdefault(name, {"settings": settings, "paper": config["paper"], **needs})
    return name


def _partition(settings: dict, min_examples: int, plan: Plan) -> str:
    partition, seed = settings["partition"], settings["seed"]
    label = f"{settings['dataset']}-{partition['scheme']}-{partition['clients']}"
    name = f"{label}-s{seed}-{digest(partition)}"
    wanted = [min_examples, plan.partitions.get(name, {}).get("min_examples", 1)]
    plan.partitions[name] = {
        "dataset": settings["dataset"],
        "settings": partition,
        "seed": seed,
        "min_examples": max(wanted),
    }
    return name


def _calibration(settings: dict, partition: str, plan: Plan) -> str:
    """Add the noise calibration of a run: shared by all runs with the same steps and budget."""
    content = calibration_settings.of_run(settings)
    name = f"{partition}-eps{_short(settings['epsilon'])}-{digest(content)}"
    plan.calibrations[name] = {"settings": content, "partition": partition}
    return name


def _tuning(
    config: dict, study: dict, method: str, variant: dict, epsilon: float | str, plan: Plan
) -> stages.Slot | None:
    """Add what chooses the values of a cell, with all its trials; None if nothing does.

    Of a grid that varies more than it tunes, the values that agree with the variant count.
    """
    grid = config["studies"].get(study.get("tuned_by"))
    if grid is None or variant.keys() & set(stages.rule_of(grid)["over"]):
        return None
    own, at = stages.own_variant(study, variant), stages.epsilon_for(study, method, epsilon)
    key = (config["paper"], study["tuned_by"], method, digest(own), at)
    if key not in plan.tuned:

        def train(values: Values | stages.Slot, seed: int) -> str:
            slot = values if isinstance(values, stages.Slot) else None
            tried = own if slot else own | values
            return _run(config, grid, method, tried, at, seed, plan, slot)

        label = f"{_label(grid, components(config, method, own))}-eps{_short(at)}"
        first = stages.listed(grid, method, own)
        plan.tuned[key] = stages.expand(label, grid, first, train, plan.tunings)
    return plan.tuned[key]


def _label(study: dict, parts: dict) -> str:
    """Return what a reader wants to see of a run, or of a tuning."""
    return f"{study['dataset']}-{parts['mechanism']['estimator']}-{parts['optimizer']['algorithm']}"


def runs_of(studies: Iterable[dict]) -> list[str]:
    """Return the names of the runs of some studies, each once."""
    return list(dict.fromkeys(r for s in studies for c in s["cells"] for r in c["runs"]))


def _short(epsilon: float | str) -> str:
    return epsilon if isinstance(epsilon, str) else f"{epsilon:g}".replace("+", "")

"""Expands the configuration into everything the DAG has to make: pure, and quick to import.

A *run* is one training: resolved settings, named by what a reader wants to see and a digest of
all the rest. Two studies that ask for the same settings share the run.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from dpfl import plugins
from dpfl.contracts.points import Values
from dpfl.papers import datasets
from dpfl.planning import methods, stages
from dpfl.planning.beside import Beside
from dpfl.planning.methods import Epsilon
from dpfl.planning.naming import digest
from dpfl.privacy import calibration_settings
from dpfl.runs import tuned

Stage = str | None
"""The stage of tuning that a run waits for, if it waits for one."""
TAKEN = ("title", "dataset", "kind", "focus", "figures", "vary", "validation_fraction")
"""What a resolved study says as its paper does."""


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
    tuned: dict[tuple, str] = field(default_factory=dict)
    """The stage that chooses for each (paper, grid, method, variant, epsilon), all seeds alike."""


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
                plan.studies[f"{paper}/{name}"] = _Expansion(config, plan).study(name)
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


def runs_of(studies: Iterable[dict]) -> list[str]:
    """Return the names of the runs of some studies, each once."""
    return list(dict.fromkeys(r for s in studies for c in s["cells"] for r in c["runs"]))


def trials_of(plan: Plan, run: str) -> list[str]:
    """Return the trials of all stages that choose a run's values, in the order of the stages."""
    stage = plan.runs[run]["tuning"]
    return tuned.trials_of(plan.tunings[stage]) if stage else []


def runs_with_trials(plan: Plan, studies: Iterable[str]) -> list[str]:
    """Return the runs of some studies after the trials behind them, each once."""
    final = runs_of(plan.studies[name] for name in studies)
    return list(
        dict.fromkeys([*(trial for run in final for trial in trials_of(plan, run)), *final])
    )


def files_read(plan: Plan, run: str) -> dict[str, str]:
    """Return the files that the training of a run reads, by what they are."""
    needs = plan.runs[run]
    places = {
        "data": ("data/{}.safetensors", needs["settings"]["dataset"]),
        "assignment": ("partitions/{}/assignment.npy", needs["partition"]),
        "calibration": ("calibrations/{}.json", needs["calibration"]),
        "tuned": ("tunings/{}.json", needs["tuning"]),
    }
    return {what: f"results/{path.format(name)}" for what, (path, name) in places.items() if name}


def demonstrates(study: dict) -> bool:
    """Tell whether a study only shows the machinery: it says so, or else its data set does."""
    shown = plugins.constant("data", datasets.base(study["dataset"]), "DEMONSTRATES", False)
    return study.get("demonstrates", shown)


def method_numbers(config: dict, study: str) -> dict[str, int]:
    """Return the number of each method of a study among all methods of the paper's studies.

    By it a method keeps its colour in all figures. Methods are numbered as they are defined, so
    that one that is added last changes no other's.
    """
    used = {method for own in config["studies"].values() for method in own["methods"]}
    ordered = [method for method in config["methods"] if method in used]
    return {m: ordered.index(m) for m in config["studies"][study]["methods"]}


@dataclass(frozen=True)
class _Expansion:
    """Adds the runs of a paper's studies, and what these need, to a plan."""

    config: dict
    plan: Plan

    def study(self, name: str) -> dict:
        """Resolve a study: its cells with the names of their runs."""
        config, paper, study = self.config, self.config["paper"], self.config["studies"][name]
        cells = [
            self._cell(name, method, variant, epsilon)
            for method, variant, epsilon in methods.cells(study)
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
            "method_numbers": method_numbers(config, name),
            "cells": cells,
        }

    def _cell(self, name: str, method: str, variant: dict, epsilon: Epsilon) -> dict:
        """Resolve a cell, with a run for each of its seeds, and what has chosen their values."""
        config, study = self.config, self.config["studies"][name]
        seeds = _seeds(study, method, epsilon)
        stage = self._stage(study, method, variant, epsilon)
        chosen = tuned.marks(stage, 0, self.plan.tunings[stage]["over"]) if stage else {}
        runs = [self._run(study, method, variant | chosen, epsilon, s, stage) for s in seeds]
        tuning = {"tuning": stage, "calibration": self.plan.runs[runs[0]]["calibration"]}
        return {
            "method": method,
            "label": method,
            "variant": variant,
            "remark": methods.remark(methods.components(config, method, variant)),
            "epsilon": epsilon,
            "unit": methods.unit_of(config, method, variant),
            "seeds": seeds,
            "published": Beside(config["paper"], name, config).cell(method, variant, epsilon),
            "runs": runs,
            **(tuning if stage else {}),
        }

    def _run(
        self, study: dict, method: str, variant: dict, epsilon: Epsilon, seed: int, stage: Stage
    ) -> str:
        """Add one run, and what it needs, to the plan; return its name.

        With a stage of tuning it waits for the values that this names.
        """
        settings = methods.run_settings(self.config, study, method, variant, epsilon, seed)
        # A bound on partitions, no part of what they or the runs are.
        least = settings["federation"].pop("min_examples")
        partition = self._partition(settings, least)
        noise = None if epsilon == "inf" else self._calibration(settings, partition)
        name = f"{_label(study, settings)}-eps{_short(epsilon)}-s{seed}-{digest(settings)}"
        needs = {"partition": partition, "calibration": noise, "tuning": stage}
        run = {"settings": settings, "paper": self.config["paper"], **needs}
        self.plan.runs.setdefault(name, run)
        return name

    def _partition(self, settings: dict, least: int) -> str:
        partition, seed, dataset = (settings[key] for key in ("partition", "seed", "dataset"))
        name = f"{dataset}-{partition['scheme']}-{partition['clients']}-s{seed}-{digest(partition)}"
        known = self.plan.partitions.get(name, {"min_examples": 1})
        self.plan.partitions[name] = {
            "dataset": dataset,
            "settings": partition,
            "seed": seed,
            "min_examples": max(least, known["min_examples"]),
        }
        return name

    def _calibration(self, settings: dict, partition: str) -> str:
        """Add the noise calibration of a run: shared by all runs with the same steps and budget."""
        content = calibration_settings.of_run(settings)
        name = f"{partition}-eps{_short(settings['epsilon'])}-{digest(content)}"
        self.plan.calibrations[name] = {"settings": content, "partition": partition}
        return name

    def _stage(self, study: dict, method: str, variant: dict, epsilon: Epsilon) -> Stage:
        """Add what chooses the values of a cell, with all its trials; None if nothing does.

        Of a grid that varies more than it tunes, the values that agree with the variant count.
        """
        grid = self.config["studies"].get(study.get("tuned_by"))
        if grid is None or variant.keys() & set(stages.rule_of(grid)["over"]):
            return None
        own, at = stages.own_variant(study, variant), stages.epsilon_for(study, method, epsilon)
        key = (self.config["paper"], study["tuned_by"], method, digest(own), at)
        if key not in self.plan.tuned:

            def train(values: Values, seed: int, stage: Stage = None) -> str:
                return self._run(grid, method, own | values, at, seed, stage)

            label = f"{_label(grid, methods.components(self.config, method, own))}-eps{_short(at)}"
            first = stages.listed(grid, method, own)
            self.plan.tuned[key] = stages.expand(label, grid, first, train, self.plan.tunings)
        return self.plan.tuned[key]


def _seeds(study: dict, method: str, epsilon: Epsilon) -> list[int]:
    """Return the seeds that a method runs at an epsilon."""
    private = study.get("method_seeds", {}).get(method, study["seeds"])
    return study.get("nonprivate_seeds", private) if epsilon == "inf" else private


def _label(study: dict, parts: dict) -> str:
    """Return what a reader wants to see of a run, or of a tuning."""
    return f"{study['dataset']}-{parts['mechanism']['estimator']}-{parts['optimizer']['algorithm']}"


def _short(epsilon: Epsilon) -> str:
    return epsilon if isinstance(epsilon, str) else f"{epsilon:g}".replace("+", "")

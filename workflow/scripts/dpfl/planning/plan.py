"""Expands the configuration into everything the DAG has to make: pure, and quick to import.

A *run* is one training with resolved settings. Its name is what a reader wants to see and a digest
of all the rest. Two studies that ask for the same settings share the run.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from dpfl import plugins
from dpfl.contracts.points import Values
from dpfl.papers import datasets
from dpfl.planning import methods
from dpfl.planning.beside import numbers_beside
from dpfl.planning.methods import Composition, Epsilon
from dpfl.planning.naming import digest
from dpfl.privacy import calibration_settings
from dpfl.tuning.parts import stages, tuned
from dpfl.words.cell_words import rank_remark

Stage = str | None
"""The stage of tuning that a run waits for, if it waits for one."""
TAKEN = ("title", "dataset", "kind", "focus", "figures", "vary", "validation_fraction", "shorter")
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
    trials = [trial for run in final for trial in trials_of(plan, run)]
    return list(dict.fromkeys([*trials, *final]))


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
        paper, study = self.config["paper"], self.config["studies"][name]
        grid = {"tuned_by": f"{paper}/{study['tuned_by']}"} if "tuned_by" in study else {}
        return {
            "name": f"{paper}/{name}",
            "paper": paper,
            **{key: study[key] for key in TAKEN if key in study},
            **grid,
            "demonstrates": demonstrates(study),
            "delta": self.config["delta"],
            "margin": self.config["margin"],
            "seeds": study["seeds"],
            "baseline": study.get("baseline", {}),
            "method_numbers": method_numbers(self.config, name),
            "cells": [self._cell(*cell) for cell in methods.cells(self.config, study)],
        }

    def _cell(self, own: Composition, epsilon: Epsilon) -> dict:
        """Resolve a cell, with a run for each of its seeds, and what has chosen their values."""
        seeds, stage = _seeds(own.study, own.method, epsilon), self._stage(own, epsilon)
        chosen = tuned.marks(stage, 0, self.plan.tunings[stage]["over"]) if stage else {}
        trained = replace(own, variant=own.variant | chosen)
        runs = [self._run(trained, epsilon, seed, stage) for seed in seeds]
        tuning = {"tuning": stage, "calibration": self.plan.runs[runs[0]]["calibration"]}
        return {
            "method": own.method,
            "label": own.method,
            "variant": own.variant,
            "remark": rank_remark(own.parts),
            "epsilon": epsilon,
            "unit": own.unit,
            "seeds": seeds,
            "published": numbers_beside(own, epsilon),
            "runs": runs,
            **(tuning if stage else {}),
        }

    def _run(self, own: Composition, epsilon: Epsilon, seed: int, stage: Stage) -> str:
        """Add one run, and what it needs, to the plan; return its name.

        With a stage of tuning it waits for the values that this names.
        """
        settings = own.settings(epsilon, seed)
        # A bound on partitions, no part of what they or the runs are.
        least = settings["federation"].pop("min_examples")
        partition = self._partition(settings, least)
        noise = None if epsilon == "inf" else self._calibration(settings, partition)
        name = f"{_label(own, settings)}-eps{_short(epsilon)}-s{seed}-{digest(settings)}"
        needs = {"partition": partition, "calibration": noise, "tuning": stage}
        run = {"settings": settings, "paper": self.config["paper"], **needs}
        self.plan.runs.setdefault(name, run)
        return name

    def _partition(self, settings: dict, least: int) -> str:
        partition, seed, dataset = (settings[key] for key in ("partition", "seed", "dataset"))
        name = f"{dataset}-{partition['scheme']}-{partition['clients']}-s{seed}-{digest(partition)}"
        before = self.plan.partitions.get(name, {"min_examples": 1})["min_examples"]
        made = {"dataset": dataset, "settings": partition, "seed": seed}
        self.plan.partitions[name] = made | {"min_examples": max(least, before)}
        return name

    def _calibration(self, settings: dict, partition: str) -> str:
        """Add the noise calibration of a run: shared by all runs with the same steps and budget."""
        content = calibration_settings.of_run(settings)
        name = f"{partition}-eps{_short(settings['epsilon'])}-{digest(content)}"
        self.plan.calibrations[name] = {"settings": content, "partition": partition}
        return name

    def _stage(self, own: Composition, epsilon: Epsilon) -> Stage:
        """Add what chooses the values of a cell, with all its trials; None if nothing does.

        Of a grid that varies more than it tunes, the values that agree with the variant count.
        """
        study, method = own.study, own.method
        grid = self.config["studies"].get(study.get("tuned_by"))
        if grid is None or own.variant.keys() & set(stages.tuned_settings(grid)):
            return None
        fixed = stages.own_variant(study, own.variant)
        at = stages.epsilon_for(study, method, epsilon)
        key = (self.config["paper"], study["tuned_by"], method, digest(fixed), at)
        if key not in self.plan.tuned:
            tried = replace(own, study=grid, variant=fixed)

            def train(values: Values, seed: int, stage: Stage = None) -> str:
                return self._run(replace(tried, variant=fixed | values), at, seed, stage)

            def add(content: dict) -> str:
                # Named by its trials, not by the method: methods of equal settings share both.
                name = f"{_label(tried, tried.parts)}-eps{_short(at)}-{digest(content)}"
                self.plan.tunings[name] = content
                return name

            first = methods.grid_values(grid, method, fixed)
            self.plan.tuned[key] = stages.expand(grid, first, train, add)
        return self.plan.tuned[key]


def _seeds(study: dict, method: str, epsilon: Epsilon) -> list[int]:
    """Return the seeds that a method runs at an epsilon."""
    private = study.get("method_seeds", {}).get(method, study["seeds"])
    return study.get("nonprivate_seeds", private) if epsilon == "inf" else private


def _label(own: Composition, parts: dict) -> str:
    """Return what a reader wants to see of a run, or of a tuning."""
    names = (parts["mechanism"]["estimator"], parts["optimizer"]["algorithm"])
    return "-".join((own.study["dataset"], *names))


def _short(epsilon: Epsilon) -> str:
    return epsilon if isinstance(epsilon, str) else f"{epsilon:g}".replace("+", "")

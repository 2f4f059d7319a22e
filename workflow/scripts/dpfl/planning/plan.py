"""Expands the configuration into everything the DAG has to make: pure, and quick to import.

A *run* is one training: resolved settings, named by what a reader wants to see and a digest of
all the rest. Two studies that ask for the same settings share the run.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from dpfl import streams
from dpfl.planning.methods import (
    components,
    epsilon_of,
    remark,
    trials_for,
    unit_of,
    variants,
)
from dpfl.tables import published


@dataclass(frozen=True)
class Plan:
    """What to make, by name: resolved settings of every artefact, and the studies over them.

    `analyses` are the studies that train nothing.
    """

    runs: dict[str, dict] = field(default_factory=dict)
    partitions: dict[str, dict] = field(default_factory=dict)
    calibrations: dict[str, dict] = field(default_factory=dict)
    tunings: dict[str, dict] = field(default_factory=dict)
    studies: dict[str, dict] = field(default_factory=dict)
    analyses: dict[str, dict] = field(default_factory=dict)
    tuned: dict[tuple, str] = field(default_factory=dict)
    """The tuning of each (grid, method, trials), expanded once however many runs ask for it."""


def make(config: dict) -> Plan:
    """Expand a checked configuration."""
    plan = Plan()
    for name in config["select"]:
        if name in config["accounting"]:
            plan.analyses[name] = config["accounting"][name]
        else:
            plan.studies[name] = _study(config, name, plan)
    return plan


def _study(config: dict, name: str, plan: Plan) -> dict:
    """Resolve a study: its cells with the names of their runs, which are added to the plan."""
    study = config["studies"][name]
    cells = [
        _cell(config, study, method, variant, epsilon, seeds, plan)
        for method in study["methods"]
        for variant in variants(study, method)
        for epsilon, seeds in _budgets(study, method)
    ]
    keep = (
        "title",
        "notebook",
        "dataset",
        "kind",
        "figures",
        "vary",
        "tuned_by",
    )
    return {
        "name": name,
        **{key: study[key] for key in (*keep, "validation_fraction") if key in study},
        "delta": config["delta"],
        "margin": config["margin"],
        "seeds": study["seeds"],
        "claims": study.get("claims", []),
        "controls": study.get("controls", []),
        "baseline": study.get("baseline", {}),
        "cells": cells,
    }


def _cell(
    config: dict,
    study: dict,
    method: str,
    variant: dict,
    epsilon: float | str,
    seeds: list[int],
    plan: Plan,
) -> dict:
    """Resolve a cell, with a run for each of its seeds."""
    printed = study.get("published", [])
    return {
        "method": method,
        "label": method,
        "variant": variant,
        "remark": remark(components(config, method, variant)),
        "epsilon": epsilon,
        "unit": unit_of(config, method, variant),
        "seeds": seeds,
        "published": published.values(printed, study["dataset"], method, epsilon, variant),
        "runs": [_run(config, study, method, variant, epsilon, s, plan) for s in seeds],
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
) -> str:
    """Add one run, and what it needs, to the plan; return its name."""
    settings = _settings(config, study, method, variant, epsilon, seed)
    # A bound on partitions, no part of what they or the runs are.
    min_examples = settings["federation"].pop("min_examples")
    partition = _partition(settings, min_examples, plan)
    needs = {"partition": partition, "calibration": None, "tuning": None}
    if epsilon != "inf":
        needs["calibration"] = _calibration(settings, partition, plan)
    if "tuned_by" in study and "rate" not in variant:
        needs["tuning"] = _tuning(config, study["tuned_by"], method, variant, plan)
        settings["optimizer"]["rate"] = f"tuned: {needs['tuning']}"
    name = f"{_label(study, settings)}-eps{_short(epsilon)}-s{seed}-{_digest(settings)}"
    plan.runs[name] = {"settings": settings, **needs}
    return name


def _settings(
    config: dict, study: dict, method: str, variant: dict, epsilon: float | str, seed: int
) -> dict:
    """Resolve a run's settings: the method's components, with the variant's values in place."""
    parts = components(config, method, variant)
    federation = parts["federation"]
    if epsilon == "inf":
        parts["mechanism"] = {"estimator": "nonprivate"}
    partition = {
        **config["partitions"][federation.pop("partition")],
        "clients": federation.pop("clients"),
        "validation_fraction": study.get("validation_fraction", 0.0),
    }
    if study.get("public_examples"):  # it is part of the key that pairs runs of one seed
        partition["public_examples"] = study["public_examples"]
    return {
        "dataset": study["dataset"],
        "model": variant.get("model", config["models"][study["dataset"]]),
        "partition": partition,
        **parts,
        "unit": unit_of(config, method, variant),
        "epsilon": epsilon,
        "delta": config["delta"],
        "accountant": config["accountant"],
        "seed": seed,
        "noise": config["noise"],
        "device": config["device"],
        "evaluation_examples": config["evaluation_examples"],
    }


def _partition(settings: dict, min_examples: int, plan: Plan) -> str:
    partition, seed = settings["partition"], settings["seed"]
    label = f"{settings['dataset']}-{partition['scheme']}-{partition['clients']}"
    name = f"{label}-s{seed}-{_digest(partition)}"
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
    steps = ("rounds", "clients_per_round", "batch_size", "local_epochs", "local_steps")
    content = {
        "epsilon": settings["epsilon"],
        "delta": settings["delta"],
        "accountant": settings["accountant"],
        "unit": settings["unit"],
        "sampling": "poisson",
        "budget": settings["budget"],
        "federation": {key: settings["federation"][key] for key in steps},
        "participation_key": [*streams.pairing_key(settings), "participation"],
    }
    name = f"{partition}-eps{_short(settings['epsilon'])}-{_digest(content)}"
    plan.calibrations[name] = {"settings": content, "partition": partition}
    return name


def _tuning(config: dict, study: str, method: str, variant: dict, plan: Plan) -> str:
    """Add the choice of a method's rate from a grid, whose runs are added too.

    Of a grid that varies more than the rate, the trials that agree with the variant count. It is
    named by its trials, not by the method: methods of equal settings share it, and their runs.
    """
    grid = config["studies"][study]
    chosen = trials_for(grid, method, variant)
    key = (study, method, *(tuple(trial.items()) for trial in chosen))
    if key in plan.tuned:
        return plan.tuned[key]
    trials = [
        {
            "rate": trial["rate"],
            "runs": [
                _run(config, grid, method, trial, epsilon, s, plan)
                for epsilon, seeds in _budgets(grid, method)
                for s in seeds
            ],
        }
        for trial in chosen
    ]
    name = f"{_label(grid, components(config, method, chosen[0]))}-{_digest(trials)}"
    plan.tunings[name] = {"trials": trials}
    plan.tuned[key] = name
    return name


def _label(study: dict, parts: dict) -> str:
    """Return what a reader wants to see of a run, or of a tuning."""
    return f"{study['dataset']}-{parts['mechanism']['estimator']}-{parts['optimizer']['algorithm']}"


def runs_of(studies: Iterable[dict]) -> list[str]:
    """Return the names of the runs of some studies, each once."""
    return list(dict.fromkeys(r for s in studies for c in s["cells"] for r in c["runs"]))


def _short(epsilon: float | str) -> str:
    return epsilon if isinstance(epsilon, str) else f"{epsilon:g}".replace("+", "")


def _digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:8]

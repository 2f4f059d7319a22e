"""Made-up runs in the layout that training writes, for the tests of everything after training."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpfl.base.files import write_json

BOUNDED = {"cadabelief", "adabound", "cadabelief-scalar"}
METRICS = (
    "round,steps,examples,train_accuracy,train_loss,test_accuracy,test_loss,"
    "validation_accuracy,validation_loss,epsilon_spent,noise_multiplier,clip_norm"
)
RATES = "round,step,low,high,q05,q25,q50,q75,q95,clipped_below,clipped_above"
ROUNDS, STEPS = 4, 10


def cell(method: str, epsilon: float, seeds: int, **variant: Any) -> dict[str, Any]:
    """Return a cell; its runs are named by method, epsilon, variant and seed."""
    tail = "".join(f"-{key}{value}" for key, value in variant.items())
    return {
        "method": method,
        "label": method,
        "variant": variant,
        "epsilon": "inf" if math.isinf(epsilon) else epsilon,
        "unit": "example",
        "runs": [f"{method}-{epsilon:g}{tail}-{seed}" for seed in range(seeds)],
        "seeds": list(range(seeds)),
    }


def audit(epsilon: float | None, ceiling: float | None = None, **changes: Any) -> dict[str, Any]:
    """Return what a summary says of an audit that found a bound."""
    return {
        "status": "audited",
        "estimator": "per-step Clopper-Pearson",
        "epsilon": epsilon,
        "ceiling": ceiling,
        "level": 0.01,
        "canaries": 1000,
        "length": "saturated",
        "checks": {"repeated noise": 0.4, "noise scale": 0.6},
        "broken": [],
        "blind": [],
        "tallies": {},
    } | changes


def study(cells: list[dict], name: str = "main", dataset: str = "mnist", **extra: Any) -> dict:
    """Return a study without a baseline unless `extra` brings one."""
    seeds = sorted({seed for c in cells for seed in c["seeds"]})
    return {
        "name": name,
        "title": f"The study {name}",
        "dataset": dataset,
        "kind": "compare",
        "delta": 1e-5,
        "margin": 1.0,
        "seeds": seeds,
        "demonstrates": dataset.startswith("digits"),
        "baseline": {},
        "cells": cells,
    } | extra


def write(runs_dir: Path, cells: list[dict], outcome: Callable[[dict, int], dict]) -> None:
    """Write every run of the cells; `outcome(cell, seed)` gives its numbers, see `write_run`."""
    for own in cells:
        for run, seed in zip(own["runs"], own["seeds"], strict=True):
            write_run(runs_dir / run, run, own, seed, **outcome(own, seed))


def write_run(
    folder: Path,
    run: str,
    own: dict,
    seed: int,
    accuracy: float | None = 0.9,
    curve: Callable[[int], float] | None = None,
    rounds: int = ROUNDS,
    steps: int = STEPS,
    noise: Callable[[int], float] = lambda t: 1.0,
    quantiles: Callable[[int], tuple] | None = None,
    algorithm: str | None = None,
    **changes: Any,
) -> None:
    """Write one run: accuracies are fractions, `changes` overwrite keys of the summary."""
    folder.mkdir(parents=True, exist_ok=True)
    algorithm = algorithm or own["method"]
    metrics = [METRICS]
    for t in range(rounds + 1):
        at = curve(t) if curve else (accuracy or 0.1) * (t + 1) / (rounds + 1)
        spent = "inf" if own["epsilon"] == "inf" else own["epsilon"] * t / rounds
        z = noise(t) if t and own["epsilon"] != "inf" else ""
        row = (t, t * steps, t * steps * 64, at, 1 - at, at, 1 - at, "", "", spent, z, "")
        metrics.append(",".join(map(str, row)))
    (folder / "metrics.csv").write_text("\n".join(metrics) + "\n")
    rates = [RATES]
    if algorithm in BOUNDED:
        for t in range(1, rounds + 1):
            rates.append(",".join(map(str, (t, t * steps, *_rates(t * steps, quantiles)))))
    (folder / "rates.csv").write_text("\n".join(rates) + "\n")
    optimizer = {"algorithm": algorithm, "rate_key": changes.pop("rate_key", "lr"), "settings": {}}
    optimizer["rate"] = own["variant"].get("rate", 0.01)
    belief = {"r": 0.05, "regime": "lower", "clipped_below": 0.4, "clipped_above": 0.0}
    summary = {
        "run": run,
        "settings": _settings(own, changes.pop("dataset", "mnist")) | {"optimizer": optimizer},
        "seed": seed,
        "final_test_accuracy": accuracy,
        "final_train_accuracy": accuracy,
        "final_validation_accuracy": None,
        "rounds": rounds,
        "diverged": False,
        "epsilon_spent": own["epsilon"],
        "eps_claimed": own["epsilon"],
        "eps_certified": "inf" if own["epsilon"] == "inf" else own["epsilon"] * 0.999,
        "accountant": "pld",
        "adjacency": "add-or-remove-one",
        "noise": "seeded",
        "belief": belief if algorithm in BOUNDED else None,
        "versions": {"python": "3.11", "torch": "2.12.1"},
        "hardware": {"cpu": "some", "threads": 1},
    } | changes
    (folder / "summary.json").write_text(json.dumps(summary, allow_nan=False))


def write_tuning(
    home: Path, name: str, accuracies: list[float], chosen: int, seeds=(0,), epsilon="inf"
) -> None:
    """Write a choice among the rates 0.01, 0.1, 1, ..., each with one accuracy for all seeds."""
    rates = [0.01 * 10**i for i in range(len(accuracies))]
    tried = [
        {
            "values": {"rate": rate},
            "runs": [f"{name}-{rate}-{seed}" for seed in seeds],
            "seeds": list(seeds),
            "accuracies": [accuracy] * len(seeds),
        }
        for rate, accuracy in zip(rates, accuracies, strict=True)
    ]
    own = cell("sgd", float(epsilon), 1)
    for run in (run for trial in tried for run in trial["runs"]):
        summary = {"run": run, "settings": _settings(own, "mnist"), "diverged": False}
        write_json(home / "runs" / run / "summary.json", summary)
    found = {"uses": "grid", "values": [{"rate": rates[chosen]}], "trials": tried}
    (home / "tunings" / f"{name}.json").write_text(json.dumps(found))


def _settings(own: dict, dataset: str) -> dict[str, Any]:
    """Return the settings that a summary repeats, with the numbers of a cell's variant."""
    variant, clients = own["variant"], own["variant"].get("clients", 10)
    return {
        "dataset": dataset,
        "model": "mnist-cnn",
        "unit": own["unit"],
        "epsilon": own["epsilon"],
        "delta": 1e-5,
        "accountant": "pld",
        "seed": 0,
        "budget": {"strategy": variant.get("budget", "uniform")},
        "clipping": {"rule": "fixed"},
        "mechanism": {"estimator": "dpsgd"},
        "partition": {"scheme": "iid", "clients": clients, "validation_fraction": 0.0},
        "federation": {
            "rounds": variant.get("rounds", ROUNDS),
            "clients_per_round": clients // 2 if own["unit"] == "client" else None,
            "batch_size": variant.get("batch_size", 64),
            "local_epochs": 1,
            "local_steps": None,
        },
    }


def _rates(step: int, quantiles: Callable[[int], tuple] | None) -> tuple:
    """Return bounds at a step (Meng et al. 2023) and five quantiles with clipped shares."""
    low = (1 - 1 / (0.001 * step + 1)) * 0.1
    high = (1 + 1 / (0.001 * step)) * 0.1
    return low, high, *(quantiles(step) if quantiles else (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.0))

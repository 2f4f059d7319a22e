"""The files of a finished run: metrics, rates, model, and the summary that tables are made from."""

import csv
import json
import math
import platform
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import torch
from safetensors.torch import save

from dpfl import mechanisms, plugins
from dpfl.adaptive import binding_bounds
from dpfl.audit import found, trials
from dpfl.base import machine
from dpfl.base.files import atomic, read_json, write_json
from dpfl.contracts.release import Unproven
from dpfl.gradients import routes
from dpfl.privacy import calibration_settings
from dpfl.training.job import Inputs
from dpfl.training.run import Result

RATE_COLUMNS = ("round", "step", "low", "high", "q05", "q25", "q50", "q75", "q95")
CLIPPED = ("clipped_below", "clipped_above")
IDEAL = "floating-point draws stand for ideal Gaussians"
ASSUMES = {
    "seeded": "the seed is secret: a printed one lets anyone regenerate noise and batches; "
    f"{IDEAL}",
    "secure": IDEAL,
}

NOT_PRIVATE = {"eps_certified": "inf", "accountant": None, "adjacency": None, "clients": []}
"""What stands for the calibration of a run without privacy."""


def write(name: str, settings: dict, inputs: Inputs, result: Result, folder: Path) -> None:
    """Write a run's files, each whole, the summary last.

    The model says what certifies it; metrics have no noise, so that nothing does.
    """
    summary = _summary(name, settings, inputs, result)
    certified = summary["eps_certified"] is not None
    certificate = summary["accountant"] or "none" if certified else "not certified"
    _write_csv(folder / "metrics.csv", list(result.metrics[0]), result.metrics)
    _write_csv(folder / "rates.csv", [*RATE_COLUMNS, *CLIPPED], result.rates)
    with atomic(folder / "model.safetensors") as temporary:
        tensors = {k: v.detach().cpu().clone() for k, v in result.model.state_dict().items()}
        # One metadata entry: safetensors writes several in an order that differs from run to run.
        about = json.dumps({"model": settings["model"], "certificate": certificate})
        temporary.write_bytes(save(tensors, metadata={"run": about}))
    write_json(folder / "summary.json", summary)


def _write_csv(path: Path, columns: list[str], rows: list[dict]) -> None:
    with atomic(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _summary(name: str, settings: dict, inputs: Inputs, result: Result) -> dict[str, Any]:
    last = result.metrics[-1]
    finals = ("test_accuracy", "test_loss", "train_accuracy", "train_loss", "validation_accuracy")
    return {
        "run": name,
        "settings": settings,
        "seed": settings["seed"],
        **{f"final_{key}": _finite(last[key]) for key in finals},
        "rounds": last["round"],
        "steps": last["steps"],
        "steps_charged": result.steps_charged,
        "epsilon_spent": last["epsilon_spent"] if settings["epsilon"] != "inf" else "inf",
        "diverged": any(_finite(row["train_loss"]) is None for row in result.metrics),
        **_privacy(settings, inputs),
        "eps_audit_lb": result.audit["epsilon"],
        "audit_status": result.audit["status"],
        "audit": result.audit,
        "noise": settings["noise"],
        **OF_UNIT[settings["unit"]](settings, result),
        "belief": _belief(settings, result, inputs),
        "sources": inputs.sources,
        "inputs": inputs.digests(),
        "versions": _versions(),
        "hardware": _hardware(settings["device"]),
    }


def _privacy(settings: dict, inputs: Inputs) -> dict[str, Any]:
    """Say what is claimed, what is certified and under which assumptions, or why nothing is."""
    unpriced = NOT_PRIVATE | {"delta": settings["delta"]}
    priced = read_json(inputs.calibration) if inputs.calibration else unpriced
    multipliers = {c["client"]: c["noise_multipliers"] for c in priced["clients"]}
    releases = {c["client"]: c["releases"] for c in priced["clients"] if "releases" in c}
    used = _used(priced)
    low, high = min(used, default=None), max(used, default=None)
    reasons = _unproven(settings, low) if used else []
    return {
        "unit": settings["unit"],
        "sampling": calibration_settings.sampling_of(settings)["sampling"],
        "eps_claimed": settings["epsilon"],
        "eps_certified": None if reasons else priced["eps_certified"],
        **({"eps_certified_reasons": reasons} if reasons else {}),
        "delta": priced["delta"],
        "accountant": priced["accountant"],
        "adjacency": priced["adjacency"],
        **_claimed(settings),
        "certificate_assumes": ASSUMES[settings["noise"]] if used else None,
        "noise_multipliers": {"min": low, "max": high, "clients": multipliers},
        **({"releases": releases} if releases else {}),
    }


def _claimed(settings: dict) -> dict[str, str]:
    """Return the adjacency of a claim that charges another sampling than is drawn."""
    charged = calibration_settings.sampling_of(settings).get("charged")
    if charged is None:
        return {}
    return {"adjacency_claimed": plugins.constant("samplings", charged, "ADJACENCIES")[0]}


def _unproven(settings: dict, noise_multiplier: float) -> list[str]:
    """Return why the mechanism, with its clipping rule, has no proof; [] if it has one."""
    released = mechanisms.released(settings, noise_multiplier)
    return list(released.reasons) if isinstance(released, Unproven) else []


def _belief(settings: dict, result: Result, inputs: Inputs) -> dict[str, Any] | None:
    """Tell which regime noise puts the learning-rate bounds in, and what they clipped in fact."""
    if not result.rates:
        return None
    last = result.rates[-1]
    clipped = {k: sum(r[k] for r in result.rates) / len(result.rates) for k in CLIPPED}
    measured = {"median_rate": _finite(last["q50"]), **clipped}
    return {**_predicted(settings, result, inputs), **measured}


def _predicted(settings: dict, result: Result, inputs: Inputs) -> dict[str, Any]:
    """Predict the unclipped rate r of a coordinate that is all noise, and the bound it meets.

    Nothing is predicted unless the noise on every coordinate of the sum is z C throughout.
    """
    group = result.hyperparameters
    if inputs.calibration is None or not result.noise_scale or not _noise_is_z_c(settings):
        return {"r": None, "regime": None, "pinned_from_step": None}
    r = binding_bounds.unclipped_rate(
        group["lr"],
        settings["federation"]["batch_size"],
        median(_used(read_json(inputs.calibration))),
        settings["clipping"]["clip_norm"],
        result.noise_scale,
    )
    if not group.get("bounds", "final_lr" in group):
        return {"r": r, "regime": None, "pinned_from_step": None}
    gamma = group["gamma"] or 1 - group["betas"][1]
    meets = binding_bounds.regime(r, group["final_lr"], gamma, result.steps_since_reset)
    return {"r": r, "regime": meets.name, "pinned_from_step": meets.step}


def _noise_is_z_c(settings: dict) -> bool:
    """Tell whether a step's noise is known in advance: the mechanism says so, and C never moves."""
    estimator = settings["mechanism"]["estimator"]
    declared = plugins.constant("mechanisms", estimator, "NOISE_IS_Z_C")
    return declared and not any(rule.state() for rule in mechanisms.build(settings).clippings)


def _used(calibration: dict) -> list[float]:
    """Return the planned noise multipliers of all clients and rounds."""
    return [z for client in calibration["clients"] for z in client["noise_multipliers"]]


def _moves(settings: dict, result: Result) -> dict[str, Any]:
    """Return how far one client moves a round at most, as a search finds, if it is private."""
    if settings["epsilon"] == "inf":
        return {}
    own = {key: settings[key] for key in ("mechanism", "clipping")}
    return {"moved": _found(json.dumps(own, sort_keys=True))}


@cache
def _found(settings: str) -> float | str | None:
    """Return the most that one moves, in what the noise is for; None where none is comparable."""
    moved = found.most(partial(mechanisms.build, json.loads(settings)), trials.Clients).moved
    return "inf" if math.isinf(moved) else _finite(moved)


OF_UNIT = {
    "example": lambda settings, result: {"gradients": routes(result.model)},
    "client": _moves,
}
"""What a summary has by whom a run protects."""


def _finite(value: float | None) -> float | None:
    """JSON has no NaN: a loss that is not finite becomes null."""
    return value if value is not None and math.isfinite(value) else None


def _versions() -> dict[str, str]:
    packages = ("torch", "numpy", "dp-accounting", "safetensors")
    return {"python": platform.python_version(), **{p: version(p) for p in packages}}


def _hardware(device: str) -> dict[str, Any]:
    return {
        **machine.described(),
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "threads": torch.get_num_threads(),
        "instructions": torch.backends.cpu.get_cpu_capability(),
    }

"""Studies that are `tuned_by: reference`: kept values take the place of trials.

Another machine rounds differently and may choose another rate. With the values that
results/reference keeps of the paper's scale it trains the same cells, and runs no trial.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpfl.base import files
from dpfl.base.errors import UserError

NAME = "reference"
HOME = Path("results/reference")
FILE = "chosen.json"
"""What `make keep` writes of tuned values."""
OF_TUNING = ("tuned_by", "tuned_at", "method_tuned_at", "tuned_once")
"""The keys of a study that say how trials choose its values."""


def applied(config: dict[str, Any]) -> dict[str, Any]:
    """Return a paper's configuration with `kept`, the kept values of studies that ask for them.

    These studies are tuned by none, then. UserError for a chosen one of which nothing is kept.
    """
    taking = [name for name, own in config["studies"].items() if own.get("tuned_by") == NAME]
    untuned = {name: _without_tuning(config["studies"][name]) for name in taking}
    kept = {name: _kept(config, name) for name in taking if name in config["select"]}
    return config | {"studies": config["studies"] | untuned, "kept": kept}


def of_study(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return a study, with `kept` if it takes kept values."""
    kept = config.get("kept", {})
    return config["studies"][name] | ({"kept": kept[name]} if name in kept else {})


def values(study: dict[str, Any], method: str, variant: dict, epsilon: float | str) -> dict:
    """Return the kept values of a cell by the path of the setting; {} for studies that take none.

    UserError if the cell's are not kept.
    """
    if "kept" not in study or "rate" in variant:
        return {}
    cell = {"method": method, "variant": variant, "epsilon": epsilon}
    for found in study["kept"]["cells"]:
        if all(found[key] == value for key, value in cell.items()):
            return found["values"]
    varied = [f"{key}={value}" for key, value in variant.items()]
    told = ", ".join([method, *varied, f"epsilon {epsilon}"])
    raise UserError(f"config: {study['kept']['where']} has no values of {told}; tune it here")


def files_of(studies: Iterable[dict[str, Any]]) -> set[str]:
    """Return the files of kept values, of any scale, of the papers of studies that take some."""
    papers = {study["paper"] for study in studies if study.get("tuned_by") == NAME}
    return {str(path) for paper in papers for path in (HOME / paper).glob(f"*/{FILE}")}


def _without_tuning(study: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in study.items() if key not in OF_TUNING}


def _kept(config: dict[str, Any], name: str) -> dict[str, Any]:
    path = HOME / config["paper"] / config["scale"] / FILE
    if not path.exists():
        where = f"config: {config['paper']}: studies.{name}.tuned_by = {NAME}"
        raise UserError(f"{where}, but there is no {path}; make keep writes it")
    about = path.with_name("provenance.json")
    if not about.exists() or files.read_json(about)["files"][FILE]["sha256"] != files.digest(path):
        raise UserError(f"{path}: not as it was kept; restore it or keep it again")
    cells = [found for found in files.read_json(path) if found["study"] == name]
    return {"where": f"{path}: study {name}", "cells": cells}

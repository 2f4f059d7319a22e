"""Puts the values that a stage of tuning has named into the settings of a run that waits for them.

Where a value will be, settings hold a `mark`. This is the one place that makes and fills it.
"""

from pathlib import Path
from typing import Any

from dpfl.files import read_json


def mark(stage: str, slot: int, setting: str) -> dict[str, Any]:
    """Return what stands for a value that a slot of a stage will name."""
    return {"tuned": stage, "slot": slot, "setting": setting}


def marked(settings: dict[str, Any], above: str = "") -> list[str]:
    """Return the dotted paths of all marks in settings."""
    found: list[str] = []
    for key, value in settings.items():
        path = f"{above}{key}"
        if isinstance(value, dict):
            found += [path] if "tuned" in value else marked(value, f"{path}.")
    return found


def values(stage: Path, slot: int) -> dict[str, float]:
    """Return the values of a slot, by setting; UserError for a file that is not whole."""
    return read_json(stage)["values"][slot]


def filled(settings: Any, stages: Path) -> Any:
    """Return settings with values for all marks; `stages` is the folder of all stages."""
    if not isinstance(settings, dict):
        return settings
    if "tuned" in settings:
        return values(stages / f"{settings['tuned']}.json", settings["slot"])[settings["setting"]]
    return {key: filled(value, stages) for key, value in settings.items()}

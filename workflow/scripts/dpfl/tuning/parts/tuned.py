"""Puts the values that a stage of tuning has named into the settings of a run that waits for them.

Where a value will be, settings hold a mark. This is the one place that makes and fills it.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpfl.base.files import read_json

WORD = "tuned"


def marks(stage: str, slot: int, over: Iterable[str]) -> dict[str, list[str | int]]:
    """Return what stands for the values of some settings that a slot of a stage will name."""
    return {setting: [WORD, stage, slot, setting] for setting in over}


def values(stages: Path, stage: str, slot: int) -> dict[str, float]:
    """Return the values of a slot, by setting; UserError for a file that is not whole.

    `stages` is the folder of all stages.
    """
    return read_json(stages / f"{stage}.json")["values"][slot]


def trials_of(stage: dict[str, Any]) -> list[str]:
    """Return the names of all trials that a stage waits for."""
    return [run for trial in stage["trials"] for run in trial["runs"]]


def filled(settings: Any, stages: Path) -> Any:
    """Return settings with values for all marks; `stages` is the folder of all stages."""
    if isinstance(settings, dict):
        return {key: filled(value, stages) for key, value in settings.items()}
    if isinstance(settings, list) and settings[:1] == [WORD]:
        _, stage, slot, setting = settings
        return values(stages, stage, slot)[setting]
    return settings

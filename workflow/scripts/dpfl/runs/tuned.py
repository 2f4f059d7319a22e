"""Puts the values that a stage of tuning has named into the settings of a run that waits for them.

Where a value will be, settings hold a `mark`. This is the one place that makes and fills it.
"""

from pathlib import Path
from typing import Any

from dpfl.base.files import read_json

WORD = "tuned"


def mark(stage: str, slot: int, setting: str) -> list[str | int]:
    """Return what stands for a value that a slot of a stage will name."""
    return [WORD, stage, slot, setting]


def values(stage: Path, slot: int) -> dict[str, float]:
    """Return the values of a slot, by setting; UserError for a file that is not whole."""
    return read_json(stage)["values"][slot]


def filled(settings: Any, stages: Path) -> Any:
    """Return settings with values for all marks; `stages` is the folder of all stages."""
    if isinstance(settings, dict):
        return {key: filled(value, stages) for key, value in settings.items()}
    if isinstance(settings, list) and settings[:1] == [WORD]:
        _, stage, slot, setting = settings
        return values(stages / f"{stage}.json", slot)[setting]
    return settings

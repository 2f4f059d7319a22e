"""Whether a run is done: its result lies there, and today's code has trained it."""

from pathlib import Path
from typing import Any

from dpfl.runs import finished, sources


def is_done(folder: Path, settings: dict[str, Any]) -> bool:
    """Tell it of a run's folder and its planned settings; cheap enough for thousands of runs.

    A run is named by its settings, so that other ones have another folder.
    """
    if not (folder / "summary.json").exists():
        return False
    return finished.sources(folder) == sources.of_run(settings)

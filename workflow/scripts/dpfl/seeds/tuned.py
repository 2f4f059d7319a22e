"""What was tried for a cell, and what was chosen."""

from dataclasses import dataclass
from typing import Any

from dpfl.contracts.points import Point


@dataclass(frozen=True)
class Tuning:
    """A cell that is tuned, what was tried for it and chosen, and by which stage.

    `settings` are those of a trial, at whose epsilon all ran.
    """

    index: int
    cell: dict[str, Any]
    tried: list[Point]
    chosen: Point
    stage: dict[str, Any]
    settings: dict[str, Any]

    @property
    def at(self) -> float:
        """Return the epsilon that all trials ran at."""
        return float(self.settings["epsilon"])

    @property
    def runs(self) -> int:
        """Return how many trainings were trials."""
        return sum(len(point.accuracies) for point in self.tried)

    @property
    def ladders(self) -> dict[str, list[float]]:
        """Return the values that were tried of every setting, in order."""
        keys = self.chosen.values
        return {key: sorted({point.values[key] for point in self.tried}) for key in keys}

    @property
    def edge(self) -> str:
        """Return the settings whose chosen value is the lowest or the highest."""
        ends = {key: (ladder[0], ladder[-1]) for key, ladder in self.ladders.items()}
        return ", ".join(key for key, own in self.chosen.values.items() if own in ends[key])

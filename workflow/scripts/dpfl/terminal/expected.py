"""When everything is expected to end: estimates, corrected by what finished runs took."""

from collections.abc import Mapping
from dataclasses import dataclass, field

OTHER_SECONDS = 2.0
"""Of a job that trains nothing, on a core."""


@dataclass
class Expected:
    """The seconds that are left, of estimates by run and of a number of other jobs."""

    open: dict[str, float]
    cores: int
    again: int = 0
    """Runs that have a result but are made again; which ones, nobody says."""
    others: int = 0
    """Jobs that train nothing and are still to come."""
    estimated: float = 0.0
    taken: float = 0.0
    """Seconds of finished runs: those that were estimated, those that they took."""
    _counted: set[str] = field(default_factory=set)

    def finish(self, run: str, estimate: float, seconds: float | None) -> None:
        """Count a finished run; one that nobody timed corrects nothing."""
        if self.open.pop(run, None) is None:
            self.again = max(0, self.again - 1)
        if seconds is not None and run not in self._counted:
            self._counted.add(run)
            self.estimated += estimate
            self.taken += seconds

    def drop(self, run: str) -> None:
        """A run that failed takes no more time."""
        self.open.pop(run, None)

    def left(self) -> float:
        """Return the seconds to the end: all cores at work, and no run faster than it can be."""
        correction = self.taken / self.estimated if self.estimated else 1.0
        again = self.again * self.estimated / max(1, len(self._counted))
        total = sum(self.open.values()) + again
        training = correction * max(total / self.cores, *self.open.values(), 0.0)
        return training + OTHER_SECONDS * self.others / self.cores


def others(counts: Mapping[str, int]) -> int:
    """Return how many of the jobs, counted by rule, train nothing."""
    return sum(count for rule, count in counts.items() if not trains(rule))


def trains(rule: str) -> bool:
    """Tell whether the jobs of a rule are told run by run."""
    return rule.startswith("train")

"""What a budget strategy is asked, and what it decides: the noise of every participation."""

from dataclasses import dataclass
from typing import Any

SERVER = "server"
"""Who adds the noise, in accounts and in streams, where the unit is the client."""


@dataclass(frozen=True)
class Work:
    """What one client is going to do: its Poisson rate, steps per round, and number of rounds.

    `released` are the noise multipliers of what it releases before, of all its examples.
    """

    sample_rate: float
    steps_per_round: int
    rounds: int
    released: tuple[float, ...] = ()

    @property
    def steps(self) -> int:
        """All planned steps."""
        return self.steps_per_round * self.rounds


@dataclass(frozen=True)
class Budget:
    """What all of it may cost, and the accountant that chooses the noise."""

    epsilon: float
    delta: float
    accountant: str = "pld"


@dataclass(frozen=True)
class Schedule:
    """Noise multiplier of every round [rounds], and the number of the last step that is paid.

    With a `filter` (see dpfl.privacy.filter) the multipliers are those of a run that sees no
    progress. The true ones are decided while it trains.
    """

    noise_multipliers: tuple[float, ...]
    paid_steps: int
    filter: dict[str, Any] | None = None

    def segments(self, work: Work) -> list[tuple[float, int]]:
        """Return the noise and the paid steps of every round."""
        each = work.steps_per_round
        return [
            (z, max(0, min(each, self.paid_steps - each * done)))
            for done, z in enumerate(self.noise_multipliers)
        ]

"""What one client does in a round, and how much its result weighs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dpfl.base.errors import UserError

WEIGHTINGS: dict[str, Callable[[int], float]] = {
    "examples": float,
    "uniform": lambda examples: 1.0,
}
"""How much a client's weights count in the average, by how many examples it holds."""


@dataclass(frozen=True)
class LocalWork:
    """The local training of one round: whole passes in random order, in batches of a fixed size.

    It takes a number of steps, or epochs of ceil(examples / batch_size) steps. A client with fewer
    examples takes them all at once. UserError unless exactly one of the two is set.
    """

    batch_size: int
    local_epochs: float | None = None
    local_steps: int | None = None

    def __post_init__(self):
        epochs, steps = self.local_epochs, self.local_steps
        if (epochs is None) == (steps is None):
            raise UserError(f"local_epochs is {epochs} and local_steps is {steps}, set exactly one")
        for name in ("batch_size", "local_epochs", "local_steps"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise UserError(f"{name} is {value}, must be > 0")

    def batches(self, examples: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
        """Yield the indices of each step's batch, for a client of this many examples."""
        each = -(-examples // self.batch_size)
        steps = self.local_steps or max(1, int(self.local_epochs * each))
        for step in range(steps):
            if step % each == 0:
                order = rng.permutation(examples)
            start = step % each * self.batch_size
            yield order[start : start + self.batch_size]

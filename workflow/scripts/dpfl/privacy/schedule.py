"""What a budget strategy decides: how much noise, and how many steps are paid."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Schedule:
    """Noise multiplier of every step, and the number of the last step that fits the budget."""

    noise_multiplier: float
    paid_steps: int

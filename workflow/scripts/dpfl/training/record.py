"""What is written down of every round of a run: metrics, learning rates, and how far it came."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpfl.training.evaluation import Evaluation
from dpfl.training.federated import Round


class Record:
    """The rows of a run so far, one per round."""

    def __init__(self, settings: dict, evaluation: Evaluation):
        self.settings, self.evaluation = settings, evaluation
        self.metrics: list[dict[str, Any]] = []
        self.rates: list[dict[str, float]] = []

    def add(
        self, outcome: Round, epsilon_spent: float, steps_taken: Mapping[int | str, int]
    ) -> None:
        """Append a round, after which so much is spent and everyone has taken so many steps."""
        before = self.metrics[-1] if self.metrics else {"steps": 0, "examples": 0}
        self.metrics.append(
            {
                "round": len(self.metrics),
                "steps": before["steps"] + outcome.steps,
                "examples": before["examples"] + outcome.examples,
                **self.evaluation.scores(),
                "epsilon_spent": epsilon_spent,
                "noise_multiplier": outcome.noise_multiplier or None,
                "clip_norm": outcome.clip_norm,
            }
        )
        if outcome.rates:
            step = max(steps_taken.values())
            self.rates.append({"round": len(self.metrics) - 1, "step": step, **outcome.rates})

    def shown(self) -> dict[str, Any]:
        """Return what whoever watches reads of a checkpoint."""
        row = self.metrics[-1]
        finite = row["epsilon_spent"] if np.isfinite(row["epsilon_spent"]) else None
        return {
            "rounds": self.settings["federation"]["rounds"],
            "test_accuracy": row["test_accuracy"],
            "epsilon_spent": finite,
        }

    def progress(self, number: int, rounds: int, seconds: float, done: int) -> str:
        """Return the line of a round; `done` rounds have taken these seconds."""
        row = self.metrics[-1]
        left = seconds / done * (rounds - number)
        end = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
        budget = self.settings["epsilon"]
        return (
            f"round {number}/{rounds}  test accuracy {100 * row['test_accuracy']:.2f} %  "
            f"epsilon {row['epsilon_spent']:.3f} of {budget}  {seconds:.1f} s  ends {end}"
        )

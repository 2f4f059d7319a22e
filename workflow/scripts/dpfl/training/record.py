"""What is written down of every round of a run: metrics, learning rates, and how far it came."""

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from dpfl.gradients.layout import channels_last
from dpfl.training.federated import Round
from dpfl.training.trainers import Examples

BATCH = 1000
NONE = (None, None)  # the scores on no examples


@torch.no_grad()
def score(
    model: torch.nn.Module, inputs: torch.Tensor, targets: torch.Tensor
) -> tuple[float, float]:
    """Return accuracy and mean cross-entropy, in nats, on inputs [N, ...] and targets [N]."""
    correct, loss = 0, 0.0
    for x, y in zip(inputs.split(BATCH), targets.split(BATCH), strict=True):
        outputs = model(channels_last(x))
        correct += int((outputs.argmax(1) == y).sum())
        loss += float(functional.cross_entropy(outputs, y, reduction="sum"))
    return correct / len(targets), loss / len(targets)


class Record:
    """The rows of a run so far, one per round, measured with the server's weights."""

    def __init__(self, settings: dict, given: Examples, model: torch.nn.Module):
        self.settings, self.given, self.model = settings, given, model
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
                **self._scores(),
                "epsilon_spent": epsilon_spent,
                "noise_multiplier": outcome.noise_multiplier or None,
                "clip_norm": outcome.clip_norm,
            }
        )
        if outcome.rates:
            step = max(steps_taken.values())
            self.rates.append({"round": len(self.metrics) - 1, "step": step, **outcome.rates})

    def _scores(self) -> dict[str, float | None]:
        """Score a fixed, evenly spread part of the training set, the test set, the held-out set."""
        d, held_out = self.given.dataset, self.given.validation
        found = {
            "train": score(self.model, *d.of_training(self.given.seen)),
            "test": score(self.model, d.test_inputs, d.test_targets),
            "validation": score(self.model, *d.of_training(held_out)) if len(held_out) else NONE,
        }
        return {
            f"{part}_{measure}": value
            for part, own in found.items()
            for measure, value in zip(("accuracy", "loss"), own, strict=True)
        }

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

"""Accuracy and loss of a model on a set of examples."""

from dataclasses import dataclass

import torch
from torch.nn import functional

from dpfl.gradients.layout import channels_last

BATCH = 1000


@dataclass(frozen=True)
class Score:
    """Fraction of examples classified correctly, and mean cross-entropy in nats."""

    accuracy: float
    loss: float


@torch.no_grad()
def score(model: torch.nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> Score:
    """Evaluate a model on inputs [N, ...] and integer targets [N]."""
    correct, loss = 0, 0.0
    for x, y in zip(inputs.split(BATCH), targets.split(BATCH), strict=True):
        outputs = model(channels_last(x))
        correct += int((outputs.argmax(1) == y).sum())
        loss += float(functional.cross_entropy(outputs, y, reduction="sum"))
    return Score(correct / len(targets), loss / len(targets))

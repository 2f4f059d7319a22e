"""Asking a trained model: its logit-scaled confidence in the true label of examples."""

from pathlib import Path

import numpy as np
import torch

from dpfl import models
from dpfl.base.files import read_weights
from dpfl.gradients.layout import channels_last
from dpfl.models.parts import standardised

BATCH = 1000


def trained(name: str, weights: Path, shape: tuple[int, ...], classes: int) -> torch.nn.Module:
    """Return the network of a name, for inputs of a shape, with the weights that a run left."""
    kept = read_weights(weights)
    model = standardised.like(models.build(name, torch.Generator(), shape, classes), kept)
    model.load_state_dict(kept)
    return model


@torch.no_grad()
def confidences(model: torch.nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> np.ndarray:
    """Return log(p / (1 - p)) of the true labels' probabilities p, float64 [N].

    The scale of Carlini et al. 2022, as a difference of logarithms, so that no p rounds to 1. A
    model whose outputs are not finite says nothing: it counts as one that guesses.
    """
    parts = zip(inputs.split(BATCH), targets.split(BATCH), strict=True)
    return torch.cat([logit_scaled(model(channels_last(x)), y) for x, y in parts]).numpy()


def logit_scaled(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return z_y - log sum over j != y of exp z_j, for logits [N, classes]: float64 [N]."""
    finite = logits.isfinite().all(1, keepdim=True)
    logits = torch.where(finite, logits.double(), 0.0)
    chosen = targets.unsqueeze(1)
    others = logits.scatter(1, chosen, -torch.inf).logsumexp(1)
    return logits.gather(1, chosen).squeeze(1) - others

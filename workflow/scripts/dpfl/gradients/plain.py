"""The gradient without privacy: of non-private runs, and of what clients do locally."""

from collections.abc import Callable

import torch

from dpfl.gradients import losses
from dpfl.gradients.flat import trained
from dpfl.gradients.layout import channels_last


def gradient_of_sum(
    model: torch.nn.Module, loss_fn: Callable, inputs: torch.Tensor, targets: torch.Tensor
) -> torch.Tensor:
    """Return the gradient of the summed loss, flat [D]; zero for no examples."""
    parameters = trained(model)
    if len(inputs) == 0:
        return torch.cat([torch.zeros_like(p).reshape(-1) for p in parameters])
    total = losses.of_examples(loss_fn, model(channels_last(inputs)), targets).sum()
    gradients = torch.autograd.grad(total, parameters)
    return torch.cat([g.reshape(-1) for g in gradients])

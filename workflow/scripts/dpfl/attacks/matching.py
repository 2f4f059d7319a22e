"""Gradient matching: pictures whose gradient points where the update does.

Geiping et al. (2020, arXiv 2003.14053) minimise 1 - cos(gradient(x), update) + a TV(x). They use
Adam on the sign of the derivative. The rate falls tenfold at 3/8, 5/8 and 7/8 of the way.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap
from torch.nn import functional

from dpfl.attacks.seen import Seen

_FALLS = (3 / 8, 5 / 8, 7 / 8)


@dataclass(frozen=True)
class Search:
    """How long is searched: `restarts` beginnings, `iterations` steps of `rate` from each.

    `total_variation` is its weight a beside the cosine distance.
    """

    restarts: int
    iterations: int
    rate: float
    total_variation: float


def reconstruct(seen: Seen, search: Search, rng: np.random.Generator) -> Tensor:
    """Return pictures [U, b, C, H, W]: of all restarts those whose gradient fits best.

    Labels are taken as known. Beginnings are uniform in the box of pixels, drawn by `rng`.
    """
    count, batch = seen.labels.shape
    updates, labels = (t.repeat(search.restarts, 1) for t in (seen.updates, seen.labels))
    drawn = torch.from_numpy(rng.random((len(updates), batch, *seen.shape), np.float32))
    pictures = (seen.low + (seen.high - seen.low) * drawn).requires_grad_()
    optimizer = torch.optim.Adam([pictures], lr=search.rate)
    falls = [int(part * search.iterations) for part in _FALLS]
    schedule = torch.optim.lr_scheduler.MultiStepLR(optimizer, falls)
    for _ in range(search.iterations):
        misfit = _misfit(seen.model, pictures, updates, labels, search)
        [slope] = torch.autograd.grad(misfit.sum(), pictures)
        pictures.grad = slope.sign()
        optimizer.step()
        schedule.step()
        pictures.data = seen.boxed(pictures.data)
    misfit = _misfit(seen.model, pictures, updates, labels, search).detach()
    best = misfit.view(search.restarts, count).argmin(0)
    return pictures.detach().unflatten(0, (search.restarts, count))[best, torch.arange(count)]


def _misfit(
    model: nn.Module, pictures: Tensor, updates: Tensor, labels: Tensor, search: Search
) -> Tensor:
    """Return what is minimised, for each attempt [U]."""
    cosine = functional.cosine_similarity(gradients(model, pictures, labels), updates)
    return 1 - cosine + search.total_variation * total_variation(pictures)


def gradients(model: nn.Module, pictures: Tensor, labels: Tensor) -> Tensor:
    """Return the gradient [U, D] of the loss summed over each batch, differentiable for pictures.

    Pictures [U, b, C, H, W], labels [U, b]. Every batch has a copy of the weights to itself, so
    that one backward pass gives the gradients of all.
    """
    copies = {
        name: p.detach().expand(len(pictures), *p.shape).clone().requires_grad_()
        for name, p in model.named_parameters()
    }
    outputs = vmap(lambda own, inputs: functional_call(model, own, (inputs,)))(copies, pictures)
    loss = functional.cross_entropy(outputs.flatten(0, 1), labels.flatten(), reduction="sum")
    found = torch.autograd.grad(loss, list(copies.values()), create_graph=True)
    return torch.cat([gradient.flatten(1) for gradient in found], dim=1)


def total_variation(pictures: Tensor) -> Tensor:
    """Return mean |difference| of neighbours down plus across, over a batch [U, b, C, H, W]."""
    down, across = pictures.diff(dim=-2), pictures.diff(dim=-1)
    return sum(d.abs().flatten(1).mean(1) for d in (down, across))

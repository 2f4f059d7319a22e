"""One training step, as each contender takes it: gradient, clip, sum, noise, SGD update.

A contender is a function of (model, inputs, targets) that returns a step without arguments.
"""

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from dpfl.bench import CLIP_NORM, NOISE_MULTIPLIER, RANK, RATE
from dpfl.draws import noise, streams
from dpfl.gradients import step as of_mechanisms
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.layout import channels_last
from dpfl.mechanisms import dpsgd, fsdp_central, fsdp_certified
from dpfl.training.federated import loss_fn

Step = Callable[[], None]
Contender = Callable[[nn.Module, Tensor, Tensor], Step]


def plain(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """Not private, in the layout that the data come in."""
    return _by_backward(model, _sgd(model), cross_entropy, inputs, targets)


def plain_channels_last(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """Not private, the layout converted beforehand: the reference of every ratio."""
    return plain(model.to(memory_format=torch.channels_last), channels_last(inputs), targets)


def estimated(build: Callable[[], Any], model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """The step that training takes with a mechanism."""
    flat, mechanism = FlatModel(model), build()
    optimizer = torch.optim.SGD([flat.flat], lr=RATE)
    normal = noise.Seeded("bench").normal
    numbers = itertools.count()

    def step() -> None:
        flat.flat.grad = mechanism.estimate(
            of_mechanisms.Step(
                model=model,
                loss_fn=loss_fn,
                inputs=inputs,
                targets=targets,
                noise_multiplier=NOISE_MULTIPLIER,
                expected_batch=len(targets),
                normal=normal,
                public=of_mechanisms.Public(inputs[:0], targets[:0]),
                public_rng=partial(streams.rng, "bench"),
                number=next(numbers),
            )
        )
        optimizer.step()

    return step


@dataclass(frozen=True)
class NaiveCentral:
    """fsdp-central as one would write it down: all gradients written out, and their SVD."""

    rank: int

    def estimate(self, step: of_mechanisms.Step) -> Tensor:
        """Return the noisy mean gradient, flat [D]."""
        rows = step.gradients()[0].rows()
        u, s, h = torch.linalg.svd(rows, full_matrices=False)
        v, h = u[:, : self.rank] * s[: self.rank], h[: self.rank]
        phi = rows - v @ h
        bounds = [float(part.norm(dim=1).mean()) for part in (v, phi)]
        v_noise = step.noise_multiplier * bounds[0] * step.normal(h.shape[0]).to(h)
        phi_noise = step.noise_multiplier * bounds[1] * step.normal(h.shape[1]).to(h)
        return ((v.sum(0) + v_noise) @ h + phi.sum(0) + phi_noise) / step.expected_batch


def made_private(model: nn.Module, loader: DataLoader, **how: Any) -> tuple:
    """Return what Opacus makes of a network: it, its optimizer and more, as `how` says."""
    from opacus import PrivacyEngine

    return PrivacyEngine().make_private(
        module=model,
        optimizer=_sgd(model),
        data_loader=loader,
        noise_multiplier=NOISE_MULTIPLIER,
        max_grad_norm=CLIP_NORM,
        **how,
    )


def opacus(mode: str, model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """Opacus through make_private; its loss is a mean, its layout channels first."""
    loader, loss = DataLoader(TensorDataset(inputs, targets), len(targets)), nn.CrossEntropyLoss()
    how = {"criterion": loss, "poisson_sampling": False, "grad_sample_mode": mode}
    model, optimizer, *others = made_private(model, loader, **how)
    return _by_backward(model, optimizer, others[0] if mode == "ghost" else loss, inputs, targets)


def functional(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """torch.func: vmap over the gradient of one example's loss."""
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return cross_entropy(functional_call(model, parameters, (x[None],)), y[None])

    def clipped_sum(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> dict[str, Tensor]:
        grads = vmap(grad(loss), (None, 0, 0))(parameters, x, y)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
        weights = (CLIP_NORM / norms).clamp(max=1)
        return {name: torch.tensordot(weights, g, 1) for name, g in grads.items()}

    def step() -> None:
        for name, total in clipped_sum(parameters, inputs, targets).items():
            total += NOISE_MULTIPLIER * CLIP_NORM * torch.randn_like(total)
            parameters[name].sub_(total, alpha=RATE / len(targets))

    return step


def _sgd(model: nn.Module) -> torch.optim.SGD:
    return torch.optim.SGD(model.parameters(), lr=RATE)


def _by_backward(
    model: nn.Module, optimizer: Any, loss: Callable, inputs: Tensor, targets: Tensor
) -> Step:
    def step() -> None:
        optimizer.zero_grad()
        loss(model(inputs), targets).backward()
        optimizer.step()

    return step


FIXED = {"rule": "fixed", "clip_norm": CLIP_NORM}
OURS = "ours"
REFERENCE = "non-private, channels last"
SPLIT: dict[str, Callable[[], Any]] = {
    "fsdp-central": partial(fsdp_central.build, {**FIXED, "rule": "fsdp-adaptive"}, rank=RANK),
    "fsdp-certified": partial(fsdp_certified.build, FIXED, rank=RANK),
    "fsdp-central, naive": partial(NaiveCentral, RANK),
}
"""Mechanisms that take a gradient apart, by the name of their contender."""

CONTENDERS: dict[str, Contender] = {
    REFERENCE: plain_channels_last,
    "non-private": plain,
    OURS: partial(estimated, partial(dpsgd.build, FIXED)),
    **{name: partial(estimated, build) for name, build in SPLIT.items()},
    "Opacus hooks": partial(opacus, "hooks"),
    "Opacus ghost": partial(opacus, "ghost"),
    "vmap(grad)": functional,
}

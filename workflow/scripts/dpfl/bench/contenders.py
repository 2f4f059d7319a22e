"""One training step, as each contender takes it: gradient, clip, sum, noise, SGD update.

A contender is a function of (model, inputs, targets) that returns a step without arguments.
"""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy

from dpfl import noise
from dpfl.bench import CLIP_NORM, NOISE_MULTIPLIER, RATE
from dpfl.federated import loss_fn
from dpfl.flat import FlatModel
from dpfl.layout import channels_last
from dpfl.mechanisms import dpsgd

Step = Callable[[], None]
Contender = Callable[[nn.Module, Tensor, Tensor], Step]


def plain(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """Not private, in the layout that the data come in."""
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)

    def step() -> None:
        optimizer.zero_grad()
        cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return step


def plain_channels_last(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """Not private, the layout converted beforehand: the reference of every ratio."""
    return plain(model.to(memory_format=torch.channels_last), channels_last(inputs), targets)


def ours(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """The step that training takes."""
    flat, mechanism = FlatModel(model), dpsgd.build({"clip_norm": CLIP_NORM})
    optimizer = torch.optim.SGD([flat.flat], lr=RATE)
    normal = noise.Seeded("bench").normal

    def step() -> None:
        flat.flat.grad = mechanism.estimate(
            model,
            loss_fn,
            inputs,
            targets,
            noise_multiplier=NOISE_MULTIPLIER,
            expected_batch=len(targets),
            normal=normal,
        )
        optimizer.step()

    return step


def opacus(mode: str, model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """Opacus through make_private; its loss is a mean, its layout channels first."""
    from opacus import PrivacyEngine

    loader = torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(inputs, targets), batch_size=len(targets)
    )
    criterion = nn.CrossEntropyLoss()
    parts = PrivacyEngine().make_private(
        module=model,
        optimizer=torch.optim.SGD(model.parameters(), lr=RATE),
        criterion=criterion,
        data_loader=loader,
        noise_multiplier=NOISE_MULTIPLIER,
        max_grad_norm=CLIP_NORM,
        poisson_sampling=False,
        grad_sample_mode=mode,
    )
    model, optimizer = parts[:2]
    if mode == "ghost":
        criterion = parts[2]

    def step() -> None:
        optimizer.zero_grad()
        criterion(model(inputs), targets).backward()
        optimizer.step()

    return step


def functional(
    model: nn.Module, inputs: Tensor, targets: Tensor, transform: Callable = lambda f: f
) -> Step:
    """torch.func: vmap over the gradient of one example's loss."""
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return cross_entropy(functional_call(model, parameters, (x[None],)), y[None])

    @transform
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


CONTENDERS: dict[str, Contender] = {
    "non-private": plain,
    "ours": ours,
    "Opacus hooks": partial(opacus, "hooks"),
    "Opacus ghost": partial(opacus, "ghost"),
    "Opacus functorch": partial(opacus, "functorch"),
    "vmap(grad)": functional,
    "vmap(grad) compiled": partial(functional, transform=torch.compile),
}

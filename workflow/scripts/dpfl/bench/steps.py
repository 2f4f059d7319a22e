"""One training step, as each contender takes it: gradient, clip, sum, noise, SGD update.

A contender is a function of (model, inputs, targets) that returns a step without arguments. Its
steps are measured against those of the reference: CPU time, and peak memory.
"""

import itertools
import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, TensorDataset

from dpfl import models, plugins
from dpfl.api import fitness
from dpfl.draws import noise, streams
from dpfl.gradients import step as of_mechanisms
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.layout import channels_last
from dpfl.mechanisms import dpsgd, fsdp_central, fsdp_certified
from dpfl.training.federated import loss_fn
from dpfl.training.memory import keep_freed_memory

CLIP_NORM = NOISE_MULTIPLIER = 1.0
RATE, RANK = 1e-3, 50
SECONDS = 2.0  # of timed steps per cell
LEAST, MOST = 2, 200  # timed steps per cell
WARM_BATCH = 8

Step = Callable[[], None]


def plain(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """Not private, in the layout that the data come in."""
    return by_backward(model, sgd(model), cross_entropy, inputs, targets)


def plain_channels_last(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """Not private, the layout converted beforehand: the reference of every ratio."""
    return plain(model.to(memory_format=torch.channels_last), channels_last(inputs), targets)


def estimated(build: Callable[[], Any], model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """The step that training takes with a mechanism."""
    flat, mechanism, numbers = FlatModel(model), build(), itertools.count()
    optimizer = torch.optim.SGD([flat.flat], lr=RATE)
    given = (NOISE_MULTIPLIER, len(targets), noise.Seeded("bench").normal)
    free = (of_mechanisms.Public(inputs[:0], targets[:0]), partial(streams.rng, "bench"))

    def step() -> None:
        taken = of_mechanisms.Step(model, loss_fn, inputs, targets, *given, *free, next(numbers))
        flat.flat.grad = mechanism.estimate(taken)
        optimizer.step()

    return step


class NaiveCentral:
    """fsdp-central as one would write it down: all gradients written out, and their SVD."""

    def estimate(self, step: of_mechanisms.Step) -> Tensor:
        """Return the noisy mean gradient, flat [D]."""
        rows = step.gradients()[0].rows()
        u, s, h = torch.linalg.svd(rows, full_matrices=False)
        v, h = u[:, :RANK] * s[:RANK], h[:RANK]
        phi = rows - v @ h
        bounds = [float(part.norm(dim=1).mean()) for part in (v, phi)]
        v_noise = step.noise_multiplier * bounds[0] * step.normal(h.shape[0]).to(h)
        phi_noise = step.noise_multiplier * bounds[1] * step.normal(h.shape[1]).to(h)
        return ((v.sum(0) + v_noise) @ h + phi.sum(0) + phi_noise) / step.expected_batch


def made_private(model: nn.Module, loader: DataLoader, **how: Any) -> tuple:
    """Return what Opacus makes of a network: it, its optimizer and more, as `how` says."""
    from opacus import PrivacyEngine

    private = {"noise_multiplier": NOISE_MULTIPLIER, "max_grad_norm": CLIP_NORM, **how}
    made = {"module": model, "optimizer": sgd(model), "data_loader": loader}
    return PrivacyEngine().make_private(**made, **private)


def opacus(mode: str, model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """Opacus through make_private; its loss is a mean, its layout channels first."""
    loader, loss = DataLoader(TensorDataset(inputs, targets), len(targets)), nn.CrossEntropyLoss()
    how = {"criterion": loss, "poisson_sampling": False, "grad_sample_mode": mode}
    model, optimizer, *others = made_private(model, loader, **how)
    return by_backward(model, optimizer, others[0] if mode == "ghost" else loss, inputs, targets)


def functional(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """torch.func: vmap over the gradient of one example's loss."""
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters: dict[str, Tensor], x: Tensor, y: Tensor) -> Tensor:
        return cross_entropy(functional_call(model, parameters, (x[None],)), y[None])

    def step() -> None:
        grads = vmap(grad(loss), (None, 0, 0))(parameters, inputs, targets)
        norms = torch.stack([g.flatten(1).norm(dim=1) for g in grads.values()]).norm(dim=0)
        weights = (CLIP_NORM / norms).clamp(max=1)
        for name, own in grads.items():
            total = torch.tensordot(weights, own, 1)
            total += NOISE_MULTIPLIER * CLIP_NORM * torch.randn_like(total)
            parameters[name].sub_(total, alpha=RATE / len(targets))

    return step


def compared(model: nn.Module, inputs: Tensor, targets: Tensor) -> Step:
    """What dpfl.Private compares with its start before every step, and nothing else."""
    held = model, sgd(model), loss_fn
    return partial(fitness.require_same, fitness.marks(*held), *held)


def sgd(model: nn.Module) -> torch.optim.SGD:
    """Return the optimizer of every step."""
    return torch.optim.SGD(model.parameters(), lr=RATE)


def by_backward(model: nn.Module, optimizer: Any, loss: Callable, x: Tensor, y: Tensor) -> Step:
    """Return a step of the optimizer along the gradient of a loss."""

    def step() -> None:
        optimizer.zero_grad()
        loss(model(x), y).backward()
        optimizer.step()

    return step


FIXED = {"rule": "fixed", "clip_norm": CLIP_NORM}
REFERENCE = "non-private, channels last"
SPLIT: dict[str, Callable[[], Any]] = {
    "fsdp-central": partial(fsdp_central.build, {**FIXED, "rule": "fsdp-adaptive"}, rank=RANK),
    "fsdp-certified": partial(fsdp_certified.build, FIXED, rank=RANK),
    "fsdp-central, naive": NaiveCentral,
}
"""Mechanisms that take a gradient apart, by the name of their contender."""

CONTENDERS: dict[str, Callable[[nn.Module, Tensor, Tensor], Step]] = {
    REFERENCE: plain_channels_last,
    "non-private": plain,
    "ours": partial(estimated, partial(dpsgd.build, FIXED)),
    **{name: partial(estimated, build) for name, build in SPLIT.items()},
    "dpfl.Private, what a step compares": compared,
    "Opacus hooks": partial(opacus, "hooks"),
    "Opacus ghost": partial(opacus, "ghost"),
    "vmap(grad)": functional,
}


def measure(
    contender: str,
    dataset: str,
    model: str,
    batches: list[int],
    reference: str = REFERENCE,
    each: int = 1,
) -> Iterator[dict]:
    """Yield one row per batch size, smallest first, measured in this process.

    cpu_ms is the median process CPU time; ratio that median over the median of the reference's
    steps, taken in turns; peak_mb what a step needs above the process after a step on a tiny batch.
    Freed memory stays in the process, as in training. Steps are timed `each` at a time, so that
    what is done in every tenth alone is counted.
    """
    keep_freed_memory()
    build = CONTENDERS[contender]
    build(*_problem(dataset, model, WARM_BATCH))()
    warm = _memory_mb("VmRSS")
    for batch in sorted(batches):
        step = build(*_problem(dataset, model, batch))
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets VmHWM
        step()
        peak = _memory_mb("VmHWM") - warm
        other = CONTENDERS[reference](*_problem(dataset, model, batch))
        other()
        told = {"model": model, "contender": contender, "batch": batch}
        yield told | _pairs(step, other, each) | {"peak_mb": peak}


def _problem(dataset: str, model: str, batch: int) -> tuple:
    source = plugins.load("data", dataset)
    generator = streams.generator("bench", batch)
    inputs = torch.randn(batch, *source.SHAPE, generator=generator)
    if getattr(source, "DTYPE", "") == "int64":  # tokens, which cannot be made up
        inputs = torch.from_numpy(source.read(Path()).train_inputs[:batch])
    targets = torch.randint(source.CLASSES, (batch,), generator=generator)
    return models.build(model, generator, source.SHAPE, source.CLASSES), inputs, targets


def _pairs(step: Step, reference: Step, each: int) -> dict:
    taken, started = [], time.process_time()
    while len(taken) < LEAST or (len(taken) < MOST and time.process_time() - started < SECONDS):
        taken.append([cpu_seconds(one, each) for one in (step, reference)])
    ours, theirs = map(statistics.median, zip(*taken, strict=True))
    return {"steps": each * len(taken), "cpu_ms": 1e3 * ours, "ratio": ours / theirs}


def cpu_seconds(function: Step, calls: int = 1) -> float:
    """Return the mean CPU time of some calls in this process, all threads together."""
    started = time.process_time()
    for _ in range(calls):
        function()
    return (time.process_time() - started) / calls


def _memory_mb(field: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))

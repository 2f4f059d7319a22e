"""Where the draws of a private run of one's own come from, and what tells it from another run."""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor

from dpfl.draws import streams
from dpfl.draws.noise import SOURCES
from dpfl.gradients.flat import joined
from dpfl.gradients.step import Public
from dpfl.training.steps import Sources


def draws(seed: int | None, settings: Mapping[str, Any], seen: Mapping[str, Any]) -> Sources:
    """Return seeded draws, or, without a seed, secret ones whose key nobody has.

    Batches are those of the seed alone. Noise is that of the seed, the settings and what is `seen`
    of the run. Two runs with the same noise on other sums give away how the sums differ.
    """
    kind, key = ("secure", secrets.token_hex(32)) if seed is None else ("seeded", seed)
    noise = streams.noise_key({**settings, **seen})
    return Sources(SOURCES[kind], (key, "batch"), (key, "noise", noise))


def seen(
    model: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    public: Public,
) -> dict[str, Any]:
    """Return what a run begins with beside its settings, as far as it can be told apart."""
    groups = [
        {key: repr(value) for key, value in group.items() if key != "params"}
        for group in optimizer.param_groups
    ]
    return {
        "model": [str(model), _digest(joined(p.detach() for p in model.parameters()))],
        "optimizer": [type(optimizer).__qualname__, groups],
        "loss": _named(loss_fn),
        "public": [_digest(public.inputs), _digest(public.targets)],
    }


def _named(function: Callable) -> list[str]:
    """Return what a function is called; of a partial one its function's name and arguments.

    Of an object, such as a loss of torch.nn, its class and its plain attributes.
    """
    if isinstance(function, partial):
        return [*_named(function.func), repr(function.args), repr(function.keywords)]
    if hasattr(function, "__qualname__"):
        return [function.__qualname__]
    held = getattr(function, "__dict__", {})
    plain = {k: v for k, v in held.items() if isinstance(v, bool | float | int | str)}
    return [type(function).__qualname__, repr(sorted(plain.items()))]


def _digest(values: Tensor) -> str:
    return hashlib.sha256(values.detach().cpu().double().numpy().tobytes()).hexdigest()

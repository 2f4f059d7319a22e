"""Where the draws of a private run of one's own come from, and what tells it from another run."""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from dpfl.api.given_examples import Fetched, Tensors
from dpfl.draws import streams
from dpfl.draws.noise import SOURCES
from dpfl.gradients.facts import contents, kind, value_digest
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
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    public: Public,
    examples: Tensors | Fetched,
) -> dict[str, Any]:
    """Return what a run begins with beside its settings, as far as it can be told apart.

    Of a Dataset that is not in memory its length, what it holds, and the examples looked at.
    """
    groups = [
        {key: repr(value) for key, value in group.items() if key != "params"}
        for group in optimizer.param_groups
    ]
    return {
        "model": [str(model), value_digest(joined(p.detach() for p in model.parameters()))],
        "optimizer": [kind(optimizer), groups],
        "loss": repr(contents(loss_fn, "")),
        "public": [value_digest(public.inputs), value_digest(public.targets)],
        "examples": [examples.held(), *map(value_digest, examples.seen)],
    }


def about(settings: Mapping[str, Any], seen: Mapping[str, Any]) -> str:
    """Return what a state that is loaded must agree in: a digest of all but weights and rates."""
    examples, *_ = seen["examples"]  # not those looked at, which may be drawn anew
    own = {"network": seen["model"][0], "optimizer": seen["optimizer"][0], "loss": seen["loss"]}
    return streams.noise_key({**settings, **own, "public": seen["public"], "examples": examples})

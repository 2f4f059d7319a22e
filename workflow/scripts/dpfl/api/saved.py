"""What a run needs to go on from a step with the same bits, and that it never does so twice."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor

from dpfl.base.errors import UserError
from dpfl.draws.noise import SOURCES
from dpfl.training.steps import PrivateSteps, Sources

_TAKEN: dict[str, int] = {}
"""How many steps this process took of a run, by the run's name."""


def require_ahead(run: str, taken: int) -> None:
    """Raise UserError where this process took more steps of a run than are counted here."""
    if taken < _TAKEN.get(run, 0):
        raise UserError(
            f"the account is behind: {taken} steps are counted, but this process released "
            f"{_TAKEN[run]} of the run; the same noise would lie on other sums"
        )


def note(run: str, taken: int) -> None:
    """Note that this process has taken so many steps of a run."""
    _TAKEN[run] = max(taken, _TAKEN.get(run, 0))


def state_of(steps: PrivateSteps) -> dict[str, Any]:
    """Return what the steps need: keys of their draws, their count, what the mechanism holds."""
    kind = next(name for name, own in SOURCES.items() if own is steps.sources.draws)
    keys = list(steps.sources.batch_key), list(steps.sources.noise_key)
    return deepcopy({"draws": [kind, *keys], "held": _held(steps.mechanism), **steps.state()})


def sources_of(state: dict[str, Any]) -> Sources:
    """Return the draws of what `state_of` kept."""
    kind, batch_key, noise_key = state["draws"]
    return Sources(SOURCES[kind], tuple(batch_key), tuple(noise_key))


def restore(steps: PrivateSteps, state: dict[str, Any]) -> None:
    """Let new steps go on from what `state_of` kept."""
    steps.restore(state)
    for part, held in zip(_layers(steps.mechanism), state["held"], strict=True):
        vars(part).update(deepcopy(held))


def _held(mechanism: Any) -> list[dict[str, Tensor]]:
    """Return the tensors that a mechanism keeps within an epoch, and those of its parts."""
    layers = map(vars, _layers(mechanism))
    return [{k: v for k, v in own.items() if isinstance(v, torch.Tensor)} for own in layers]


def _layers(mechanism: Any) -> Iterator[Any]:
    """Yield a mechanism, its parts that forget at the end of an epoch, and what it wraps."""
    while mechanism is not None:
        yield mechanism
        held = vars(mechanism)
        wrapped = (held.get("inner"), held.get("_mechanism"))
        yield from (p for p in held.values() if hasattr(p, "forget") and p not in wrapped)
        mechanism = held.get("inner") or held.get("_mechanism")

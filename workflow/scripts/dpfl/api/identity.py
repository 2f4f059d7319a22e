"""What tells a run from another: the keys of its draws, and how many steps it has released.

Two runs with the same noise on other sums give away how the sums differ. So a run's noise has the
run's own key, and no step of it is released twice.
"""

import secrets
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from dpfl.api.given_examples import Examples
from dpfl.base.errors import UserError
from dpfl.draws import streams
from dpfl.draws.noise import SOURCES
from dpfl.gradients.facts import contents, kind, value_digest
from dpfl.gradients.flat import joined
from dpfl.gradients.losses import LossFunction
from dpfl.gradients.step import Public
from dpfl.training.steps import PrivateSteps, Sources

Held = tuple[nn.Module, Optimizer, LossFunction]
_TAKEN: dict[str, int] = {}
"""How many steps this process took of a run, by the run's name."""


def identify(
    seed: int | None, settings: Mapping[str, Any], held: Held, public: Public, examples: Examples
) -> tuple[str, Sources]:
    """Return what a state that is loaded must agree in, and the seeded draws of a run.

    The first is a digest of all but weights and rates. Batches are those of the seed alone. Noise
    is that of the seed, the settings, and what the run begins with. That is, of a Dataset that is
    not in memory, its length, what it holds, and the examples looked at. Without a seed draws are
    secret, and nobody has their key.
    """
    model, optimizer, loss_fn = held
    rates = [
        {key: repr(value) for key, value in group.items() if key != "params"}
        for group in optimizer.param_groups
    ]
    known = [value_digest(public.inputs), value_digest(public.targets)]
    both = {**settings, "loss": repr(contents(loss_fn, "")), "public": known}
    about = {"network": str(model), "optimizer": kind(optimizer), "examples": examples.held()}
    begun = {
        "model": [str(model), value_digest(joined(p.detach() for p in model.parameters()))],
        "optimizer": [about["optimizer"], rates],
        "examples": [about["examples"], *map(value_digest, examples.seen)],
    }
    draws, key = ("secure", secrets.token_hex(32)) if seed is None else ("seeded", seed)
    noise_key = (key, "noise", streams.noise_key(both | begun))
    return streams.noise_key(both | about), Sources(SOURCES[draws], (key, "batch"), noise_key)


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
    """Return what steps need to go on to the same bits: keys, counts, what the mechanism holds."""
    drawn = next(name for name, own in SOURCES.items() if own is steps.sources.draws)
    keys = list(steps.sources.batch_key), list(steps.sources.noise_key)
    tensors = [
        {name: value for name, value in vars(part).items() if isinstance(value, Tensor)}
        for part in _parts(steps.mechanism)
    ]
    return deepcopy({"draws": [drawn, *keys], "held": tensors, **steps.state()})


def sources_of(state: Mapping[str, Any]) -> Sources:
    """Return the draws of what `state_of` kept."""
    drawn, batch_key, noise_key = state["draws"]
    return Sources(SOURCES[drawn], tuple(batch_key), tuple(noise_key))


def restore(steps: PrivateSteps, state: Mapping[str, Any]) -> None:
    """Let new steps go on from what `state_of` kept."""
    steps.restore(state)
    for part, held in zip(_parts(steps.mechanism), state["held"], strict=True):
        vars(part).update(deepcopy(held))


def _parts(mechanism: Any) -> Iterator[Any]:
    """Yield a mechanism, its parts that forget at the end of an epoch, and what it wraps."""
    while mechanism is not None:
        yield mechanism
        held = vars(mechanism)
        wrapped = (held.get("inner"), held.get("_mechanism"))
        yield from (p for p in held.values() if hasattr(p, "forget") and p not in wrapped)
        mechanism = held.get("inner") or held.get("_mechanism")

"""Whether a network treats every example by itself, on which every certificate rests.

Clipping bounds what one example moves only if it enters nowhere but its own gradient. It must not
enter through the batch. Nor may it enter a buffer that outlives the batch and leaves with the
weights, without noise. BatchNorm does both.
"""

from copy import deepcopy

import torch
from torch import Tensor, nn

from dpfl.base.errors import UserError
from dpfl.gradients.layout import channels_last

_GIVEN = 3  # of the inputs are tried, and as many random ones beside them
_TOLERANCE = 1e-4  # of the largest output: far above float32's rounding through many layers


def require_example_wise(model: nn.Module, inputs: Tensor, name: str) -> None:
    """Raise UserError unless `model` treats each of `inputs` [n >= 2, ...] by itself in training.

    Refused is a network with parameters of less than float32, or with a random output. So is one
    that changes a buffer or a parameter in a forward pass. So is one whose output depends on the
    other examples of the batch. A few examples are tried, in a copy. The network and the global
    random state are left as they were. `name` is that of the network.
    """
    for key, parameter in model.named_parameters():
        if parameter.dtype not in (torch.float32, torch.float64):
            raise UserError(
                f"model {name}: {key!r} is of {parameter.dtype}, expected float32 or float64: with "
                "fewer digits a clipped sum may exceed its bound"
            )
    copy, batch = deepcopy(model).train(), _tried(inputs)
    on_gpu = [batch.device] if batch.is_cuda else []
    with torch.no_grad(), torch.random.fork_rng(on_gpu):
        outputs = _kept_nothing(copy, batch, name)
        for size in (len(batch) // 2, 1):
            parts = [_output(copy, part, name) for part in batch.split(size)]
            if not _alike(torch.cat(parts), outputs):
                raise UserError(_mixes(name))


def _tried(inputs: Tensor) -> Tensor:
    """Return some of the inputs and random ones, which differ where the inputs may not."""
    given = inputs[:_GIVEN]
    generator = torch.Generator().manual_seed(0)
    random = torch.randn(given.shape, generator=generator)
    return channels_last(torch.cat([given, random.to(given)]))


def _kept_nothing(model: nn.Module, batch: Tensor, name: str) -> Tensor:
    """Return the outputs; UserError if the pass leaves a trace in the model or draws at random."""
    before, state = _state(model), _random_state(batch.device)
    outputs = model(batch)
    _require_unchanged(before, _state(model), name)
    if not (torch.equal(_random_state(batch.device), state) and _alike(model(batch), outputs)):
        raise UserError(
            f"model {name}: its outputs are random or change from pass to pass; two passes over "
            "one batch must agree (no dropout)"
        )
    return outputs


def _random_state(device: torch.device) -> Tensor:
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


def _state(model: nn.Module) -> dict[str, Tensor]:
    named = [*model.named_buffers(), *model.named_parameters()]
    return {key: value.detach().clone() for key, value in named}


def _require_unchanged(before: dict[str, Tensor], after: dict[str, Tensor], name: str) -> None:
    for key, value in after.items():
        if key not in before or not torch.equal(value, before[key]):
            raise UserError(
                f"model {name}: a forward pass changes {key!r}; what a network keeps of its inputs "
                "leaves without noise (no running statistics)"
            )


def _output(model: nn.Module, part: Tensor, name: str) -> Tensor:
    try:
        return model(part)
    except (RuntimeError, ValueError) as error:  # such as BatchNorm's for one example
        raise UserError(_mixes(name)) from error


def _mixes(name: str) -> str:
    return (
        f"model {name}: its output for an example depends on the others of the batch; every "
        "example must be treated by itself (GroupNorm instead of BatchNorm)"
    )


def _alike(found: Tensor, expected: Tensor) -> bool:
    """Tell whether outputs are equal but for rounding; what is not finite must be so in both."""
    if found.shape != expected.shape:
        return False
    largest = expected[expected.isfinite()].abs().max().item() if expected.isfinite().any() else 0.0
    return torch.allclose(found, expected, rtol=0, atol=_TOLERANCE * largest, equal_nan=True)

"""Whether a network treats every example by itself, on which every certificate rests.

Clipping bounds what one example moves only if it enters nowhere but its own gradient. It must not
enter through the batch. Nor may it enter a buffer that outlives the batch and leaves with the
weights, without noise. BatchNorm does both.
"""

import torch
from torch import Tensor, nn

from dpfl.base.errors import UserError
from dpfl.gradients.drawn import copied, drawn_like
from dpfl.gradients.facts import changed, digest, facts
from dpfl.gradients.layout import channels_last

_GIVEN = 3  # of the inputs are tried, and as many random ones beside them
_ALONE = 8  # of a batch are tried one by one
_TOLERANCE = 1e-4  # of the largest output: far above float32's rounding through many layers


def require_example_wise(model: nn.Module, inputs: Tensor, name: str) -> None:
    """Raise UserError unless `model` treats each of `inputs` [n >= 2, ...] by itself in training.

    Refused is a network with parameters of less than float32, or with a random output. So is one
    that changes a buffer or a parameter in a forward pass. So is one whose output depends on the
    other examples of the batch. A few examples are tried, in a copy. The network and the global
    random state are left as they were. `name` is that of the network.
    """
    require_enough_digits(model, name)
    require_own_outputs(copied(model).train(), _tried(inputs), name)


def require_enough_digits(model: nn.Module, name: str) -> None:
    """Raise UserError for parameters of less than float32."""
    for key, parameter in model.named_parameters():
        if parameter.dtype not in (torch.float32, torch.float64):
            raise UserError(
                f"model {name}: {key!r} is of {parameter.dtype}, expected float32 or float64: with "
                "fewer digits a clipped sum may exceed its bound"
            )


def require_own_outputs(copy: nn.Module, batch: Tensor, name: str) -> Tensor:
    """Return the outputs of a batch [n >= 2, ...] of a network, a copy that nobody needs after.

    Tried are the batch whole, its halves, and some of it one by one. UserError as above.
    """
    on_gpu = [batch.device] if batch.is_cuda else []
    with torch.no_grad(), torch.random.fork_rng(on_gpu):
        outputs = _kept_nothing(copy, batch, name)
        some = spread(len(batch), _ALONE)
        for rows, size in ((torch.arange(len(batch)), len(batch) // 2), (some, 1)):
            rows = rows.to(batch.device)
            parts = [_output(copy, channels_last(part), name) for part in batch[rows].split(size)]
            if not alike(torch.cat(parts), outputs[rows]):
                raise UserError(_mixes(name))
    return outputs


def spread(total: int, wanted: int) -> Tensor:
    """Return at most this many numbers below a total, evenly spread."""
    return torch.linspace(0, total - 1, min(wanted, total), dtype=torch.float64).long()


def _tried(inputs: Tensor) -> Tensor:
    """Return some of the inputs and random ones, which differ where the inputs may not."""
    generator = torch.Generator().manual_seed(0)
    random = drawn_like(inputs, len(inputs[:_GIVEN]), generator)
    return channels_last(torch.cat([inputs[:_GIVEN], random]))


def _kept_nothing(model: nn.Module, batch: Tensor, name: str) -> Tensor:
    """Return the outputs; UserError if the pass leaves a trace in the model or draws at random."""
    tensors = {**dict(model.named_buffers()), **dict(model.named_parameters())}
    saved, held = facts(tensors, "", digest), facts(model, "", digest)
    state = _random_state(batch.device)
    outputs = model(batch)
    now = {**dict(model.named_buffers()), **dict(model.named_parameters())}
    _require_same(changed(saved, facts(now, "", digest)), name)
    after = facts(model, "", digest)
    if not (torch.equal(_random_state(batch.device), state) and alike(model(batch), outputs)):
        raise UserError(
            f"model {name}: its outputs are random or change from pass to pass; two passes over "
            "one batch must agree (no dropout)"
        )
    _require_same(changed(held, after), name)
    return outputs


def _require_same(found: str | None, name: str) -> None:
    if found is not None:
        raise UserError(
            f"model {name}: a forward pass changes {found!r}; what a network keeps of its inputs "
            "leaves without noise (no running statistics)"
        )


def _random_state(device: torch.device) -> Tensor:
    return torch.cuda.get_rng_state(device) if device.type == "cuda" else torch.get_rng_state()


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


def alike(found: Tensor, expected: Tensor) -> bool:
    """Tell whether outputs are equal but for rounding; what is not finite must be so in both."""
    if found.shape != expected.shape:
        return False
    largest = expected[expected.isfinite()].abs().max().item() if expected.isfinite().any() else 0.0
    return torch.allclose(found, expected, rtol=0, atol=_TOLERANCE * largest, equal_nan=True)

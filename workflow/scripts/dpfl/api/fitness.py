"""Whether a network, an optimizer and a loss that somebody gives fit private training."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from dpfl.base.errors import UserError

_TOLERANCE = 1e-4  # of the largest loss: far above float32's rounding


@contextmanager
def told_of(what: str) -> Iterator[None]:
    """Tell the errors of a network or a loss that is tried in one line, after `what` is tried."""
    try:
        yield
    except UserError:
        raise
    except (IndexError, RuntimeError, TypeError, ValueError) as error:
        raise UserError(f"{what}: {str(error).splitlines()[0]}") from error


def kind(tensor: Tensor) -> str:
    """Return the shape of one of a batch and its type, in words."""
    return f"{tuple(tensor.shape[1:])} of {tensor.dtype}"


def require_trains(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Raise UserError unless an optimizer trains all parameters of a network and nothing else.

    What else it held would move by gradients without noise. A closure is refused: it would look
    at the examples once more.
    """
    for name, p in model.named_parameters():
        if not p.requires_grad:
            raise UserError(
                f"model: {name!r} is frozen, but every parameter is trained; put what is frozen in "
                "front, as features"
            )
    own = {id(p) for p in model.parameters()}
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    if not own or own != held:
        raise UserError(
            f"optimizer: it holds {len(own & held)} of the model's {len(own)} parameters and "
            f"{len(held - own)} others; expected all of them and no others"
        )
    # Of the class: a scheduler of rates wraps that of the object.
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    if closure and closure.default is closure.empty:
        raise UserError(
            f"optimizer {type(optimizer).__name__}: its step() needs a closure, which would look "
            "at the examples again; expected one that needs none"
        )


def require_full_precision(device: torch.device) -> None:
    """Raise UserError where a GPU may round products to TF32: clipping compares norms with sums."""
    rounds = torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32
    if device.type == "cuda" and rounds:
        raise UserError(
            "TF32 is on, expected torch.backends.cudnn.allow_tf32 = False and "
            "torch.backends.cuda.matmul.allow_tf32 = False: in fewer digits clipping does not hold"
        )


def require_own_losses(
    loss_fn: Callable[[Tensor, Tensor], Tensor], outputs: Tensor, targets: Tensor
) -> None:
    """Raise UserError unless each of the losses [L] is that of its own example alone.

    Clipping bounds what one example moves only then. Tried on these outputs [L, ...] and on random
    ones in [0, 1), which may be probabilities. A scalar passes: it is taken of every example alone.
    """
    generator = torch.Generator().manual_seed(0)
    random = torch.rand(outputs.shape, generator=generator).to(outputs)
    outputs, targets = torch.cat([outputs, random]), torch.cat([targets, targets])
    with told_of(f"loss_fn on outputs {kind(outputs)} and targets {kind(targets)}"):
        losses = loss_fn(outputs, targets)
        if losses.dim() == 0:
            return
        if losses.shape != outputs.shape[:1]:
            raise UserError(
                f"loss_fn: it returns {tuple(losses.shape)} for {len(outputs)} examples; expected "
                f"({len(outputs)},) or a scalar"
            )
        pairs = zip(outputs.split(1), targets.split(1), strict=True)
        alone = torch.cat([loss_fn(*pair) for pair in pairs])
    slack = _TOLERANCE * float(alone.abs().max())
    if not torch.allclose(losses, alone, rtol=0, atol=slack, equal_nan=True):
        raise UserError(
            "loss_fn: the loss of an example depends on the others of the batch; expected that of "
            "each alone (reduction='none', nothing divided by the size of the batch)"
        )

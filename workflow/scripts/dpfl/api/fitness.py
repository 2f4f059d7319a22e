"""Whether a network, an optimizer and a loss that somebody gives fit private training."""

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy

import torch
from torch import Tensor, nn

from dpfl.base.errors import UserError
from dpfl.gradients.example_wise import alike, spread
from dpfl.gradients.facts import changed, digest, facts

_ALONE = 64  # examples whose loss is taken alone
_VALUES = 100  # targets that are no class are tried

_TOLD = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

Loss = Callable[[Tensor, Tensor], Tensor]


@contextmanager
def told_of(what: str) -> Iterator[None]:
    """Tell the errors of a network or a loss that is tried in one line, after `what` is tried."""
    try:
        yield
    except UserError:
        raise
    except _TOLD as error:
        raise UserError(f"{what}: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def kind(tensor: Tensor) -> str:
    """Return the shape of one of a batch and its type, in words."""
    return f"{tuple(tensor.shape[1:])} of {tensor.dtype}"


def require_trains(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Raise UserError unless an optimizer holds what a network trains, and nothing else.

    What else it held would move by gradients without noise. A closure is refused: it would look
    at the examples once more.
    """
    for name, p in model.named_parameters():
        if nn.parameter.is_lazy(p):
            raise UserError(f"model: {name!r} has no shape yet; run it once on inputs of your own")
    own = {id(p) for p in model.parameters() if p.requires_grad}
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    frozen = {id(p) for p in model.parameters()} & held - own
    if not own or own != held:
        hint = f" ({len(frozen)} of them frozen)" if frozen else ""
        raise UserError(
            f"optimizer: it holds {len(own & held)} of the model's {len(own)} parameters and "
            f"{len(held - own)} others{hint}; expected all of them and no others"
        )
    # Of the class: a scheduler of rates wraps that of the object.
    closure = inspect.signature(type(optimizer).step).parameters.get("closure")
    if closure and closure.default is closure.empty:
        raise UserError(
            f"optimizer {type(optimizer).__name__}: its step() needs a closure, which would look "
            "at the examples again; expected one that needs none"
        )


def require_full_precision(device: torch.device) -> None:
    """Raise UserError where products may be rounded: clipping compares norms with sums.

    Also in inference mode, in which nothing has a gradient.
    """
    precision = torch.get_float32_matmul_precision()
    if precision != "highest":
        raise UserError(
            f"float32_matmul_precision is {precision!r}, expected 'highest': in fewer digits "
            "clipping does not hold"
        )
    rounds = torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32
    if device.type == "cuda" and rounds:
        raise UserError(
            "TF32 is on, expected torch.backends.cudnn.allow_tf32 = False and "
            "torch.backends.cuda.matmul.allow_tf32 = False: in fewer digits clipping does not hold"
        )
    if torch.is_inference_mode_enabled():
        raise UserError("inference mode is on, expected off: in it there are no gradients")


def classes(loss_fn: Loss, outputs: Tensor, targets: Tensor) -> int | None:
    """Return how many classes targets are numbers of, as outputs [L, k, ...] and the loss tell.

    None where the loss takes other targets. UserError for one of `targets` [n, ...] that is no
    class and that the loss does not take. Tried on the CPU: a GPU would not go on afterwards.
    """
    if targets.is_floating_point() or targets.is_complex() or outputs.dim() < 2:
        return None
    loss = deepcopy(loss_fn).cpu() if isinstance(loss_fn, nn.Module) else loss_fn
    output, like = outputs[:1].cpu(), targets[:1].cpu()
    count = output.shape[1]

    def taken(value: int) -> bool:
        try:
            loss(output, torch.full_like(like, value))
        except (IndexError, RuntimeError, TypeError, ValueError):
            return False
        return True

    if not taken(count - 1) or taken(count):
        return None
    values = targets.unique().tolist()
    for value in [v for v in values if not 0 <= v < count][:_VALUES]:
        if not taken(value):
            words = "0 or 1" if count == 2 else f"0 to {count - 1}"
            raise UserError(f"targets: found {value}, expected {words}")
    return count


def require_own_losses(loss_fn: Loss, outputs: Tensor, targets: Tensor) -> None:
    """Raise UserError unless each of the losses [L] is that of its own example alone.

    Clipping bounds what one example moves only then. Tried on these outputs [L, ...] and on random
    ones in [0, 1), which may be probabilities. A scalar passes: it is taken of every example alone.
    A loss that keeps anything of a batch is refused.
    """
    random = torch.rand(outputs.shape, generator=torch.Generator().manual_seed(0)).to(outputs)
    before = facts(loss_fn, "", digest)
    with told_of(f"loss_fn on outputs {kind(outputs)} and targets {kind(targets)}"):
        for tried in (outputs, random):
            _require_own_losses(loss_fn, tried, targets)
    if (name := changed(before, facts(loss_fn, "", digest))) is not None:
        raise UserError(f"loss_fn: a call changes {name!r}, expected a loss that keeps nothing")


def _require_own_losses(loss_fn: Loss, outputs: Tensor, targets: Tensor) -> None:
    losses = loss_fn(outputs, targets)
    if losses.dim() == 0:
        return
    if losses.shape != outputs.shape[:1]:
        raise UserError(
            f"loss_fn: it returns {tuple(losses.shape)} for {len(outputs)} examples; expected "
            f"({len(outputs)},) or a scalar"
        )
    some = spread(len(outputs), _ALONE).to(outputs.device)
    batch = outputs[some], targets[some]
    for size in (len(some) // 2, 1):
        pairs = zip(*(part.split(size) for part in batch), strict=True)
        alone = torch.cat([loss_fn(*pair) for pair in pairs])
        if not alike(losses[some], alone):
            raise UserError(
                "loss_fn: the loss of an example depends on the others of the batch; expected that "
                "of each alone (reduction='none', nothing divided by the size of the batch)"
            )

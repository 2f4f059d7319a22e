"""Whether a network, an optimizer and a loss that somebody gives fit private training, and stay so.

The checks hold for what was there. A layer that is replaced, a hook, another dtype or a switched
mode could mix examples, or move a weight without noise: `marks` of a run tell it.
"""

import inspect
from typing import Any

from torch import Tensor, nn
from torch.nn.modules import module as torch_module
from torch.optim import Optimizer

from dpfl.base.errors import UserError
from dpfl.gradients.facts import Facts, Same, changed, facts
from dpfl.gradients.losses import LossFunction

_GLOBAL = [name for name in vars(torch_module) if name.startswith("_global_") and "hooks" in name]
_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")


def require_trains(model: nn.Module, optimizer: Optimizer) -> None:
    """Raise UserError unless an optimizer holds what a network trains, and nothing else.

    What else it held would move by gradients without noise. A closure is refused: it would look
    at the examples once more.
    """
    for name, p in model.named_parameters():
        if nn.parameter.is_lazy(p):
            raise UserError(f"model: {name!r} has no shape yet; run it once on inputs of your own")
    own = {id(p) for p in model.parameters() if p.requires_grad}
    held = {id(p) for group in optimizer.param_groups for p in group["params"]}
    if not own or own != held:
        frozen = len({id(p) for p in model.parameters()} & held - own)
        hint = f" ({frozen} of them frozen)" if frozen else ""
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


def marks(model: nn.Module, optimizer: Optimizer, loss_fn: LossFunction) -> Facts:
    """Return what a step must find as it was when a network, an optimizer and a loss were tried."""
    held = {
        "is": Same(optimizer),
        "groups": [group["params"] for group in optimizer.param_groups],
        "hooks": [getattr(optimizer, name, None) for name in _HOOKS],
    }
    hooks = {name: vars(torch_module)[name] for name in _GLOBAL}
    parts = {"model": model, "optimizer": held, "loss_fn": loss_fn, "torch": hooks}
    return facts(parts, "", _mark)


def require_same(before: Facts, *given: Any) -> None:
    """Raise UserError unless network, optimizer and loss have the `marks` that they had before."""
    if (name := changed(before, marks(*given))) is not None:
        raise UserError(
            f"{name}: it is not what it was when Private was made, and checked; nothing was charged"
        )


def _mark(tensor: Tensor) -> tuple:
    """Return what tells a tensor from another; steps may write into parameters, not into others."""
    kept = isinstance(tensor, nn.Parameter) or tensor.is_inference()
    written = None if kept else (tensor._version, tensor.data_ptr())
    return Same(tensor), written, tensor.shape, tensor.dtype, tensor.device, tensor.requires_grad

"""What a run was checked with at its start, and whether a step still finds it.

The checks hold for what was there. A layer that is replaced, a hook, another dtype or a switched
mode could mix examples, or move a weight without noise.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_module

from dpfl.base.errors import UserError
from dpfl.gradients.facts import Facts, Same, changed, facts

_GLOBAL = [name for name in vars(torch_module) if name.startswith("_global_") and "hooks" in name]
_HOOKS = ("_optimizer_step_pre_hooks", "_optimizer_step_post_hooks")


class Registered:
    """A network, an optimizer and a loss as they are now."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: Any):
        self._found = _found(model, optimizer, loss_fn)

    def require_same(
        self, model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: Any
    ) -> None:
        """Raise UserError, with the name of what is not as it was."""
        if (name := changed(self._found, _found(model, optimizer, loss_fn))) is not None:
            raise UserError(
                f"{name}: it is not what it was when Private was made, and checked; nothing was "
                "charged"
            )


def _found(model: nn.Module, optimizer: torch.optim.Optimizer, loss_fn: Any) -> Facts:
    held = {
        "is": Same(optimizer),
        "groups": [group["params"] for group in optimizer.param_groups],
        "hooks": [getattr(optimizer, name, None) for name in _HOOKS],
    }
    hooks = {name: vars(torch_module)[name] for name in _GLOBAL}
    return {
        **facts(model, "model", _tensor),
        **facts(held, "optimizer", _tensor),
        **facts(loss_fn, "loss_fn", _tensor),
        **facts(hooks, "torch", _tensor),
    }


def _tensor(tensor: Tensor) -> tuple:
    """Return what tells a tensor from another; steps may write into parameters, not into others."""
    kept = isinstance(tensor, nn.Parameter) or tensor.is_inference()
    written = None if kept else (tensor._version, tensor.data_ptr())
    return Same(tensor), written, tensor.shape, tensor.dtype, tensor.device, tensor.requires_grad

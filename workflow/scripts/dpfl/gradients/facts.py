"""What a network, a loss or a data set is made of, as names and values that can be compared.

One walk over an object answers three questions. Does a pass leave a trace in it? Is it still what
it was when a run began? Is it the same as in another run?
"""

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

_HELD = (dict, list, tuple, set, frozenset)
PLAIN = {bool, int, float, complex, str, bytes, type(None), torch.dtype, torch.device, range}
_ARRAYS, _WRAPPERS = (np.ndarray, np.generic), (partial, MethodType)
_HELD_BY_LAYERS = {dict, OrderedDict}
_INSIDE = {"_parameters", "_buffers", "_modules"}

Facts = dict[str, Any]


class Same:
    """Equal to what holds the very same object; it holds it, so that none takes its place."""

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value


def digest(tensor: Tensor) -> str:
    """Return a digest of a tensor's type, shape and bytes."""
    stored = tensor.detach().cpu().contiguous()
    found = hashlib.sha256(f"{stored.dtype} {tuple(stored.shape)}".encode())
    found.update(stored.reshape(-1).view(torch.uint8).numpy())
    return found.hexdigest()


def value_digest(tensor: Tensor) -> str:
    """Return a digest of a tensor's shape and numbers, the same for float32 and float64."""
    found = hashlib.sha256(f"{tuple(tensor.shape)}".encode())
    for part in tensor.detach().reshape(-1).split(2**20):
        found.update(part.cpu().double().numpy())
    return found.hexdigest()


def kind(value: object) -> str:
    """Return the name of an object's class, or of the function that it is."""
    named = value if hasattr(value, "__qualname__") else type(value)
    return f"{named.__module__}.{named.__qualname__}"


def facts(
    value: Any, name: str, tensor: Callable[[Tensor], Any], mark: Callable[[Any], Any] = Same
) -> Facts:
    """Return what can be compared of an object by name: plain values, tensors, what it consists of.

    `tensor` and `mark` say what is kept of tensors and of objects. Networks are followed to their
    last layer, other objects one level down: what these hold is marked.
    """
    walk = _Walk(tensor, mark)
    walk.take(value, name, 0)
    return walk.found


def contents(value: Any, name: str) -> Facts:
    """Return the same in any process: digests of tensors and arrays, names of classes."""
    return facts(value, name, digest, kind)


def changed(before: Facts, after: Facts) -> str | None:
    """Return the name of the first fact that differs, None if all are equal."""
    if before == after:
        return None
    for name in {**before, **after}:
        if name not in before or name not in after or before[name] != after[name]:
            return name.lstrip(".")
    return None


@dataclass
class _Walk:
    """One walk over an object: a step of a run takes it, so it must be quick."""

    tensor: Callable[[Tensor], Any]
    mark: Callable[[Any], Any]
    found: Facts = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)

    def take(self, value: Any, name: str, depth: int) -> None:
        """Note a value and what it holds; `depth` counts the objects around it, but networks."""
        if type(value) in PLAIN:
            self.found[name] = value
        elif isinstance(value, _HELD):
            parts = value.items() if isinstance(value, dict) else enumerate(value)
            for key, part in parts:
                self.take(part, f"{name}.{key}", depth)
        elif isinstance(value, Tensor):
            self.found[name] = self.tensor(value)
        elif isinstance(value, _ARRAYS):
            held = hashlib.sha256(value.tobytes()).hexdigest()
            self.found[name] = value.dtype.str, value.shape, held
        else:
            self._follow(value, name, depth)

    def _follow(self, value: Any, name: str, depth: int) -> None:
        self.found[name] = value if isinstance(value, Same) else self.mark(value)
        network, wraps = isinstance(value, nn.Module), isinstance(value, _WRAPPERS)
        if id(value) in self.seen or not (network or depth == 0):
            return
        self.seen.add(id(value))
        if network:
            self.found[f"{name}.forward"] = self.mark(type(value).forward)
        for key, part in _attributes(value).items():
            if type(part) not in _HELD_BY_LAYERS or part:  # most have no hooks
                inner = name if network and key in _INSIDE else f"{name}.{key}"
                self.take(part, inner, depth + (not (network or wraps)))


def _attributes(value: Any) -> dict[str, Any]:
    """Return what an object holds; of a function what it reads that is plain, or made of such."""
    if isinstance(value, partial):
        return {"func": value.func, "args": value.args, "keywords": value.keywords}
    if isinstance(value, MethodType):
        return {"func": value.__func__, **_attributes(value.__self__)}
    if isinstance(value, FunctionType):
        code, cells = value.__code__, value.__closure__ or ()
        found = {name: value.__globals__.get(name) for name in code.co_names}
        found |= dict(zip(code.co_freevars, (cell.cell_contents for cell in cells), strict=True))
        found |= {"code": code.co_code, "constants": code.co_consts, **vars(value)}
        found |= {"defaults": value.__defaults__, "keywords": value.__kwdefaults__}
        followed = (*_HELD, Tensor)
        return {k: v for k, v in found.items() if type(v) in PLAIN or isinstance(v, followed)}
    return {} if isinstance(value, type | Same) else getattr(value, "__dict__", {})

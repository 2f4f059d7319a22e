"""Differentially private federated learning: estimators, optimizers, training, verdicts."""

from importlib import import_module
from typing import Any

__all__ = ["Private", "compose"]

_ROOMS = {"Private": "dpfl.api.private", "compose": "dpfl.api.composition"}


def __getattr__(name: str) -> Any:
    """Import what is offered when it is asked for: most jobs need no torch, which takes seconds."""
    if name not in _ROOMS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_ROOMS[name]), name)

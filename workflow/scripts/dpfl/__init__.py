"""Differentially private federated learning: estimators, optimizers, training, verdicts."""

from importlib import import_module
from typing import Any

__all__ = ["Private", "compose"]


def __getattr__(name: str) -> Any:
    """Import what is offered when it is asked for: most jobs need no torch, which takes seconds."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("dpfl.api.private"), name)

"""Differentially private federated learning: estimators, optimizers, training, verdicts."""

from importlib import import_module
from typing import Any

__all__ = ["Private"]


def __getattr__(name: str) -> Any:
    """Import Private when it is asked for: most jobs need no torch, which takes seconds."""
    if name != "Private":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("dpfl.api.private").Private

"""The plug-ins of a private run of one's own, as somebody names them: checked as a run's are."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.mechanisms.parts.fitting import Parts, misfits, needs_public, unknown_noise
from dpfl.planning.methods import PLUG_INS, named
from dpfl.plugins import declarations

Part = str | Mapping[str, Any]
"""A plug-in by the name of its file, or {"uses": name, setting: value, ...}."""


def of_method(
    mechanism: Part, clipping: float | Part, public: Any, microbatch: int | None = None
) -> Parts:
    """Return the settings of mechanism and clipping; UserError if they do not go together."""
    clipping = plain(clipping)
    fixed = isinstance(clipping, int | float) and not isinstance(clipping, bool)
    rule = {"uses": "fixed", "clip_norm": float(clipping)} if fixed else clipping
    parts = {
        "mechanism": _entry("mechanism", mechanism),
        "clipping": _entry("clipping", rule),
    }
    estimator = parts["mechanism"]["estimator"]
    if plugins.constant("mechanisms", estimator, "UNIT") != "example":
        raise UserError(f"mechanism: {estimator} protects clients; expected one for examples")
    if microbatch and plugins.constant("mechanisms", estimator, "OWN_GRADIENTS"):
        raise UserError(f"microbatch: {estimator} differentiates by itself; expected none with it")
    for found in misfits(parts):
        raise UserError(f"mechanism: {estimator} {found}")
    if needs_public(parts["mechanism"]) and public is None:
        raise UserError(f"public: {estimator} uses public examples; expected inputs and targets")
    return {kind: _checked(kind, own) for kind, own in parts.items()}


def require_known_noise(parts: Parts, optimizer: torch.optim.Optimizer) -> None:
    """Refuse an optimizer that asks for the noise of a step where nobody can tell it."""
    if hasattr(optimizer, "tell_noise"):
        for found in unknown_noise(parts, type(optimizer).__name__):
            raise UserError(f"mechanism: {parts['mechanism']['estimator']} {found}")


def of_budget(budget: Part) -> dict[str, Any]:
    """Return the settings of a budget; UserError for one that its file does not take, or lacks."""
    return _checked("budget", _entry("budget", budget))


def plain(value: Any) -> Any:
    """Return a setting with numbers of Python in the place of those of numpy."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value


def _entry(kind: str, part: Part) -> dict[str, Any]:
    """Return a plug-in with its settings as a run names them."""
    part = plain(part)
    entry = {"uses": part} if isinstance(part, str) else part
    if not (isinstance(entry, Mapping) and "uses" in entry):
        raise UserError(f'{kind}: found {part!r}, expected a name or {{"uses": name, ...}}')
    return named(kind, dict(entry))


def _checked(kind: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return a plug-in's settings; UserError for one that its file does not take, or lacks."""
    package, key = PLUG_INS[kind]
    for name, near in declarations.wrong_settings(package, entry[key], entry.keys() - {key}):
        told = f"unknown setting {name!r}; {near}" if near else f"the setting {name!r} is missing"
        raise UserError(f"{kind} {entry[key]}: {told}")
    return entry

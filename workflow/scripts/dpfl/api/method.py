"""The plug-ins of a private run of one's own, as somebody names them: checked as a run's are."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from torch.optim import Optimizer

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.mechanisms.parts.fitting import Parts, misfits, needs_public, unknown_noise
from dpfl.planning.methods import PLUG_INS, named
from dpfl.plugins import declarations

Part = str | Mapping[str, Any]
"""A plug-in by the name of its file, or {"uses": name, setting: value, ...}."""


def method(
    mechanism: Part, clipping: float | Part, optimizer: Optimizer, public: bool, microbatch: bool
) -> Parts:
    """Return the settings of mechanism and clipping; UserError if they do not go together.

    Also with an optimizer that asks for the noise of a step where nobody can tell it. Also for a
    mechanism that uses `public` examples, if there are none, and for one that differentiates by
    itself where a `microbatch` is asked for.
    """
    norm = plain(clipping)
    if isinstance(norm, int | float) and not isinstance(norm, bool):
        clipping = {"uses": "fixed", "clip_norm": float(norm)}
    own = plug_in("mechanism", mechanism)
    parts, estimator = (
        {"mechanism": own, "clipping": plug_in("clipping", clipping)},
        own["estimator"],
    )
    if plugins.constant("mechanisms", estimator, "UNIT") != "example":
        raise UserError(f"mechanism: {estimator} protects clients; expected one for examples")
    if microbatch and plugins.constant("mechanisms", estimator, "OWN_GRADIENTS"):
        raise UserError(f"microbatch: {estimator} differentiates by itself; expected none with it")
    for found in misfits(parts):
        raise UserError(f"mechanism: {estimator} {found}")
    for found in unknown_noise(parts, type(optimizer).__name__):
        if hasattr(optimizer, "tell_noise"):
            raise UserError(f"mechanism: {estimator} {found}")
    if needs_public(own) and not public:
        raise UserError(f"public: {estimator} uses public examples; expected inputs and targets")
    return parts


def plug_in(kind: str, part: Part) -> dict[str, Any]:
    """Return a plug-in with its settings as a run names them.

    UserError for a setting that its file does not take, or lacks.
    """
    part = plain(part)
    entry = {"uses": part} if isinstance(part, str) else part
    if not (isinstance(entry, Mapping) and "uses" in entry):
        raise UserError(f'{kind}: found {part!r}, expected a name or {{"uses": name, ...}}')
    package, key = PLUG_INS[kind]
    found = named(kind, dict(entry))
    for name, near in declarations.wrong_settings(package, found[key], found.keys() - {key}):
        wrong = f"unknown setting {name!r}; {near}" if near else f"the setting {name!r} is missing"
        raise UserError(f"{kind} {found[key]}: {wrong}")
    return found


def plain(value: Any) -> Any:
    """Return a setting with numbers of Python in the place of those of numpy."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value.item() if isinstance(value, np.generic) else value

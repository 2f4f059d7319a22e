"""What the hyperparameters of optimizers must be; light, so that a configuration is checked too."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from dpfl.errors import UserError

# What a setting must be, in words and as a test; NaN and text fail every test of a number.
LIMITS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "lr": ("a finite number, at least 0", lambda x: 0 <= x < math.inf),
    "momentum": ("a number in [0, 1)", lambda x: 0 <= x < 1),
    "beta1": ("a number in [0, 1)", lambda x: 0 <= x < 1),
    "betas": ("two numbers in [0, 1)", lambda x: len(x) == 2 and all(0 <= b < 1 for b in x)),
    "eps": ("a finite number above 0", lambda x: 0 < x < math.inf),
    "final_lr": ("a finite number above 0", lambda x: 0 < x < math.inf),
    "gamma": ("null or a finite number above 0", lambda x: x is None or 0 < x < math.inf),
    "bounds": ("true or false", lambda x: isinstance(x, bool)),
    "eps_in_second_moment": ("true or false", lambda x: isinstance(x, bool)),
    "order": ("clip-first or adabound", lambda x: x in ("clip-first", "adabound")),
}


def check(settings: Mapping[str, Any]) -> None:
    """Raise UserError with name, value and bound for the first setting outside its LIMITS."""
    for name in [name for name in LIMITS if name in settings]:
        expected, holds = LIMITS[name]
        try:
            valid = holds(settings[name])
        except TypeError:
            valid = False
        if not valid:
            raise UserError(f"optimizer: {name} is {settings[name]!r}; it must be {expected}")

"""What the settings of components must be; light, so that a configuration is checked too."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from dpfl.errors import UserError

Limit = tuple[str, Callable[[Any], bool]]


def _whole(least: int) -> Limit:
    def holds(x: Any) -> bool:
        return isinstance(x, int) and not isinstance(x, bool) and x >= least

    return f"a whole number >= {least}", holds


def _one_of(*names: str) -> Limit:
    return " or ".join(names), lambda x: isinstance(x, str) and x in names


def _number(x: Any) -> bool:
    return not isinstance(x, bool) and 0 < x < math.inf


POSITIVE: Limit = ("a finite number above 0", _number)
SHARE: Limit = ("a number in [0, 1)", lambda x: 0 <= x < 1)
SWITCH: Limit = ("true or false", lambda x: isinstance(x, bool))

# What a setting must be, in words and as a test; NaN and text fail every test of a number. Settings
# that are not listed, such as those of new plug-ins, are checked by nobody but their `build`.
LIMITS: dict[str, dict[str, Limit]] = {
    "optimizer": {
        "lr": ("a finite number, at least 0", lambda x: 0 <= x < math.inf),
        "momentum": SHARE,
        "beta1": SHARE,
        "betas": ("two numbers in [0, 1)", lambda x: len(x) == 2 and all(0 <= b < 1 for b in x)),
        "eps": POSITIVE,
        "final_lr": POSITIVE,
        "gamma": ("null or a finite number above 0", lambda x: x is None or 0 < x < math.inf),
        "bounds": SWITCH,
        "eps_in_second_moment": SWITCH,
        "order": _one_of("clip-first", "adabound"),
    },
    "mechanism": {
        "rank": _whole(0),
        "solver": _one_of("gram", "funk"),
        "reading": _one_of("rows", "matrix"),
        "relevance": SWITCH,
        "basis": _one_of("noise-images", "public", "random"),
        "basis_examples": _whole(1),
        "basis_every": _whole(1),
        "candidates": (
            "a list of numbers above 0",
            lambda x: isinstance(x, list | tuple) and len(x) > 0 and all(map(_number, x)),
        ),
        "trial_rate": POSITIVE,
    },
    "clipping": {
        "clip_norm": POSITIVE,
        "quantile": ("a number in (0, 1)", lambda x: 0 < x < 1),
        "rate": POSITIVE,
        "count_noise": ("null or a finite number above 0", lambda x: x is None or _number(x)),
    },
    "budget": {
        "shape": _one_of("geometric", "linear"),
        "ratio": ("a finite number, at least 1", lambda x: 1 <= x < math.inf),
        "save": ("a number in (0, 1]", lambda x: 0 < x <= 1),
        "spend": ("a finite number, at least 1", lambda x: 1 <= x < math.inf),
        "agreement": ("a number in [-1, 1]", lambda x: -1 <= x <= 1),
        "noise_multiplier": POSITIVE,
    },
}


def check(component: str, settings: Mapping[str, Any]) -> None:
    """Raise UserError with name, value and bound for the first setting outside its LIMITS."""
    limits = LIMITS.get(component, {})
    for name in [name for name in limits if name in settings]:
        expected, holds = limits[name]
        try:
            valid = holds(settings[name])
        except TypeError:
            valid = False
        if not valid:
            raise UserError(f"{component}: {name} is {settings[name]!r}; it must be {expected}")

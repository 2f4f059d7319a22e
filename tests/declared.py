"""Values of settings, from what plug-ins declare of them: for suites that name no plug-in."""

import inspect
from collections.abc import Iterator
from typing import Any

from dpfl import plugins
from dpfl.contracts import bounds
from dpfl.plugins.declarations import FUNCTIONS

CANDIDATES = (0.5, 2, 0.25, 1.5, (0.8, 0.99), (0.5, 1.5), "sgd", ("2",))


def parameters(package: str, name: str) -> dict[str, inspect.Parameter]:
    """Return the settings that a plug-in's function takes."""
    function, given = FUNCTIONS[package]
    taken = inspect.signature(getattr(plugins.load(package, name), function)).parameters
    return dict(list(taken.items())[given:])


def required(package: str, name: str) -> dict[str, Any]:
    """Return a value for every setting that has no default."""
    return {
        setting: another(package, name, setting, None)
        for setting, parameter in parameters(package, name).items()
        if parameter.default is parameter.empty
    }


def another(package: str, name: str, setting: str, than: Any) -> Any:
    """Return a value of a setting other than one, within its declared bound (or a number)."""
    declared = plugins.constant(package, name, "SETTINGS")
    bound = bounds.parse(declared.get(setting, "number"))
    within = (value for value in (*bound.choices, *CANDIDATES) if bound.holds(value))
    return next(value for value in within if value != than)


def choices(package: str, name: str) -> Iterator[tuple[str, Any]]:
    """Yield every value but the default of the settings that have a few."""
    declared = plugins.constant(package, name, "SETTINGS")
    defaults = {key: parameter.default for key, parameter in parameters(package, name).items()}
    for setting, bound in declared.items():
        for value in bounds.parse(bound).choices:
            if value != defaults[setting]:
                yield setting, value


def others(package: str, name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Return another value than the given or usual one for every number among the settings."""
    few = {setting for setting, _ in choices(package, name)} | {"clip_norm"}
    usual = {key: one.default for key, one in parameters(package, name).items() if key not in few}
    told = {key: given.get(key, value) for key, value in usual.items()}
    return {k: another(package, name, k, v) for k, v in told.items() if v is not None}

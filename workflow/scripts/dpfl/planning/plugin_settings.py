"""Checks that every plug-in named in a configuration exists and takes the settings it is given.

Signatures are read from the source: importing a plug-in would cost two CPU seconds.
"""

import ast
from collections.abc import Iterator

from dpfl import limits, plugins
from dpfl.errors import UserError
from dpfl.hints import nearest

# section: package, key that names the file, its function, how many arguments the workflow gives
TAKERS = {
    "partitions": ("partitions", "scheme", "assign", 3),
    "mechanisms": ("mechanisms", "estimator", "build", 1),
    "clippings": ("clippings", "rule", "build", 0),
    "budgets": ("privacy/budgets", "strategy", "schedule", 2),
    "optimizers": ("optimizers", "algorithm", "build", 1),
}


def plugin_errors(config: dict) -> Iterator[str]:
    """Find plug-in files that do not exist, and settings that their `build` does not take."""
    for package, name, where in _named(config):
        try:
            plugins.path_of(package, name)
        except UserError as error:
            yield f"config: {where}: {error}"
            return
    for section in TAKERS:
        for name, entry in config[section].items():
            yield from _setting_errors(section, name, entry)
    for name, analysis in config["accounting"].items():
        try:
            plugins.load("analyses", analysis["analysis"]).check(analysis["settings"])
        except UserError as error:
            yield f"config: accounting.{name}.settings: {error}"
    for name, optimizer in config["optimizers"].items():
        yield from _optimizer_errors(config, name, optimizer)
    for section in ("mechanisms", "clippings", "budgets"):
        for name, entry in config[section].items():
            yield from _limit_errors(section, name, entry)


def _named(config: dict) -> list[tuple[str, str, str]]:
    """Return every plug-in that a configuration names: package, name, and where it stands."""
    return [
        ("privacy/accountants", config["accountant"], "accountant"),
        *(("data", d, f"models.{d}") for d in config["models"]),
        *(("models", m, f"models.{d}") for d, m in config["models"].items()),
        *(
            ("models", m, f"studies.{n}.vary.model")
            for n, s in config["studies"].items()
            for m in s.get("vary", {}).get("model", [])
        ),
        *(("partitions", p["scheme"], f"partitions.{n}") for n, p in config["partitions"].items()),
        *(
            ("mechanisms", m["estimator"], f"mechanisms.{n}")
            for n, m in config["mechanisms"].items()
        ),
        *(("clippings", c["rule"], f"clippings.{n}") for n, c in config["clippings"].items()),
        *(("privacy/budgets", b["strategy"], f"budgets.{n}") for n, b in config["budgets"].items()),
        *(("analyses", a["analysis"], f"accounting.{n}") for n, a in config["accounting"].items()),
        *(
            ("optimizers", o["algorithm"], f"optimizers.{n}")
            for n, o in config["optimizers"].items()
        ),
        *(("plots", f, f"studies.{n}") for n, s in config["studies"].items() for f in s["figures"]),
    ]


def _optimizer_errors(config: dict, name: str, optimizer: dict) -> Iterator[str]:
    """Check an optimizer's settings, and the rates of the grids it runs, against their limits."""
    key = optimizer["rate_key"]
    if key in optimizer["settings"]:
        yield f"config: optimizers.{name}.settings has {key!r}, which rate_key already gives"
    for rate in [optimizer["rate"], *_grid_rates(config, name)]:
        yield from _limit_errors("optimizers", name, {**optimizer["settings"], key: rate})


def _limit_errors(section: str, name: str, settings: dict) -> Iterator[str]:
    """Check the settings of an entry against their limits."""
    try:
        limits.check(section.removesuffix("s"), settings)
    except UserError as error:
        yield f"config: {section}.{name}: {error}"


def _grid_rates(config: dict, optimizer: str) -> Iterator[float]:
    users = {m for m, method in config["methods"].items() if method["optimizer"] == optimizer}
    for study in config["studies"].values():
        if users.intersection(study["methods"]):
            yield from study.get("vary", {}).get("rate", [])


def _setting_errors(section: str, name: str, entry: dict) -> Iterator[str]:
    """Compare the settings of an entry with the arguments of its plug-in's function."""
    package, key, function, given = TAKERS[section]
    try:
        known, required = _arguments(package, entry[key], function, given)
    except (SyntaxError, StopIteration) as error:
        found = error if isinstance(error, SyntaxError) else f"no function {function} at top level"
        yield f"config: {section}.{name}: {plugins.path_of(package, entry[key]).name}: {found}"
        return
    nested = {*entry["settings"], entry["rate_key"]} if "settings" in entry else None
    found = set(entry) - {key} if nested is None else nested
    for setting in sorted(found - set(known)):
        near = nearest(setting, known)
        yield f"config: unknown setting {setting!r} at {section}.{name}; {near}"
    for setting in sorted(set(required) - found):
        yield f"config: {section}.{name} lacks {setting!r}, which {entry[key]} needs"


def _arguments(package: str, name: str, function: str, given: int) -> tuple[list[str], list[str]]:
    """Read a function's argument names, all and required, but for the first `given`.

    They are read from the source: importing it would cost two CPU seconds.
    """
    tree = ast.parse(plugins.path_of(package, name).read_text(encoding="utf-8"))
    found = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function)
    plain, keyword = found.args.args, found.args.kwonlyargs
    required = plain[: len(plain) - len(found.args.defaults)][given:]
    required += [a for a, d in zip(keyword, found.args.kw_defaults, strict=True) if d is None]
    return [a.arg for a in [*plain[given:], *keyword]], [a.arg for a in required]

"""Checks that every plug-in named in a configuration exists and takes the settings it is given.

Signatures are read from the source: importing a plug-in would cost two CPU seconds.
"""

import ast
from collections.abc import Iterator

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.contracts import plugin_files
from dpfl.planning import stages
from dpfl.plugins import analyses, bounds, declarations

# section: package, the function of its files, how many arguments the workflow gives
TAKERS = {
    "partitions": ("clients/partitions", "assign", 3),
    "mechanisms": ("mechanisms", "build", 1),
    "clippings": ("clippings", "build", 0),
    "budgets": ("privacy/budgets", "schedule", 2),
    "optimizers": ("optimizers", "build", 1),
    "statistics": ("statistics", "build", 0),
}


def plugin_errors(config: dict) -> Iterator[str]:
    """Find plug-in files that do not exist or do not fit their Protocol, and settings of theirs.

    Settings are read only where all files are as they must be.
    """
    broken = False
    for error in _file_errors(config):
        broken = True
        yield error
    if broken:
        return
    for section in TAKERS:
        for name, entry in config[section].items():
            yield from _setting_errors(section, name, entry)
    for name, analysis in config["analyses"].items():
        yield from _analysis_errors(config["paper"], name, analysis)
    for name, optimizer in config["optimizers"].items():
        yield from _optimizer_errors(config, name, optimizer)
    for section in ("partitions", "mechanisms", "clippings", "budgets", "statistics"):
        for name, entry in config[section].items():
            yield from _bound_errors(section, name, entry, entry)


def _analysis_errors(paper: str, name: str, entry: dict) -> Iterator[str]:
    """Check that an analysis has a data set exactly if it reads one, and its settings."""
    uses, given = entry["uses"], analyses.inputs_of(entry)
    needed = plugins.constant(analyses.package_of(paper, uses), uses, "NEEDS_DATASET", False)
    if needed != bool(given):
        found = f"missing, {uses} needs one" if needed else f"{given[0]}, {uses} reads none"
        yield f"config: analyses.{name}.dataset is {found}"
        return
    try:
        analyses.load(paper, uses).check(entry["settings"], *given)
    except UserError as error:
        yield f"config: analyses.{name}.settings: {error}"


def _file_errors(config: dict) -> Iterator[str]:
    """Find plug-ins without a file, and files without their function or with unknown constants."""
    functions = {package: (function, given) for package, function, given in TAKERS.values()}
    named = _named(config)
    for (package, name), where in named.items():
        try:
            plugins.path_of(package, name)
        except UserError as error:
            yield f"config: {where}: {error}"
            return
    for package, name in named:
        if package not in plugin_files.FILES:
            continue
        try:
            taken = (
                _arguments(package, name, *functions[package])[0] if package in functions else []
            )
            yield from declarations.errors(package, name, taken)
        except UserError as error:
            yield str(error)


def _named(config: dict) -> dict[tuple[str, str], str]:
    """Return every plug-in that a configuration names, package and name, with where it stands."""
    named = [
        ("privacy/accountants", config["accountant"], "accountant"),
        *(("data", d, f"models.{d}") for d in config["models"]),
        *(("models", m, f"models.{d}") for d, m in config["models"].items()),
        *(
            ("models", m, f"studies.{n}.vary.model")
            for n, s in config["studies"].items()
            for m in s.get("vary", {}).get("model", [])
        ),
        *(
            ("tuning", stages.rule_of(s)["uses"], f"studies.{n}.tuning.uses")
            for n, s in config["studies"].items()
        ),
        *(
            (package, entry["uses"], f"{section}.{name}")
            for section, (package, *_) in TAKERS.items()
            for name, entry in config[section].items()
        ),
        *(
            (analyses.package_of(config["paper"], a["uses"]), a["uses"], f"analyses.{n}")
            for n, a in config["analyses"].items()
        ),
        *(
            ("models", m, f"analyses.{n}.settings.models")
            for n, a in config["analyses"].items()
            for m in analyses.models_of(a)
        ),
        *(
            ("figures/kinds", f, f"studies.{n}")
            for n, s in config["studies"].items()
            for f in s.get("figures", [])
        ),
    ]
    return {(package, name): where for package, name, where in reversed(named)}


def _optimizer_errors(config: dict, name: str, optimizer: dict) -> Iterator[str]:
    """Check an optimizer's settings, and the rates of the grids it runs, against their bounds."""
    key = optimizer["rate_key"]
    if key in optimizer["settings"]:
        yield f"config: optimizers.{name}.settings has {key!r}, which rate_key already gives"
    for rate in [optimizer["rate"], *_grid_rates(config, name)]:
        settings = {**optimizer["settings"], key: rate}
        yield from _bound_errors("optimizers", name, optimizer, settings)


def _bound_errors(section: str, name: str, entry: dict, settings: dict) -> Iterator[str]:
    """Check settings of an entry against the bounds that its plug-in declares."""
    declared = plugins.constant(TAKERS[section][0], entry["uses"], "SETTINGS")
    try:
        bounds.check(f"config: {section}.{name}", declared, settings)
    except UserError as error:
        yield str(error)


def _grid_rates(config: dict, optimizer: str) -> Iterator[float]:
    users = {m for m, method in config["methods"].items() if method["optimizer"] == optimizer}
    for study in config["studies"].values():
        if users.intersection(study["methods"]):
            yield from study.get("vary", {}).get("rate", [])


def _setting_errors(section: str, name: str, entry: dict) -> Iterator[str]:
    """Compare the settings of an entry with the arguments of its plug-in's function."""
    package, function, given = TAKERS[section]
    known, required = _arguments(package, entry["uses"], function, given)
    nested = {*entry["settings"], entry["rate_key"]} if "settings" in entry else None
    found = set(entry) - {"uses"} if nested is None else nested
    for setting in sorted(found - set(known)):
        near = nearest(setting, known)
        yield f"config: unknown setting {setting!r} at {section}.{name}; {near}"
    for setting in sorted(set(required) - found):
        yield f"config: {section}.{name} lacks {setting!r}, which {entry['uses']} needs"


def _arguments(package: str, name: str, function: str, given: int) -> tuple[list[str], list[str]]:
    """Read a function's argument names, all and required, but for the first `given`.

    They are read from the source: importing it would cost two CPU seconds. UserError if a plug-in
    has no such function.
    """
    functions = [n for n in plugins.tree(package, name).body if isinstance(n, ast.FunctionDef)]
    found = next((n for n in functions if n.name == function), None)
    if found is None:
        file = plugins.path_of(package, name).name
        raise UserError(f"{package}/{file}: no function {function} at top level")
    plain, keyword = found.args.args, found.args.kwonlyargs
    required = plain[: len(plain) - len(found.args.defaults)][given:]
    required += [a for a, d in zip(keyword, found.args.kw_defaults, strict=True) if d is None]
    return [a.arg for a in [*plain[given:], *keyword]], [a.arg for a in required]

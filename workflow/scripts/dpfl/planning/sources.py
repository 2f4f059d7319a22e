"""Which source files a driver depends on, so that editing one reruns exactly what it changes.

Snakemake does not see what a script imports: jobs have a digest of it as a parameter. The files
are found by following import statements in the text, which costs a millisecond a file.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from dpfl import plugins

SCRIPTS, WORKFLOW = plugins.ROOT.parent, plugins.WORKFLOW
ROOTS = {"dpfl": SCRIPTS.resolve(), "papers": WORKFLOW.resolve()}
"""Where the packages lie whose files are ours."""


@cache
def of_driver(name: str, used: tuple[tuple[str, str], ...] = ()) -> str:
    """Return a digest of a driver's sources and of the plug-ins it uses, (package, name) pairs.

    Of the driver, the plug-ins, all that these import, and the data files that a plug-in declares
    as READS.
    """
    files = [plugins.path_of(package, plugin) for package, plugin in used]
    read = {file for pair in used for file in plugins.constant(*pair, "READS", ())}
    return digest(SCRIPTS / f"{name}.py", *files, read=read)


def of_run(settings: dict[str, Any]) -> str:
    """Return the digest of what trains a run of some settings: the version of the training code."""
    return of_driver("train", plug_ins_of(settings))


def plug_ins_of(settings: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the plug-ins that train a run, (package, name) pairs."""
    return (
        ("models", settings["model"]),
        ("mechanisms", settings["mechanism"]["estimator"]),
        ("clippings", settings["clipping"]["rule"]),
        ("optimizers", settings["optimizer"]["algorithm"]),
        *(
            ("statistics", released["rule"])
            for released in [settings.get("statistics")]
            if released
        ),
    )


def of_data(dataset: str) -> str:
    """Return the digest of what prepares a data set."""
    return of_driver("prepare_data", (("data", dataset),))


def of_partition(dataset: str, scheme: str) -> str:
    """Return the digest of what makes the clients of a data set."""
    return of_driver("partition", (("partitions", scheme), ("data", dataset)))


def of_calibration(strategy: str, accountant: str) -> str:
    """Return the digest of what finds the noise of a budget."""
    used = (
        ("privacy/budgets", strategy),
        ("privacy/accountants", accountant),
        ("privacy/accountants", "rdp"),  # the adaptive budget's
    )
    return of_driver("calibrate", used)


def of_tuning(rule: str) -> str:
    """Return the digest of what chooses by a rule."""
    return of_driver("tune", (("tuning", rule),))


def before_run(settings: dict[str, Any]) -> dict[str, str]:
    """Return the digests of what makes the files that the training of some settings reads."""
    dataset, budget = settings["dataset"], settings["budget"]["strategy"]
    found = {
        "data": of_data(dataset),
        "partition": of_partition(dataset, settings["partition"]["scheme"]),
    }
    if settings["epsilon"] != "inf":
        found["calibration"] = of_calibration(budget, settings["accountant"])
    return found


def digest(*files: Path | str, read: Iterable[str] = ()) -> str:
    """Return a digest of the contents of some files, of all they import of ours, of data read."""
    lines = map(_digest, [*needed_by(*files), *sorted(read)])
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@cache
def _digest(file: str) -> str:
    """Digest a file's name and content."""
    content = (WORKFLOW.parent / file).read_bytes()
    return f"{file} {hashlib.sha256(content).hexdigest()}\n"


def needed_by(*files: Path | str) -> list[str]:
    """Return the files themselves and all they import of ours, relative to the working folder."""
    return sorted({relative for f in files for relative in _needed_by(str(f))})


@cache
def _needed_by(file: str) -> tuple[str, ...]:
    found: dict[Path, None] = {}
    todo = [Path(file).resolve()]
    while todo:
        path = todo.pop()
        if path not in found:
            found[path] = None
            todo.extend(_imports(path))
    return tuple(str(_relative(p)) for p in found)


def _relative(path: Path) -> Path:
    return path.relative_to(SCRIPTS.parents[1].resolve())


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Return our own files that a file imports, packages' __init__ files included."""
    tree = plugins.parsed(path)
    root = ROOTS["dpfl"] if path.is_relative_to(ROOTS["dpfl"]) else ROOTS["papers"]
    itself = ".".join(path.relative_to(root).with_suffix("").parts)
    return tuple(f for name in (itself, *_modules(tree)) for f in _files(name))


def _modules(tree: ast.Module) -> Iterator[str]:
    for node in _run(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Walk what an interpreter runs: imports for type checkers alone are no dependency."""
    yield node
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, block, ()):
            if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
                yield from _run(child)


@cache
def _files(module: str) -> tuple[Path, ...]:
    """Return the file of a module of ours, after those of the packages around it."""
    parts = module.split(".")
    if parts[0] not in ROOTS:
        return ()
    stem = ROOTS[parts[0]].joinpath(*parts)
    files = (stem / "__init__.py", stem.with_suffix(".py"))
    around = _files(module.rpartition(".")[0])
    return (*around, *(path for path in files if path.is_file()))

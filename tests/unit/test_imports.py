"""How our modules import each other: what is private stays inside, none imports from above."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from dpfl import plugins

SCRIPTS = plugins.ROOT.parent
FILES = {
    ".".join(path.relative_to(SCRIPTS).with_suffix("").parts).removesuffix(".__init__"): path
    for path in SCRIPTS.rglob("*.py")
}


LAYERS = (
    "adaptive clippings data gradients models partitions statistics tuning",
    "attacks optimizers relevance rounds runs",
    "privacy",
    "audit decomposition tables",
    "mechanisms papers",
    "contracts figures training",
    "analyses bench judging planning plots",
    "claims terminal",
    "provenance",
    "report",
    "docs",
)
"""The folders of dpfl, lowest first: one imports from those below it, and from none beside it."""
APART = {
    **dict.fromkeys(("planning.participation", "planning.calibration_settings"), "rounds"),
    "planning.sources": "runs",
    **dict.fromkeys(("analyses", "claims"), "contracts"),
}
"""What lies below its folder: the arithmetic of rounds, which files a job needs, and what its
plug-ins are written for."""


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of ours that are imported, at whatever level, but for annotations alone."""
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
        return
    if isinstance(tree, ast.Import):
        yield from (alias.name for alias in tree.names if alias.name in FILES)
    elif isinstance(tree, ast.ImportFrom):
        assert tree.level == 0, "imports are absolute"
        for alias in tree.names:
            inner = f"{tree.module}.{alias.name}"
            name = inner if inner in FILES else tree.module
            yield from [name] if name in FILES else []
    for child in ast.iter_child_nodes(tree):
        yield from imported(child)


def graph() -> dict[str, set[str]]:
    return {
        name: set(imported(ast.parse(path.read_text(encoding="utf-8"))))
        for name, path in FILES.items()
    }


def folder(name: str) -> Path:
    return FILES[name].parent


def trespasses(found: dict[str, set[str]]) -> list[str]:
    """Return the imports of a private module from another folder than its own."""
    return [
        f"{importer} imports {name}"
        for importer, names in found.items()
        for name in sorted(names)
        if FILES[name].stem.startswith("_")
        and FILES[name].stem != "__init__"
        and folder(importer) != folder(name)
    ]


def room(name: str) -> str:
    """Return the folder of a module as LAYERS has it, nothing of one that is in none."""
    own = name.removeprefix("dpfl.")
    inside = folder(name).relative_to(SCRIPTS).parts[1:2]
    return APART.get(own, "".join(inside))


def climbs(found: dict[str, set[str]]) -> list[str]:
    """Return the imports from one folder into another that is not below it."""
    height = {own: number for number, layer in enumerate(LAYERS) for own in layer.split()}
    return [
        f"{importer} imports {name}"
        for importer, names in found.items()
        for name in sorted(names)
        if (here := room(importer)) and (there := room(name)) and here != there
        if height[here] <= height[there]
    ]


def test_a_private_module_is_imported_from_its_own_folder_alone():
    assert trespasses(graph()) == []
    assert trespasses({"train": {"dpfl.plots._frame"}}) == ["train imports dpfl.plots._frame"]


def test_a_folder_imports_from_folders_below_it_alone():
    assert climbs(graph()) == []
    assert climbs({"dpfl.plots.rates": {"dpfl.report.prose"}}) == [
        "dpfl.plots.rates imports dpfl.report.prose"
    ]
    assert climbs({"dpfl.planning.outputs": {"dpfl.provenance.schema"}})


def test_there_is_no_cycle_of_imports():
    found = graph()
    assert "dpfl.errors" in found["dpfl.plugins"]
    list(TopologicalSorter(found).static_order())
    with pytest.raises(CycleError):
        list(TopologicalSorter(found | {"dpfl.errors": {"dpfl.plugins"}}).static_order())

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


FLOORS = (
    "base draws words",
    "gradients",
    "contracts relevance",
    "decomposition plugins seeds",
    "adaptive clients clippings data factorizations federations models papers statistics tuning",
    "attacks optimizers privacy runs",
    "audit mechanisms planning samplings tables",
    "calculator figures judging training",
    "analyses checks flower",
    "api terminal",
    "bench provenance",
    "report",
    "docs",
)
"""All rooms, lowest floor first: one imports from those below it, and from none beside it."""


def imported(tree: ast.AST) -> Iterator[str]:
    """Yield the modules of ours that are imported, at whatever level, for annotations too."""
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
    """Return the folder of dpfl that a module lies in; nothing of the drivers, which are above."""
    inside = folder(name).relative_to(SCRIPTS).parts
    return inside[1] if inside[:1] == ("dpfl",) and len(inside) > 1 else ""


def climbs(found: dict[str, set[str]]) -> list[str]:
    """Return the imports from one room into another that is not below it."""
    height = {own: number for number, floor in enumerate(FLOORS) for own in floor.split()}
    return [
        f"{importer} imports {name}"
        for importer, names in found.items()
        for name in sorted(names)
        if (here := room(importer)) and (there := room(name)) and here != there
        if height[here] <= height[there]
    ]


def test_a_private_module_is_imported_from_its_own_folder_alone():
    assert trespasses(graph()) == []
    assert trespasses({"train": {"dpfl.figures.kinds._cells"}}) == [
        "train imports dpfl.figures.kinds._cells"
    ]


def test_a_room_imports_from_rooms_below_it_alone():
    assert climbs(graph()) == []
    assert climbs({"dpfl.figures.kinds.rates": {"dpfl.report.prose"}}) == [
        "dpfl.figures.kinds.rates imports dpfl.report.prose"
    ]
    assert climbs({"dpfl.planning.outputs": {"dpfl.provenance.keep"}})


def test_every_room_has_a_floor_and_no_module_is_loose():
    rooms = {room(name) for name in FILES} - {""}
    assert sorted(own for floor in FLOORS for own in floor.split()) == sorted(rooms)
    assert [path.name for path in plugins.ROOT.glob("*.py")] == ["__init__.py"]


def test_there_is_no_cycle_of_imports():
    found = graph()
    assert "dpfl.base.errors" in found["dpfl.plugins"]
    list(TopologicalSorter(found).static_order())
    with pytest.raises(CycleError):
        list(TopologicalSorter(found | {"dpfl.base.errors": {"dpfl.plugins"}}).static_order())

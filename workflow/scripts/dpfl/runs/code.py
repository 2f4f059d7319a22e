"""Digests of code by what it says: where a file lies, and what it is called, changes nothing.

The digest of a file covers its own code (no comments, docstrings or blank lines) and the digests of
all that it imports of ours: a Merkle tree. A name that an import of ours binds is replaced by what
it leads to, so that a renamed module leaves its importers as they were. Files that import each
other are one node of the tree. Imports for type checkers alone count for nothing.
The same source has the same digest under all versions of Python, which `ast.dump` has not.
"""

import ast
import hashlib
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from dpfl import plugins

SCRIPTS, WORKFLOW = plugins.ROOT.parent, plugins.WORKFLOW
ROOTS = {"dpfl": SCRIPTS.resolve(), "papers": WORKFLOW.resolve()}
"""Where the packages lie whose files are ours."""
SILENT = ("ctx", "kind", "type_comment", "type_ignores")
"""Fields of a syntax tree that say nothing of what runs, or not in all versions of Python."""
CIRCLE = "one that imports this one"

Target = tuple[Path, str]
"""A file, and the name that is taken from it; "" for the module itself."""


def digest(*files: Path, read: Iterable[str] = ()) -> str:
    """Return one digest of some files with all they import, and of data files that they read.

    Data files are relative to the project's folder. UserError from `plugins` for no Python.
    """
    contents = (_sha256((WORKFLOW.parent / name).read_bytes()) for name in sorted(read))
    return _sha256("\n".join([*(of_file(f.resolve()) for f in files), *contents]).encode())


def needed_by(*files: Path) -> list[Path]:
    """Return the files themselves and all they import of ours."""
    found: dict[Path, None] = {}
    todo = [path.resolve() for path in files]
    while todo:
        path = todo.pop()
        if path not in found:
            found[path] = None
            todo.extend(_imports(path))
    return sorted(found)


@cache
def of_file(file: Path) -> str:
    """Return the digest of a file, an absolute path, with all it imports."""
    return _digests_of(file)[file]


_known: dict[Path, str] = {}


def _digests_of(file: Path) -> dict[Path, str]:
    """Return the digests of a file and all it imports; those of a circle are made together."""
    for circle in _circles(file):
        inside = dict.fromkeys(circle, CIRCLE)
        own = {path: _own(path, ChainMap(inside, _known).__getitem__) for path in circle}
        whole = _sha256("\n".join(sorted(own.values())).encode()) if len(circle) > 1 else ""
        _known.update({path: _sha256(f"{text}{whole}".encode()) for path, text in own.items()})
    return _known


def _circles(file: Path) -> Iterator[list[Path]]:
    """Yield groups of files that import each other, most of them single, imported ones first.

    Tarjan's algorithm, without recursion: what is known already is left out.
    """
    number: dict[Path, int] = {}
    low: dict[Path, int] = {}
    path: list[Path] = []
    on_path: set[Path] = set()
    stack: list[tuple[Path, Iterator[Path]]] = []

    def enter(node: Path) -> None:
        number[node] = low[node] = len(number)
        path.append(node)
        on_path.add(node)
        stack.append((node, iter(_imports(node))))

    if file not in _known:
        enter(file)
    while stack:
        node, rest = stack[-1]
        child = next((c for c in rest if c not in number and c not in _known), None)
        if child is not None:
            enter(child)
            continue
        stack.pop()
        low[node] = min([low[node], *(low[c] for c in _imports(node) if c in on_path)])
        if low[node] == number[node]:
            group = path[path.index(node) :]
            del path[-len(group) :]
            on_path.difference_update(group)
            yield group


def _own(path: Path, digest_of: Callable[[Path], str]) -> str:
    """Write a file's code with digests in place of what it imports."""
    bound = {
        name: f"<{digest_of(target)} {taken}>" for name, (target, taken) in _bound(path).items()
    }
    needed = sorted({digest_of(p) for p in _imports(path) if _says_something(p)})
    return "\n".join(["".join(_written(plugins.parsed(path), bound)), *needed])


def _written(node: object, bound: dict[str, str]) -> Iterator[str]:
    """Write a syntax tree: kinds of nodes with their fields, but for those that are empty."""
    if isinstance(node, ast.Name) and node.id in bound:
        yield bound[node.id]
    elif isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            value = _joined(value) if isinstance(node, ast.JoinedStr) else value
            if name not in SILENT and value is not None and value != []:
                yield f" {name}="
                yield from _written(value, bound)
        yield ")"
    elif isinstance(node, list):
        yield "["
        for item in node:
            if not _is_silent(item):
                yield from _written(item, bound)
        yield "]"
    else:
        yield _literal(node)


def _joined(values: list[ast.expr]) -> list[ast.expr]:
    """Return the parts of an f-string with one text between two values, and none that is empty."""
    parts: list[ast.expr] = []
    for is_text, group in groupby(values, lambda part: isinstance(part, ast.Constant)):
        found = list(group)
        if is_text:
            text = "".join(part.value for part in found)
            found = [ast.Constant(text)] if text else []
        parts += found
    return parts


def _literal(value: object) -> str:
    """Write a constant or an identifier; the name of a module of ours says where it lies."""
    is_place = isinstance(value, str) and value.startswith("dpfl.") and _files(value)
    return "module" if is_place else f"{type(value).__name__} {value!r};"


def _is_silent(node: object) -> bool:
    """Tell whether a statement does nothing, or is an import of ours, told by what it leads to."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Import):
        return all(_is_ours(alias.name) for alias in node.names)
    if isinstance(node, ast.ImportFrom):
        return _is_ours(node.module or "")
    return isinstance(node, ast.Pass) or _is_for_type_checkers(node)


@cache
def _says_something(path: Path) -> bool:
    return not all(map(_is_silent, plugins.parsed(path).body)) or bool(_imports(path))


@cache
def _bound(path: Path) -> dict[str, Target]:
    """Return what the imports of ours bind in a file, by name."""
    return {name: target for name, target in _imported(path) if name}


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Return our own files that a file imports, with those of the packages around them and it."""
    root = ROOTS["dpfl"] if path.is_relative_to(ROOTS["dpfl"]) else ROOTS["papers"]
    around = _around(".".join(path.relative_to(root).with_suffix("").parts))
    found = [file for _, (target, _) in _imported(path) for file in (*_around_file(target), target)]
    return tuple(dict.fromkeys(file for file in (*around, *found) if file != path))


@cache
def _imported(path: Path) -> tuple[tuple[str, Target], ...]:
    """Return the names that a file's imports of ours bind, "" for none, and what they lead to."""
    return tuple(
        (bound, target) for node in _run(plugins.parsed(path)) for bound, target in _leads_to(node)
    )


def _leads_to(node: ast.AST) -> Iterator[tuple[str, Target]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if _is_ours(alias.name) and (files := _files(alias.name)):
                yield alias.asname or "", (files[-1], "")
    elif isinstance(node, ast.ImportFrom) and _is_ours(node.module or ""):
        for alias in node.names:
            inner, outer = _files(f"{node.module}.{alias.name}"), _files(node.module)
            name = alias.asname or alias.name
            if inner:
                yield name, (inner[-1], "")
            elif outer:
                yield name, (outer[-1], alias.name)


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Walk the statements that an interpreter runs, those of functions included."""
    yield node
    for block in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, block, ()):
            if isinstance(child, ast.AST) and not _is_for_type_checkers(child):
                yield from _run(child)


def _is_for_type_checkers(node: object) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _is_ours(module: str) -> bool:
    return module.split(".")[0] in ROOTS


@cache
def _files(module: str) -> tuple[Path, ...]:
    """Return the file of a module of ours; () if there is none."""
    if not _is_ours(module):
        return ()
    stem = ROOTS[module.split(".")[0]].joinpath(*module.split("."))
    return tuple(p for p in (stem / "__init__.py", stem.with_suffix(".py")) if p.is_file())[:1]


def _around(module: str) -> list[Path]:
    """Return the files of the packages around a module."""
    parts = module.split(".")
    packages = (".".join(parts[:length]) for length in range(1, len(parts)))
    return [file for package in packages for file in _files(package)]


@cache
def _around_file(file: Path) -> tuple[Path, ...]:
    root = ROOTS["dpfl"] if file.is_relative_to(ROOTS["dpfl"]) else ROOTS["papers"]
    return tuple(_around(".".join(file.relative_to(root).with_suffix("").parts)))


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()

"""Digests of code by what it says: where a file lies, and what it is called, changes nothing.

The digest of a file covers its own code (no comments, docstrings or blank lines) and the digests of
all that it imports of ours: a Merkle tree. A name that an import of ours binds is replaced by what
it leads to, so that a renamed module leaves its importers as they were. Files that import each
other are one node of the tree. Imports for type checkers alone count for nothing.
The same source has the same digest under all versions of Python, which `ast.dump` has not.
"""

import ast
import hashlib
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import groupby
from pathlib import Path

from dpfl import plugins
from dpfl.base import files

SCRIPTS, WORKFLOW = plugins.ROOT.parent, plugins.WORKFLOW
ROOTS = {"dpfl": SCRIPTS.resolve(), "papers": WORKFLOW.resolve()}
"""Where the packages lie whose files are ours."""
SILENT = ("ctx", "kind", "type_comment", "type_ignores")
"""Fields of a syntax tree that say nothing of what runs, or not in all versions of Python."""
CIRCLE = "one that imports this one"

Target = tuple[Path, str]
"""A file, and the name that is taken from it; "" for the module itself."""


def digest(*sources: Path, read: Iterable[str] = ()) -> str:
    """Return one digest of some files with all they import, and of data files that they read.

    Data files are relative to the project's folder. UserError from `plugins` for no Python.
    """
    contents = (files.digest(WORKFLOW.parent / name) for name in sorted(read))
    return _sha256("\n".join([*(of_file(file.resolve()) for file in sources), *contents]))


@cache
def needed_by(file: Path) -> frozenset[Path]:
    """Return a file, an absolute path, and all it imports of ours."""
    found, todo = {file}, [file]
    while todo:
        new = set(_imports(todo.pop())) - found
        found |= new
        todo += new
    return frozenset(found)


@cache
def of_file(file: Path) -> str:
    """Return the digest of a file, an absolute path, with all it imports.

    Of a circle, files that import each other, every file has a digest that covers all of it.
    """
    circle = [path for path in needed_by(file) if file in needed_by(path)]
    own = {path: _own(path, lambda p: CIRCLE if p in circle else of_file(p)) for path in circle}
    whole = _sha256("\n".join(sorted(own.values()))) if len(circle) > 1 else ""
    return _sha256(f"{own[file]}{whole}")


def _own(path: Path, digest_of: Callable[[Path], str]) -> str:
    """Write a file's code with digests in place of what it imports."""
    bound = {
        name: f"<{digest_of(target)} {taken}>" for name, (target, taken) in _imported(path) if name
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
    is_place = isinstance(value, str) and value.startswith("dpfl.") and _file_of(value)
    return "module" if is_place else f"{type(value).__name__} {value!r};"


def _is_silent(node: object) -> bool:
    """Tell whether a statement does nothing, or is an import of ours, told by what it leads to."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return all(_is_ours(getattr(node, "module", each.name) or "") for each in node.names)
    return isinstance(node, ast.Pass) or _is_for_type_checkers(node)


@cache
def _says_something(path: Path) -> bool:
    return not all(map(_is_silent, plugins.parsed(path).body)) or bool(_imports(path))


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Return our own files that a file imports, with those of the packages around them and it."""
    found = [path, *(target for _, (target, _) in _imported(path))]
    return tuple({each for file in found for each in (file, *_around(file))} - {path})


@cache
def _imported(path: Path) -> tuple[tuple[str, Target], ...]:
    """Return the names that a file's imports of ours bind, "" for none, and what they lead to."""
    return tuple(pair for node in _run(plugins.parsed(path)) for pair in _leads_to(node))


def _leads_to(node: ast.AST) -> Iterator[tuple[str, Target]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            if file := _file_of(alias.name):
                yield alias.asname or "", (file, "")
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            inner, outer = _file_of(f"{node.module}.{alias.name}"), _file_of(node.module or "")
            if inner or outer:
                yield alias.asname or alias.name, (inner, "") if inner else (outer, alias.name)


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
def _file_of(module: str) -> Path | None:
    """Return the file of a module of ours, if there is one."""
    if not _is_ours(module):
        return None
    stem = ROOTS[module.split(".")[0]].joinpath(*module.split("."))
    return next((p for p in (stem / "__init__.py", stem.with_suffix(".py")) if p.is_file()), None)


@cache
def _around(file: Path) -> list[Path]:
    """Return the files of the packages around a file, and of the one that it is."""
    inside = (folder for folder in file.parents if ROOTS["papers"] in folder.parents)
    return [path for folder in inside if (path := folder / "__init__.py").is_file()]


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()

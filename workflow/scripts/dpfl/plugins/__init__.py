"""Finds plug-ins (optimizers, mechanisms, models, ...) by their file name; there is no registry."""

import ast
import copy
import importlib
import operator
import sys
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.contracts import plugin_files

ROOT = Path(__file__).parents[1]
WORKFLOW = ROOT.parents[1]
PAPERS = "papers/"
"""Packages that begin so are folders of a paper, in workflow/."""
DERIVED = "derived"
"""A package with a table of this name has in it plug-ins that are derived from others.

Each names its BASE, constants of its own and settings of `read`, a function of the file _derived.py
of the package: read(..., base=BASE, **settings). Constants that it does not say are those of BASE.
"""


def names(package: str) -> list[str]:
    """Return the names that a package offers: its files, with dashes for underscores, and table."""
    files = folder_of(package).glob("[!_]*.py")
    return sorted([*(file.stem.replace("_", "-") for file in files), *derived(package)])


@cache
def derived(package: str) -> dict[str, dict[str, Any]]:
    """Return what the table of a package says of its derived plug-ins, by name."""
    path = folder_of(package) / f"{DERIVED}.yaml"
    if not path.is_file():
        return {}
    from dpfl.base import yaml_file

    table = yaml_file.read(path, f"{package}/{path.name}")
    for entry in table.values():
        entry.update({key: tuple(v) for key, v in entry.items() if isinstance(v, list)})
    return table


def folder_of(package: str) -> Path:
    """Return the folder of a package."""
    return (WORKFLOW if package.startswith(PAPERS) else ROOT) / package


def path_of(package: str, name: str) -> Path:
    """Return the file of a plug-in; UserError with the nearest name if there is none."""
    if name not in names(package):
        raise UserError(f"no {name!r} in {package}: {nearest(name, names(package))}")
    stem = f"_{DERIVED}" if name in derived(package) else name.replace("-", "_")
    return folder_of(package) / f"{stem}.py"


def shown(package: str, name: str) -> str:
    """Return how messages call the file of a plug-in."""
    return f"{package}/{path_of(package, name).name}"


def load(package: str, name: str) -> ModuleType:
    """Import a plug-in by name, such as load("optimizers", "sgd-momentum")."""
    module = f"{package.replace('/', '.')}.{path_of(package, name).stem}"
    if name in derived(package):
        return _derived(package, name)
    if not package.startswith(PAPERS):
        return importlib.import_module(f"dpfl.{module}")
    if str(WORKFLOW) not in sys.path:
        sys.path.append(str(WORKFLOW))
    return importlib.import_module(module)


@cache
def _derived(package: str, name: str) -> ModuleType:
    """Make a module of what a table says, of its base's constants and of a function that reads."""
    own, module = derived(package)[name], ModuleType(name)
    found = {**vars(load(package, own["BASE"])), **own}
    vars(module).update({k: v for k, v in found.items() if k.isupper() and v is not None})
    settings = {key: value for key, value in own.items() if not key.isupper()}
    read = importlib.import_module(f"dpfl.{package}._{DERIVED}").read
    module.read = partial(read, base=own["BASE"], **settings)
    return module


@cache
def constant(package: str, name: str, variable: str, default: Any = None) -> Any:
    """Read a literal that a plug-in assigns at top level, without importing it.

    Where there is none, return what the Protocol of its kind says, or else the default.
    UserError for a value that is no literal, or more than arithmetic with numbers.
    """
    if name in derived(package):
        return getattr(load(package, name), variable, default)
    found = assigned(package, name).get(variable)
    if found is None:
        return getattr(plugin_files.FILES.get(package), variable, default)
    try:
        return ast.literal_eval(_Computed().visit(copy.deepcopy(found)))
    except (ValueError, ArithmeticError) as error:
        told = f"{variable} is {ast.unparse(found)}; it must be a literal"
        raise UserError(f"{shown(package, name)}: {told}") from error


class _Computed(ast.NodeTransformer):
    """Puts the value in the place of arithmetic with numbers, such as 256 * 16 + 4."""

    OPERATIONS: ClassVar = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "truediv"}

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        node = self.generic_visit(node)
        sides, name = (node.left, node.right), self.OPERATIONS.get(type(node.op))
        numbers = [getattr(one, "value", None) for one in sides]
        if not (name and all(isinstance(one, int | float) for one in numbers)):
            return node
        return ast.Constant(getattr(operator, name)(*numbers))


def tree(package: str, name: str) -> ast.Module:
    """Parse the source of a plug-in; UserError if it is no Python."""
    try:
        return parsed(path_of(package, name).resolve())
    except SyntaxError as error:
        said = f"{error.msg}, line {error.lineno}"
        raise UserError(f"{shown(package, name)}: {said}") from error


@cache
def parsed(path: Path) -> ast.Module:
    """Parse a source file, once; SyntaxError if it is no Python."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def assigned(package: str, name: str) -> dict[str, ast.expr]:
    """Return what a plug-in assigns at top level, by name."""
    found: dict[str, ast.expr] = {}
    for node in tree(package, name).body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            parts = (part for target in targets for part in ast.walk(target))
            found.update({p.id: node.value for p in parts if isinstance(p, ast.Name)})
    return found

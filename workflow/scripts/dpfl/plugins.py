"""Finds plug-ins (optimizers, mechanisms, models, ...) by their file name; there is no registry."""

import ast
import importlib
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from dpfl.errors import UserError
from dpfl.hints import nearest

ROOT = Path(__file__).parent


def names(package: str) -> list[str]:
    """Return the names that a package offers: its files, with dashes for underscores."""
    files = (ROOT / package).glob("*.py")
    return sorted(f.stem.replace("_", "-") for f in files if not f.stem.startswith("_"))


def path_of(package: str, name: str) -> Path:
    """Return the file of a plug-in; UserError with the nearest name if there is none."""
    offered = names(package)
    if name not in offered:
        raise UserError(f"no {name!r} in {package}: {nearest(name, offered)}")
    return ROOT / package / f"{name.replace('-', '_')}.py"


def load(package: str, name: str) -> ModuleType:
    """Import a plug-in by name, such as load("optimizers", "sgd-momentum")."""
    stem = path_of(package, name).stem
    return importlib.import_module(f"dpfl.{package.replace('/', '.')}.{stem}")


@cache
def constant(package: str, name: str, variable: str, default: Any) -> Any:
    """Read a literal that a plug-in assigns at top level, without importing it."""
    tree = ast.parse(path_of(package, name).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == variable:
            return ast.literal_eval(node.value)
    return default

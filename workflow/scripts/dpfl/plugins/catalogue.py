"""What the files of a package say of themselves, without importing them."""

import ast
from collections.abc import Iterator

from dpfl import plugins

HEADS = ("file", "what it is", "settings")
LISTED = ("mechanisms", "clippings", "privacy/budgets", "privacy/accountants", "statistics")
LISTED += ("optimizers", "federations", "clients/partitions", "samplings", "factorizations")
LISTED += ("models",)
"""Packages whose files docs/library.md lists."""


def tables() -> Iterator[tuple[str, tuple]]:
    """Yield the folder of each package that is listed, its heads and a row per file."""
    for package in LISTED:
        rows = [_row(package, name) for name in plugins.names(package)]
        yield package.rpartition("/")[2], (HEADS, rows)


def title(package: str, name: str) -> str:
    """Return the first line of a file's docstring, less the name of the file before it."""
    first, _, _ = (ast.get_docstring(plugins.tree(package, name)) or "").partition("\n")
    return first.removeprefix(f"{name}: ")


def _row(package: str, name: str) -> list[str]:
    """Return a file's name, what it is, and the bounds of its settings."""
    bounds = (plugins.constant(package, name, "SETTINGS") or {}).items()
    settings = "; ".join(f"`{key}`: {bound}" for key, bound in bounds)
    return [f"`{name}`", title(package, name), settings]

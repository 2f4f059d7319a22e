"""Studies that train nothing: each analyses/<name>.py computes tables and a figure from settings.

A file holds TABLES (the suffixes of its tables, "" for the main one), `check(settings)`, which
raises a UserError, `tables(settings)` and `shown()`. Settings are checked before the first job, so
importing a file must cost nothing: what needs numpy stands in a private file beside it, which these
two functions import.

`shown()` returns the module of what readers see: COLUMNS by suffix, `draw(tables)` and, if it has
them, `words(tables)` for those who cannot see the figure; without them the file's own first lines
stand for that.

A file with NEEDS_DATASET = True reads a data set, which its entry names as `dataset`: it holds
`check(settings, dataset)` and `tables(settings, dataset, path)`, the path that of the prepared
file. Networks that it uses are the values of its setting `models`.
"""

from types import ModuleType
from typing import Any

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest

FUNCTIONS = ("check", "tables", "shown")


def load(paper: str, name: str) -> ModuleType:
    """Import an analysis by name: the paper's own, else one that all papers may use.

    AttributeError for one that lacks a function; errors are those of the file itself otherwise.
    """
    module = plugins.load(package_of(paper, name), name)
    for function in FUNCTIONS:
        getattr(module, function)
    return module


def inputs_of(entry: dict[str, Any]) -> list[str]:
    """Return the data set that an analysis reads, if it reads one."""
    return [entry["dataset"]] if "dataset" in entry else []


def models_of(entry: dict[str, Any]) -> list[str]:
    """Return the names of the networks that an analysis uses."""
    models = entry["settings"].get("models", {})
    return [str(name) for name in models.values()] if isinstance(models, dict) else []


def package_of(paper: str, name: str) -> str:
    """Return the package of an analysis, as `plugins` names it; UserError if there is none."""
    own = f"papers/{paper}/analyses"
    for package in (own, "analyses"):
        if name in plugins.names(package):
            return package
    known = [*plugins.names(own), *plugins.names("analyses")]
    raise UserError(f"no {name!r} in analyses: {nearest(name, known)}")

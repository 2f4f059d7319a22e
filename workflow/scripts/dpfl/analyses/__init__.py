"""Studies that train nothing: each analyses/<name>.py computes tables and a figure from settings.

A file holds TABLES (the suffixes of its tables, "" for the main one), `check(settings)`, which
raises a UserError, `tables(settings)`, `columns()` and `draw(tables)`. Settings are checked before
the first job, so importing a file must cost nothing: numpy and all that needs it are imported
inside the functions that use them.
"""

from types import ModuleType

from dpfl import plugins


def load(paper: str, name: str) -> ModuleType:
    """Import an analysis by name: the paper's own, else one that all papers may use."""
    return plugins.load(package_of(paper, name), name)


def package_of(paper: str, name: str) -> str:
    """Return the package of an analysis, as `plugins` names it."""
    own = f"papers/{paper}/analyses"
    return own if name in plugins.names(own) else "analyses"

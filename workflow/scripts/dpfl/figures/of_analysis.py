"""The tables and the figure of an analysis that trains nothing, as files."""

import hashlib
import inspect
import json
import shutil
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd

from dpfl import plugins
from dpfl.figures import drawn
from dpfl.plugins import analyses
from dpfl.runs import code
from dpfl.tables import rendering

CACHE = Path("results/cache/analyses")
"""What was computed without data, by what it was computed of."""


def write(name: str, uses: str, settings: dict[str, Any], home: Path, *given: Any) -> None:
    """Write {name} and {name}_{suffix} below `home`/tables, {name}/{uses} below `home`/figures.

    `given` are the name of the data set and the path of its file, for one that reads data. Of one
    that reads none, what the same code has made of the same settings is taken from the cache.
    """
    analysis = analyses.load(name.split("/")[0], uses)
    analysis.check(settings, *given[:1])
    if given:
        _write(analysis, name, uses, settings, home, *given)
        return
    made = CACHE / _key(name, uses, settings)
    if not made.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=CACHE) as new:
            _write(analysis, name, uses, settings, Path(new) / "made")
            with suppress(OSError):  # another process was faster: what it made is the same
                (Path(new) / "made").rename(made)
    shutil.copytree(made, home, dirs_exist_ok=True)


def _write(
    analysis: ModuleType, name: str, uses: str, settings: dict[str, Any], home: Path, *given: Any
) -> None:
    found, shown = analysis.tables(settings, *given), analysis.shown()
    for suffix in analysis.TABLES:
        stem = f"{name}_{suffix}" if suffix else name
        rendering.write(home / "tables" / stem, found[suffix], shown.COLUMNS[suffix])
    drawn.save(shown.draw(found), home / "figures" / name / uses, _words(analysis, shown, found))


def _key(name: str, uses: str, settings: dict[str, Any]) -> str:
    """Return a digest of all that the files of an analysis depend on."""
    package = analyses.package_of(name.split("/")[0], uses)
    accountants = (
        plugins.path_of("privacy/accountants", each)
        for each in plugins.names("privacy/accountants")
    )
    read = plugins.constant(package, uses, "READS", ())
    written = code.digest(Path(__file__), plugins.path_of(package, uses), *accountants, read=read)
    libraries = [version(library) for library in ("dp-accounting", "opacus")]
    told = json.dumps([name, uses, settings, libraries], sort_keys=True)
    return hashlib.sha256(f"{told}\n{written}".encode()).hexdigest()


def _words(analysis: ModuleType, shown: ModuleType, found: dict[str, pd.DataFrame]) -> str:
    """Return what the figure shows, by its numbers if the analysis tells them."""
    told = shown.words(found) if hasattr(shown, "words") else inspect.getdoc(analysis)
    return " ".join((told or "").split()) + "\n"

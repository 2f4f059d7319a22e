"""Tables of analyses that need no data, kept for the papers' pages: results/reference/prices."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from dpfl import analyses, files
from dpfl.papers import folder


def home(reference: Path) -> Path:
    """Return the results folder that holds the kept prices, as a page's `run`."""
    return reference / "prices"


def names() -> list[tuple[str, str]]:
    """Return paper and name of every analysis that reads no data set."""
    return [
        (key, name)
        for key in folder.names()
        for name, own in folder.load(key).content.get("analyses", {}).items()
        if not analyses.inputs_of(own)
    ]


def made(key: str, name: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Compute one analysis: yield its tables by the name of their file."""
    own = folder.load(key).content["analyses"][name]
    found = analyses.load(key, own["uses"]).tables(own["settings"])
    for suffix, table in found.items():
        yield (f"{name}_{suffix}" if suffix else name), table


def write(reference: Path) -> None:
    """Compute all of them, about a minute on one core, and write them."""
    for key, name in names():
        for file, table in made(key, name):
            text = table.to_csv(index=False, na_rep="", lineterminator="\n")
            files.write_text(path_of(reference, key, file), text)


def path_of(reference: Path, key: str, file: str) -> Path:
    """Return where a kept table lies."""
    return home(reference) / "tables" / key / f"{file}.csv"

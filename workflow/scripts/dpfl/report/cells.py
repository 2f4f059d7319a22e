"""The one table of cells, cells.csv, and the pairs of its rows: pages of methods show both."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import permutations
from math import isfinite
from pathlib import Path

import pandas as pd

from dpfl.figures import families
from dpfl.report import values
from dpfl.report.reader import Folder
from dpfl.seeds import pairing, verdicts
from dpfl.tables import results
from dpfl.words.vocabulary import PROVEN

CSV = "cells.csv"
COLUMNS = ["paper", "scale", "study", "dataset", "network", "method", "variant", "epsilon"]
COLUMNS += ["accuracy", "ci_low", "ci_high", "n", "trained", "certified", "eps_claimed"]
COLUMNS += ["eps_certified", "eps_audited", "privacy", "unit", "rate_key", "rate", "runs"]
COLUMNS += ["adjacency"]
"""Of that file: `runs` are names, parted by blanks; `epsilon` is infinite without privacy."""
LIKE = ["variant", "epsilon", "adjacency"]
"""What two cells of a study that are paired have in common; a cell without privacy has no last."""
MORE = ["home", "cell", "tried", "settings", "label", "varied"]
"""For pages: `settings` are of one run, `varied` is the variant without its model."""
Read = Mapping[Folder, Iterable[str]]
"""Results folders, each with the keys of papers that are read there."""


def table(read: Read) -> pd.DataFrame:
    """Return a row per cell that has a result: its row in the table of its study, and whose it is.

    Settings that studies vary have columns too.
    """
    places = [(folder, key) for folder, keys in read.items() for key in keys]
    tables = [
        _of(*place, name) for place in places for name in place[0].outline(place[1])["studies"]
    ]
    empty = pd.DataFrame(columns=[*COLUMNS, *MORE])
    return pd.concat([empty, *tables], ignore_index=True).infer_objects()


def _of(folder: Folder, paper: str, name: str) -> pd.DataFrame:
    study, found = folder.study(name), values.read(folder.path_of(name))
    own = [
        {
            "cell": number,
            "variant": results.variant_text(cell["variant"]),
            "varied": results.variant_text(cell["variant"], without="model"),
            "label": families.title(cell["method"]),
            "runs": " ".join(cell["runs"]),
            "settings": (settings := folder.summary(cell["runs"][0])["settings"]),
            "network": settings["model"],
        }
        for number, cell in enumerate(study["cells"])
    ]
    whose = {"paper": paper, "scale": folder.outline(paper)["scale"], "study": name.split("/")[1]}
    whose |= {"home": folder.path, "tried": study["kind"] == "rates"}
    found = found.head(len(own))  # what did not finish comes last
    made = found.assign(**pd.DataFrame(own), **whose, accuracy=found["accuracy_mean"])
    return made[made["n"] > 0]


def private(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with a budget."""
    return cells[cells["eps_claimed"].map(isfinite)]


def proven(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells whose ε is finite and proven, of which nothing is refuted."""
    held = cells["certified"].eq(True) & cells["privacy"].eq(PROVEN)
    own = cells[held & cells["epsilon"].map(isfinite)]
    return own[own["eps_certified"] <= own["epsilon"]]


def pairs(cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row per ordered pair of private cells that differ in the method alone.

    Both are of one study, and their ε of one adjacency. `difference` is the cell minus the other,
    points, with the interval that a claim on this pair alone would have; columns of the other end
    in `_other`. Trials of rates are left out: each method has its own rate. Pairs of the same runs
    stand once.
    """
    private = cells[cells["epsilon"].map(isfinite) & ~cells["tried"].eq(True)]
    studies = private.groupby(["home", "paper", "study"], sort=False)
    gaps = [row for place, own in studies for row in _gaps(*place, own)]
    found = pd.DataFrame(
        gaps, columns=["one", "other", "difference", "difference_low", "difference_high", "pairs"]
    )
    joined = found.join(cells, "one").join(cells.add_suffix("_other"), "other")
    return joined.drop_duplicates(["runs", "runs_other"])


def _gaps(home: Path, paper: str, study: str, cells: pd.DataFrame) -> Iterator[tuple]:
    read = Folder(home).study(f"{paper}/{study}")
    runs, asked = results.frame(read, home / "runs"), verdicts.Ordering(read["margin"])
    own = {at: runs[runs["cell"] == row["cell"]] for at, row in cells.iterrows()}
    for (_, epsilon, _), alike in cells.groupby(LIKE, sort=False, dropna=False):
        for one, other in permutations(alike.index, 2):
            gap = pairing.alone(own[one], own[other], epsilon, asked).interval
            if gap.n:
                yield one, other, gap.mean, gap.low, gap.high, gap.n

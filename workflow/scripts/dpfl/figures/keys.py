"""What the marks of a figure mean, as entries of its legend: only those that occur in it."""

from collections.abc import Iterable, Mapping

from matplotlib.artist import Artist
from matplotlib.lines import Line2D

from dpfl.figures.looks import PRINTED, RERUN, Look

GREY = Look("0.35", "o")
DOT = {"marker": ".", "markersize": 5, "linestyle": "none", "alpha": 0.75, "markeredgewidth": 0}
"""One seed."""
PROOF = {True: "with a proof", False: "no proof of ε"}


def proof(certified: Iterable[bool], words: Mapping[bool, str] = PROOF) -> list[Artist]:
    """Say what is hollow and dashed, and what is not where both occur."""
    found = sorted({*map(bool, certified)}, reverse=True)
    shown = found if found != [True] else []
    return [Line2D([], [], label=words[own], **GREY.line(own)) for own in shown]


def printed(there: bool, reran: Iterable[str] = ()) -> list[Artist]:
    """Say what a black diamond is, and what a grey one: `reran` are the papers that print those."""
    black = [Line2D([], [], label="printed in the paper", **PRINTED)] if there else []
    grey = [Line2D([], [], label=f"printed in {paper}, of a rerun", **RERUN) for paper in reran]
    return black + grey


def seeds(counts: Iterable[int]) -> list[Artist]:
    """Say what a dot is, where a cell has more than one seed."""
    several = max(counts, default=0) > 1
    return [Line2D([], [], color="0.35", label="one seed", **DOT)] if several else []


def method(title: str, look: Look, proven: bool) -> Artist:
    """Name one method by its mark."""
    return Line2D([], [], label=title, **look.mark(proven))

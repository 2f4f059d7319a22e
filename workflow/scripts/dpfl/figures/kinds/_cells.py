"""The cells of a study as figures show them: what trained, its seeds, and what is printed.

A run fails if its loss was not finite, or if it never left chance level (`seeds.outcomes`). It is
counted at the edge of the frame, and is a part of no mean. One interval of three seeds can be wider
than all accuracies there are: the frame cuts intervals, and means far below all others stand at
its edge.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.figures import families, keys, style
from dpfl.figures.kinds import _study
from dpfl.figures.looks import Look
from dpfl.seeds import outcomes
from dpfl.words import cell_words, forms
from dpfl.words.numerals import known

FAILED = "runs that failed (not finite, or never above chance)"
FAR = 4.0
"""So many times the distance of the quartiles (at least a point) below the lower one, a mean leaves
the frame."""
PLACES = 0.7
"""Share of the distance between two ticks over which marks are spread."""
ASIDE = 0.3
"""Share of a mark's place by which seeds stand on one side of it, printed numbers on the other."""
MOST_ASIDE = 0.12


def measured(study: dict, runs: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return a row per cell: some columns of its runs, and what they reached, in percent.

    `mean`, `low`, `high` and `seeds` are those of the runs that trained, `mean` is nan without any;
    `printed` is what the paper prints of the cell, `rerun` what other papers do.
    `runs` are those of `results.frame`; cells without a run have no row.
    """
    groups = runs.groupby("cell", sort=False)
    rows = [{key: own[key].iloc[0] for key in columns} | _one(study, own) for _, own in groups]
    return pd.DataFrame(rows)


def _one(study: dict, own: pd.DataFrame) -> dict[str, Any]:
    found, index = outcomes.outcome(own), int(own["cell"].iloc[0])
    numbers = study["cells"][index].get("published", [])
    return {
        "cell": index,
        "n": found.n,
        "trained": found.trained,
        "mean": found.mean if found.trained else np.nan,
        "low": found.accuracy.low,
        "high": found.accuracy.high,
        "certified": bool(own["certified"].all()),
        "seeds": tuple(outcomes.of_trained(own)["accuracy"]),
        "printed": tuple(dict.fromkeys(n["value"] for n in numbers if not n.get("by"))),
        "rerun": tuple(dict.fromkeys(n["value"] for n in numbers if n.get("by"))),
    }


def places(count: int) -> tuple[np.ndarray, float]:
    """Return where so many marks stand beside their tick, and how far aside their seeds."""
    width = PLACES / max(count, 1)
    return width * (np.arange(count) + 0.5 - count / 2), min(ASIDE * width, MOST_ASIDE)


@dataclass(frozen=True)
class Frame:
    """Whether accuracy is the horizontal axis, where the frame begins, how far aside seeds are."""

    across: bool = False
    floor: float = -np.inf
    aside: float = 0.0


def draw(ax: Axes, cell: pd.Series, at: float, look: Look, label: str, frame: Frame) -> None:
    """Draw a cell at a place of the other axis: mean, interval, seeds, and printed numbers.

    A mean below the frame is only named at its edge.
    """

    def put(values: Sequence[float], place: float, label: str, **keywords: Any) -> None:
        if len(values):
            ends = (values, [place] * len(values))
            ax.plot(*(ends if frame.across else ends[::-1]), label=label, **keywords)

    seeds = cell["seeds"] if len(cell["seeds"]) > 1 else ()
    put(seeds, at + frame.aside, "_seeds", color=look.colour, **keys.DOT)
    put(cell.get("printed", ()), at - frame.aside, "_printed", **look.printed())
    put(cell.get("rerun", ()), at - frame.aside, "_printed", **look.printed(rerun=True))
    if cell["mean"] >= frame.floor:
        put([cell["mean"]], at, label, **look.mark(cell["certified"]) | {"zorder": 4})
        bar = ax.hlines if frame.across else ax.vlines
        if known(cell["low"]):
            bar(at, cell["low"], cell["high"], color=look.colour, linewidth=1.6)
    _edge(ax, cell, at, look, frame)


def _edge(ax: Axes, cell: pd.Series, at: float, look: Look, frame: Frame) -> None:
    """Write at the low edge how many runs failed, and a mean that lies below the frame."""
    lost = cell["n"] - cell.get("trained", cell["n"])
    said = [f"{lost:g}/{cell['n']:g} failed"] * bool(lost)
    said += [f"← {cell['mean']:.1f}"] * bool(cell["mean"] < frame.floor)
    if frame.across:
        place = {"xy": (0.01, at), "xycoords": ("axes fraction", "data"), "va": "center"}
    else:
        place = {"xy": (at, 0.012), "xycoords": ("data", "axes fraction"), "va": "bottom"}
        place |= {"xytext": (-7, 0), "textcoords": "offset points", "ha": "right", "rotation": 90}
    ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}
    ink = {"fontsize": style.SMALL, "color": look.colour, "bbox": ground, "zorder": 5}
    if said:
        ax.annotate(", ".join(said), **place, **ink)


def floor(means: pd.Series) -> float:
    """Return the mean below which the others could not be told apart any more."""
    lower, upper = means.dropna().quantile([0.25, 0.75])
    return lower - FAR * max(upper - lower, 1.0)


def limits(cells: pd.DataFrame, drawn: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of the axis, in percent, within what is drawn: where most numbers are."""
    printed = [value for name in ("printed", "rerun") for own in cells[name] for value in own]
    shown = pd.Series([*cells["mean"].dropna(), *printed], dtype=float)
    if shown.empty:
        return 0.0, 100.0
    bottom, top = shown[shown >= floor(shown)].min(), shown.max()
    room = max(2, 0.3 * (top - bottom))  # an interval of two seeds can be wider than all the rest
    return max(drawn[0], bottom - room), min(drawn[1], top + room, 101)


def note(
    figure: Figure, study: dict, cells: pd.DataFrame, named: Iterable[Artist] = (), beside: str = ""
) -> None:
    """Say below a figure what the study is, and what the marks of its cells mean."""
    private = cells[np.isfinite(cells["epsilon"])]
    numbers = list(_numbers(study, cells))
    papers = dict.fromkeys(number["by"] for _, number in numbers if number.get("by"))
    handles = [
        *named,
        *keys.proof(private["certified"]),
        *keys.seeds(cells["n"]),
        *keys.printed(cells["printed"].map(bool).any(), papers),
    ]
    bars = "; bars: 95 % intervals" * bool(cells["low"].notna().any())
    failed = f"; {FAILED} are in no mean" * bool((cells["trained"] < cells["n"]).any())
    marks = "means over seeds" if cells["n"].max() > 1 else "one seed"
    text = f"{_study.about(study)}{beside} Marks: {marks}{bars}{failed}."
    style.note(figure, text + _shared(numbers), handles)


def _shared(numbers: Iterable[tuple[str, dict]]) -> str:
    """Say at which methods a printed number is drawn; nothing of one that one method has."""
    beside: dict[tuple[int, str], dict[str, None]] = {}
    for method, number in numbers:
        beside.setdefault((number["line"], number["row"]), {})[families.title(method)] = None
    several = {(row, tuple(own)): None for (_, row), own in beside.items() if len(own) > 1}
    return "".join(
        f" What is printed of {row} is drawn at {forms.listed(methods)}."
        for row, methods in several
    )


def _numbers(study: dict, cells: pd.DataFrame) -> Iterator[tuple[str, dict]]:
    """Yield every printed number of some cells, with the method of its cell."""
    for own in (study["cells"][index] for index in cells["cell"]):
        yield from ((own["method"], number) for number in own.get("published", []))


def words(cell: pd.Series) -> str:
    """Return what a cell reached in words, such as `SGD 97.1 ± 0.2 (n=5)`."""
    reached = {"accuracy_mean": cell["mean"], "ci_high": cell["high"]}
    return f"{cell['series']} {cell_words.mean_and_interval(reached | dict(cell))}"

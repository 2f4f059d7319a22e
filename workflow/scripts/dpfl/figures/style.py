"""One look for all figures: each method keeps its colour, marker and line style in its paper.

Colours are those of Okabe and Ito (2008), which stay apart for colour-blind readers; marker and
line style differ as well, so that a figure also reads in grey.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.tables import rendering

COLOURS = (
    *("#0072B2", "#56B4E9", "#009E73", "#E69F00", "#CC79A7", "#D55E00"),
    *("#7F7F7F", "#000000", "#8C6D31", "#5E4FA2"),
)
MARKERS = ("o", "^", "s", "D", "v", "*", "X", "P", "<", ">")
DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), "-", (0, (3, 1)), (0, (1, 1)))
FAINT = "0.82"
ALARM = "#B2182B"


@dataclass(frozen=True)
class Look:
    """How one method is drawn."""

    colour: str
    marker: str
    dash: str | tuple

    def line(self) -> dict[str, object]:
        """Return the keyword arguments of a matplotlib line."""
        size = 10 if self.marker == "*" else 6.5
        return {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": self.dash,
            "markersize": size,
            "markeredgecolor": "white",
            "markeredgewidth": 0.5,
        }


def look(number: int) -> Look:
    """Return the look of a number; the first ten share no colour, the first hundred no look."""
    shifted = number + number // len(COLOURS)
    return Look(
        COLOURS[number % len(COLOURS)],
        MARKERS[shifted % len(MARKERS)],
        DASHES[shifted % len(DASHES)],
    )


def looks(study: dict) -> dict[str, Look]:
    """Return the look of each method of a study, in the order of every figure.

    It follows from the number that the plan gives the method over all studies of its paper; a
    method without one comes after the others.
    """
    known = study.get("method_numbers", {})
    found = {m: known[m] for m in sorted(known, key=known.get)}
    for cell in study["cells"]:
        found.setdefault(cell["method"], 1 + max(found.values(), default=-1))
    return {method: look(number) for method, number in found.items()}


def numbered(names: Iterable[str]) -> dict[str, Look]:
    """Return a look for each line that is no method, in their own order."""
    return {name: look(number) for number, name in enumerate(dict.fromkeys(names))}


def canvas(
    rows: int = 1, columns: int = 1, panel: tuple[float, float] = (6.4, 4.2), **keywords
) -> tuple[Figure, np.ndarray]:
    """Return a figure and its axes [rows, columns]; `panel` is the size of one in inches."""
    sns.set_theme(style="whitegrid", context="notebook", font_scale=0.9)
    mpl.rcParams.update({"pdf.fonttype": 42, "axes.titlesize": "medium", "grid.color": "0.9"})
    size = (panel[0] * columns, panel[1] * rows)
    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **keywords)


def nothing(message: str) -> Figure:
    """Return a figure that says why it is empty."""
    figure, axes = canvas(panel=(6.4, 1.6))
    axes[0, 0].set_axis_off()
    axes[0, 0].text(0.5, 0.5, literal(message), ha="center", va="center", color="0.35")
    return figure


def finish(axes: np.ndarray, used: int, xlabel: str, ylabel: str) -> None:
    """Remove the panels that are not used, and label the outer ones that are."""
    columns = axes.shape[1]
    for index, ax in enumerate(axes.flat):
        if index >= used:
            ax.remove()
        elif index + columns >= used:
            ax.tick_params(labelbottom=True)
            ax.set_xlabel(xlabel)
        if index % columns == 0:
            ax.set_ylabel(ylabel)


def title(figure: Figure, text: str) -> None:
    """Put a title over all panels, in as many lines as the figure's width needs."""
    figure.suptitle(literal(text), fontsize="medium", wrap=True)


def literal(text: str) -> str:
    """Return a text of a user so that it is drawn as it stands, dollars and all."""
    return text.replace("$", r"\$")


def legend_below(figure: Figure, axes: Axes, columns: int = 4, **keywords) -> None:
    """Put one legend for all panels under the figure, in as many columns as it has room for."""
    handles, labels = axes.get_legend_handles_labels()
    for ncols in range(min(columns, max(len(labels), 1)), 0, -1):
        legend = figure.legend(
            handles,
            labels,
            loc="outside lower center",
            ncols=ncols,
            frameon=False,
            handlelength=3,
            **keywords,
        )
        if legend.get_window_extent().width <= figure.bbox.width or ncols == 1:
            return
        legend.remove()


def epsilon_text(epsilon: float) -> str:
    """Return a privacy setting as a title."""
    return "non-private (ε = ∞)" if np.isinf(epsilon) else f"ε = {epsilon:g}"


def delta_text(delta: float) -> str:
    """Return delta in the usual short form, such as 1e-5."""
    return re.sub(r"e-0", "e-", f"{delta:g}")


def named(table: pd.DataFrame, line: Sequence[str] = ("method", "variant")) -> pd.DataFrame:
    """Return a table of runs whose labels say where nothing certifies a budget.

    Where some budget is refuted, all finite ones say so of the columns that make a line.
    """
    lines = table.groupby(list(line))["refuted"].transform("any")
    refuted = lines & np.isfinite(table["epsilon"])
    marks = map(rendering.marks, table["certified"], refuted)
    return table.assign(label=table["label"] + pd.Series(list(marks), table.index, dtype=str))


def label_of(cell: dict, runs: pd.DataFrame) -> str:
    """Return the label of a cell, which says if a budget of its method is refuted."""
    refuted = runs.loc[runs["method"] == cell["method"], "refuted"].any()
    return cell["label"] + rendering.marks(certified=True, refuted=refuted)


def series_of(table: pd.DataFrame) -> pd.Series:
    """Return the name of each row's line: the label, with its variant if it has one."""
    suffix = table["variant"].where(table["variant"] == "", ", " + table["variant"])
    return table["label"] + suffix


def seeds_text(counts: Iterable[int]) -> str:
    """Return how many seeds stand behind a figure, such as `n = 5` or `n = 1 to 5`."""
    low, high = min(counts := list(counts)), max(counts)
    return f"n = {low}" if low == high else f"n = {low} to {high}"

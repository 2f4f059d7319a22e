"""One style for all figures: the canvas, titles that say what was found, notes, names."""

import re
import textwrap
from collections.abc import Iterable, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.figures import families
from dpfl.words import cell_words

FAINT = "0.82"
ALARM = "#B2182B"
INK = "0.3"
SMALL = 8.5
"""Points of the smallest text: about 7 where a wide figure is shown at the width of a page."""
LETTERS = {"finding": 10.6, "note": 14.5}
"""Letters per inch of a figure's width."""


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


def title(figure: Figure, finding: str) -> None:
    """Put what was found over all panels, in as many lines as the figure's width needs."""
    text = _wrapped(finding, figure, "finding")
    figure.suptitle(text, x=0.01, ha="left", fontsize="medium", fontweight="bold")


def note(figure: Figure, text: str, handles: Sequence[Artist] = ()) -> None:
    """Put below all panels what marks mean, and the rest that a reader must know."""
    legend = figure.legend(
        handles=list(handles),
        title=_wrapped(text, figure, "note"),
        title_fontsize=SMALL,
        fontsize=SMALL,
        alignment="left",
        loc="outside lower left",
        ncols=_columns(figure, handles),
        frameon=False,
        handlelength=2.5,
    )
    legend.get_title().set_color(INK)


def _columns(figure: Figure, handles: Sequence[Artist]) -> int:
    """Return how many entries of a legend stand side by side: as many as the widest leaves."""
    widest = max((len(str(handle.get_label())) for handle in handles), default=0)
    inches = 0.7 + widest / LETTERS["note"]
    return max(1, min(len(handles), int(figure.get_figwidth() / inches)))


def _wrapped(text: str, figure: Figure, kind: str) -> str:
    """Break a text into lines that fit a figure; its own breaks stay."""
    width = int(LETTERS[kind] * figure.get_figwidth())
    text = text.replace(" = ", "\u00a0=\u00a0")
    lines = [textwrap.fill(line, width) for line in text.split("\n")]
    return literal("\n".join(lines))


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


def at(epsilon: float) -> str:
    """Return a privacy setting as it stands in a sentence."""
    return "without privacy" if np.isinf(epsilon) else f"at ε = {epsilon:g}"


def delta_text(delta: float) -> str:
    """Return delta in the usual short form, such as 1e-5."""
    return re.sub(r"e-0", "e-", f"{delta:g}")


def named(table: pd.DataFrame, line: Sequence[str] = ("method", "variant")) -> pd.DataFrame:
    """Return a table of runs whose labels say where nothing certifies a budget.

    Where some budget is refuted, all finite ones say so of the columns that make a line.
    """
    lines = table.groupby(list(line))["refuted"].transform("any")
    refuted = lines & np.isfinite(table["epsilon"])
    marks = map(cell_words.marks, table["certified"], refuted)
    return table.assign(label=table["label"] + pd.Series(list(marks), table.index, dtype=str))


def names(table: pd.DataFrame, titles: Iterable[str] = ()) -> pd.Series:
    """Return what each row's line is called: its method's title, its variant, `refuted` if it is.

    Titles may be given, one per row. Where nothing proves a budget the marker is hollow, so that
    the name does not say it.
    """
    refuted = table.groupby(["method", "variant"])["refuted"].transform("any")
    refuted &= np.isfinite(table["epsilon"])
    marks = [cell_words.marks(certified=True, refuted=own) for own in refuted]
    labels = list(titles) or [families.title(method) for method in table["method"]]
    variants = ["" if not text else f", {text}" for text in table["variant"]]
    parts = zip(labels, variants, marks, strict=True)
    return pd.Series(list(map("".join, parts)), table.index, dtype=str)


def label_of(cell: dict, runs: pd.DataFrame) -> str:
    """Return the label of a cell, which says if a budget of its method is refuted."""
    refuted = runs.loc[runs["method"] == cell["method"], "refuted"].any()
    return families.title(cell["method"]) + cell_words.marks(certified=True, refuted=refuted)


def series_of(table: pd.DataFrame) -> pd.Series:
    """Return the name of each row's line: the label, with its variant if it has one."""
    suffix = table["variant"].where(table["variant"] == "", ", " + table["variant"])
    return table["label"] + suffix


def seeds_text(counts: Iterable[int]) -> str:
    """Return how many seeds stand behind a figure, such as `n = 5` or `n = 1 to 5`."""
    low, high = min(counts := list(counts)), max(counts)
    return f"n = {low}" if low == high else f"n = {low} to {high}"

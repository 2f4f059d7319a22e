"""One style for all figures: the canvas, titles that say what was found, notes, names."""

import textwrap
from collections.abc import Callable, Iterable, Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from dpfl.figures import families
from dpfl.words import cell_words, forms

FAINT = "0.82"
HEAT = "YlGnBu"
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
    figure = Figure(figsize=(panel[0] * columns, panel[1] * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **keywords)


def panels(
    count: int, most: int, width: float, least: float, height: float
) -> tuple[Figure, np.ndarray]:
    """Return a figure of at least so many panels that share both axes, at most `most` in a row.

    A row is `width` inches wide, or as many times as it has panels the `least` that one needs.
    """
    columns = min(most, count)
    size = (max(least, width / columns), height)
    return canvas(-(-count // columns), columns, panel=size, sharex=True, sharey=True)


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


def separate(line: Callable[..., object], count: int) -> None:
    """Draw a line, `ax.axvline` or `ax.axhline`, between each two of so many ticks."""
    for edge in np.arange(count - 1) + 0.5:
        line(edge, color="0.85", linewidth=0.8, zorder=0)


def heat(ax: Axes, numbers: pd.DataFrame, texts: pd.DataFrame, norm: Normalize) -> None:
    """Draw a table of numbers as colours with a text in each cell; its rows rise upwards."""
    ink = {"fontsize": SMALL + 0.5, "fontweight": "bold"}
    sns.heatmap(
        numbers, annot=texts, fmt="", ax=ax, cmap=HEAT, norm=norm, cbar=False, annot_kws=ink
    )
    for (y, x), text in np.ndenumerate(texts.where(numbers.isna(), "")):
        ax.text(x + 0.5, y + 0.5, text, ha="center", va="center", **ink)
    ax.set_xticks(ax.get_xticks(), [f"{value:g}" for value in numbers.columns], rotation=0)
    ax.set_yticks(ax.get_yticks(), [f"{value:g}" for value in numbers.index], rotation=0)
    ax.set(xlabel="", ylabel="", ylim=(0, len(numbers)))


def title(figure: Figure, finding: str) -> None:
    """Put what was found over all panels, in as many lines as the figure's width needs."""
    text = _wrapped(finding, figure, "finding")
    figure.suptitle(text, x=0.01, ha="left", fontsize="medium", fontweight="bold")


def note(figure: Figure, text: str, handles: Sequence[Artist] = ()) -> None:
    """Put below all panels what marks mean, and the rest that a reader must know."""
    small = {"title_fontsize": SMALL, "fontsize": SMALL, "handlelength": 2.5, "frameon": False}
    columns = _columns(figure, handles)
    place = {"loc": "outside lower left", "alignment": "left", "ncols": columns}
    text = _wrapped(text, figure, "note")
    legend = figure.legend(handles=list(handles), title=text, **small, **place)
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


def epsilon_text(epsilon: float) -> str:
    """Return a privacy setting as a title."""
    return "non-private (ε = ∞)" if np.isinf(epsilon) else f"ε = {epsilon:g}"


def at(epsilon: float) -> str:
    """Return a privacy setting as it stands in a sentence."""
    return "without privacy" if np.isinf(epsilon) else f"at ε = {epsilon:g}"


def delta_text(delta: float) -> str:
    """Return delta in the usual short form, such as 1e-5."""
    return forms.short(delta, 6)


def names(table: pd.DataFrame, titles: Iterable[str] = (), unproven: bool = False) -> pd.Series:
    """Return what each row's line is called: its title, its variant, and at which ε it is refuted.

    The title is that of its method, unless titles are given, one per row. A hollow marker says
    that nothing proves a budget; where there are no markers, the name says it (`unproven`).
    """
    private, lines = np.isfinite(table["epsilon"]), [table["method"], table["variant"]]
    lost = table["epsilon"].where(table["refuted"].astype(bool) & private)
    at = lost.groupby(lines).transform(cell_words.refuted_at).where(private, "")
    marks = map(cell_words.marks, table["certified"] | (not unproven), at)
    labels = list(titles) or map(families.title, table["method"])
    variants = ("" if not text else f", {text}" for text in table["variant"])
    parts = zip(labels, variants, marks, strict=True)
    return pd.Series(list(map("".join, parts)), table.index, dtype=str)


def by_epsilon(table: pd.DataFrame, words: Callable[[pd.Series], str]) -> str:
    """Return the rows of a table in words, those of each privacy setting behind its name."""
    parts = (
        f"{epsilon_text(epsilon)}: {'; '.join(words(row) for _, row in own.iterrows())}"
        for epsilon, own in table.groupby("epsilon")
    )
    return ". ".join(parts)


def seeds_text(counts: Iterable[int]) -> str:
    """Return how many seeds stand behind a figure: `one seed`, `n = 5` or `n = 1 to 5`."""
    low, high = min(counts := list(counts)), max(counts)
    if low == high:
        return "one seed" if low == 1 else f"n = {low}"
    return f"n = {low} to {high}"

"""Paired differences that verdicts rest on: a row per claim, opponent and epsilon.

A mark is the mean over the pairs of seeds that trained on both sides, better minus worse in points
of accuracy, a dot one pair, a bar the interval that the verdict rests on, none below three pairs. A
difference is replicated where its bar lies right of the grey band, which is half the margin on
either side of zero, replicated, small where it lies right of zero and reaches into the band, and
reversed where it lies left of zero. A black diamond is the difference of the numbers that the paper
prints. Hollow: one of the sides has no proof of its epsilon.
"""

import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from dpfl.figures import drawn, keys, looks, style
from dpfl.figures.kinds import _context, _pairs
from dpfl.tables import results
from dpfl.words import forms

READS_STUDY = ("results/claims/{paper}/claims.csv",)
ROW = 0.27
"""Height of a row, inches."""
ASIDE = 0.28
"""Rows by which the pairs of seeds stand below their mean."""
BAND = "0.88"
HEAD = 105
"""Letters of a head."""
BOTH = {True: "both have a proof of ε", False: "one has no proof of ε"}


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the judged claims of a study's paper, and the runs of the study."""
    runs = results.frame(study, runs_dir)
    path = Path(runs_dir).parent / "claims" / study["paper"] / "claims.csv"
    rows = _pairs.of(study, runs, path)
    if rows.empty:
        return drawn.nothing(f"{study['title']}: no claim orders two of its cells")
    return of_rows(study, rows)


def of_rows(study: dict, rows: pd.DataFrame) -> drawn.Drawn:
    """Draw rows of `_pairs.of`."""
    groups = list(rows.groupby("claim", sort=False))
    lines = len(rows) + len(groups)
    figure, axes = style.canvas(panel=(8.4, 1.9 + ROW * lines))
    ax, y, ticks = axes[0, 0], 0, {}
    _band(ax, study["margin"])
    for _, own in groups:
        _head(ax, _pairs.title(own), y)
        for number, (_, row) in enumerate(own.iterrows(), start=y + 1):
            _row(ax, row, number)
            ticks[number] = _name(row)
        y += 1 + len(own)
    _axis(ax, ticks)
    _explain(figure, study, rows)
    data = _pairs.written(rows)
    return drawn.told(figure, data, _pairs.finding(rows), _pairs.shows(study, rows))


def _head(ax: Axes, text: str, y: int) -> None:
    """Write what a claim is on over its rows, across the figure: it may be long, the rest short."""
    head = ax.annotate(
        style.literal(textwrap.shorten(text, HEAD, placeholder=" …")),
        (0.01, y),
        xycoords=("figure fraction", "data"),
        va="center",
        fontsize=style.SMALL + 0.5,
        fontweight="bold",
        annotation_clip=False,
    )
    head.set_in_layout(False)


def _name(row: pd.Series) -> str:
    return f"{row['worse']}, {style.epsilon_text(row['epsilon'])}"


def _band(ax: Axes, margin: float) -> None:
    ax.axvspan(-margin / 2, margin / 2, color=BAND, linewidth=0, zorder=0, label="_margin")
    ax.axvline(0, color="0.35", linewidth=1, zorder=1, label="_zero")


def _row(ax: Axes, row: pd.Series, y: int) -> None:
    """Draw one difference, in the look of the opponent."""
    look = looks.of_method(row["opponent"]) or looks.look(row["number"])
    if len(row["seeds"]) > 1:
        dots = {"color": look.colour, "label": "_seeds", **keys.DOT}
        ax.plot(row["seeds"], [y + ASIDE] * len(row["seeds"]), **dots)
    if row["n"]:
        label = f"_{row['claim']}, {_name(row)}"
        ax.plot([row["difference"]], [y], label=label, zorder=4, **look.mark(row["certified"]))
    if not np.isnan(row["low"]):
        ax.plot([row["low"], row["high"]], [y, y], color=look.colour, linewidth=1.6, label="_bar")
    if not np.isnan(row["printed"]):
        ax.plot([row["printed"]], [y], label="_printed", **look.printed())
    ax.annotate(
        f"{row['verdict']}, n = {row['n']:g}",
        (1.015, y),
        xycoords=("axes fraction", "data"),
        va="center",
        fontsize=style.SMALL,
        color=style.INK,
        annotation_clip=False,
    )


def _axis(ax: Axes, ticks: dict[int, str]) -> None:
    """Name the rows, and keep the frame to what is drawn."""
    names = [style.literal(text) for text in ticks.values()]
    ax.set_yticks(list(ticks), names, fontsize=style.SMALL + 0.5)
    ax.set_ylim(max(ticks) + 0.6, -0.6)
    ax.grid(visible=False, axis="y")
    ax.set_xlabel("points of accuracy, paired by seed")
    ax.margins(x=0.08)


def _explain(figure: Figure, study: dict, rows: pd.DataFrame) -> None:
    handles = [
        Patch(color=BAND, label=f"half the margin of {forms.points(study['margin'])}"),
        *keys.proof(rows["certified"], line=False, words=BOTH),
        *keys.seeds([len(seeds) for seeds in rows["seeds"]]),
        *keys.printed(rows["printed"].notna().any()),
    ]
    failed = " Runs that failed are in no pair." if rows["failed"].any() else ""
    text = (
        f"{_context.about(study)} Right of zero the first is better; bars: the intervals that "
        f"the verdicts rest on.{failed}"
    )
    style.note(figure, text, handles)

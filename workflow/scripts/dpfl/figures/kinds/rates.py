"""Learning-rate robustness: validation accuracy against the rate, a panel per optimizer.

Where one optimizer serves several mechanisms or clipping rules, each of them has a panel. The
others are faint lines behind; the bar at the bottom spans the good rates. A cross is a rate above
the best one at which a loss was not finite or that ended at chance. A second rate of an optimizer,
such as final_lr beside alpha, is thinner with small marks. Hollow and dashed: no proof of epsilon.
"""

import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from dpfl.figures import datasets, drawn, keys, looks, rate_names, style
from dpfl.figures.kinds import _context
from dpfl.tables import ranges, results

HOLDS_OUT = True
VARIES = ("rate",)
COLUMNS = 4
PANEL_WIDTH, NARROWEST = 2.9, 6.4  # inches; the second holds most of a line of the title
HEIGHT, ALONE = 2.6, 3.4
"""Inches of a panel; the second where there is one row, whose label, title and note need room."""
TITLE_WIDTH = 34


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the rate runs of a study."""
    runs = results.frame(study, runs_dir)
    runs = runs.assign(label=style.names(runs.assign(variant="")))
    rates = _panelled(ranges.classified(study, runs))
    summary = ranges.ranges(study, runs).set_index(ranges.SERIES)
    epsilons = sorted(rates["epsilon"].unique())
    known = _looks(study, rates)
    panels = [(p, e) for e in epsilons for p in known if p in set(_at(rates, e)["panel"])]
    columns = min(COLUMNS, len(panels))
    width = max(PANEL_WIDTH, NARROWEST / columns)
    rows = -(-len(panels) // columns)
    size = (width, HEIGHT if rows > 1 else ALONE)
    figure, axes = style.canvas(rows, columns, panel=size, sharex=True, sharey=True)
    for ax, (panel, epsilon) in zip(axes.flat, panels, strict=False):
        _panel(ax, _at(rates, epsilon), summary, panel, known[panel])
        _rate_axis(ax, rates["rate"])
        if len(epsilons) > 1:
            ax.set_title(f"{ax.get_title('left')}, {style.epsilon_text(epsilon)}", loc="left")
    style.finish(axes, len(panels), "rate", "validation accuracy, %")
    _explain(figure, study, rates)
    named = _named(summary.reset_index())
    data = rates.drop(columns="panel")
    return drawn.told(figure, data, _finding(named), _shows(study, named))


def _at(rates: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    return rates[rates["epsilon"] == epsilon]


def _panelled(rates: pd.DataFrame) -> pd.DataFrame:
    """Give every optimizer a panel, or every series where two share an optimizer and a rate key."""
    series = rates.drop_duplicates(ranges.SERIES)
    crowded = series.duplicated(["algorithm", "rate_key", "epsilon"]).any()
    return rates.assign(panel=rates["label" if crowded else "algorithm"])


def _looks(study: dict, rates: pd.DataFrame) -> dict[str, looks.Look]:
    """Return the look of each panel, in order: that of the first method in it."""
    found: dict[str, looks.Look] = {}
    for method, look in looks.of_study(study).items():
        for panel in rates.loc[rates["method"] == method, "panel"].unique():
            found.setdefault(panel, look)
    return found


def _panel(
    ax: Axes, rates: pd.DataFrame, summary: pd.DataFrame, panel: str, look: looks.Look
) -> None:
    for _, other in rates[rates["panel"] != panel].groupby(ranges.SERIES, sort=False):
        ax.plot(other["rate"], other["accuracy"], color=style.FAINT, linewidth=1, zorder=1)
    own = rates[rates["panel"] == panel]
    first = _first_key(rates)
    for key, line in own.groupby(ranges.SERIES, sort=False):
        rate_key = key[ranges.SERIES.index("rate_key")]
        second = rate_key != first
        _series(ax, line, look, second, rate_key)
        _good_range(ax, summary.loc[key], look, 0.035 + 0.05 * second)
    ax.set_title(textwrap.fill(own.iloc[0]["label"], TITLE_WIDTH), loc="left")


def _rate_axis(ax: Axes, rates: pd.Series) -> None:
    """Label the decades, or 1, 2 and 5 of each where all rates lie within two."""
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    if rates.max() < 100 * rates.min():
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter("{x:g}")
    else:
        ax.xaxis.set_major_locator(LogLocator(numticks=5))


def _first_key(rates: pd.DataFrame) -> str:
    """Return the rate that most optimizers have."""
    return rates["rate_key"].mode()[0]


def _look(look: looks.Look, second: bool, proven: bool) -> dict[str, object]:
    """Return how a line is drawn: thin with small marks for a second rate."""
    line = look.line(proven)
    return line | {"linewidth": 1.0, "markersize": 0.6 * line["markersize"]} if second else line


def _explain(figure: Figure, study: dict, rates: pd.DataFrame) -> None:
    """Say what marks mean, and tell the rates of an optimizer apart if there are several."""
    names, first = rates["rate_key"].unique(), _first_key(rates)
    grey = keys.GREY
    lines = [
        Line2D(
            [],
            [],
            label=f"over the {rate_names.title(name)}",
            **_look(grey, name != first, proven=True),
        )
        for name in names[: len(names) * (len(names) > 1)]
    ]
    crosses = (rates["state"] == "diverges").any()
    cross = "; cross: not finite, or at chance above the best rate" * bool(crosses)
    epsilons = rates["epsilon"].unique()
    at = f"{style.at(epsilons[0])}, " if len(epsilons) == 1 else ""  # else above every panel
    said = f"{at}{style.seeds_text(rates['trials'])} per rate"
    text = (
        f"{_context.about(study)} {said[0].upper()}{said[1:]}; bar: within "
        f"{ranges.GOOD:g} points of the optimizer's best{cross}."
    )
    private = rates[np.isfinite(rates["epsilon"])]
    style.note(figure, text, [*lines, *keys.proof(private["certified"])])


def _finding(summary: pd.DataFrame) -> str:
    """Tell whose range of good rates is the widest, whose the narrowest, and who has none.

    One that ends with the grid may be wider than it looks: it is not called the narrowest.
    """
    known, none = summary.dropna(subset=["good_low"]), summary[summary["good_low"].isna()]
    if known.empty:
        return "No optimizer has a good rate"
    lost = f"; no good rate: {', '.join(none['where'])}" if len(none) else ""
    ranked = known.sort_values("width_decades", ascending=False, kind="stable")
    if len(ranked) == 1:
        return f"{ranked.iloc[0]['label']}: good rates are {_range(ranked.iloc[0])}{lost}"
    widest, narrowest = ranked.iloc[0], ranked.iloc[-1]
    if widest["width_decades"] == narrowest["width_decades"]:
        width = widest["width_decades"]
        span = f"span {width:.1f} decades" if width else "are one rate of the grid"
        return f"All ranges of good rates {span}{lost}"
    least = f"; narrowest: {narrowest['where']}, {_range(narrowest)}" * (not narrowest["edge"])
    return f"Widest range of good rates: {widest['where']}, {_range(widest)}{least}{lost}"


def _named(summary: pd.DataFrame) -> pd.DataFrame:
    """Add what each range is called: its line, its rate where there are several, its budget."""
    several = summary["rate_key"].nunique() > 1
    over = [f" over the {rate_names.title(key)}" * several for key in summary["rate_key"]]
    where = summary["label"] + over + " " + summary["epsilon"].map(style.at)
    return summary.assign(where=where)


def _range(row: pd.Series) -> str:
    """Return a good range in words; it may go on where it touches an end of the grid."""
    if row["good_low"] == row["good_high"]:
        said = f"{row['good_low']:g} alone"
    else:
        said = f"{row['good_low']:g} to {row['good_high']:g}"
    return said + ", which ends with the grid" * bool(row["edge"])


def _shows(study: dict, summary: pd.DataFrame) -> str:
    told = []
    for _, row in summary.iterrows():
        good = _range(row) if not pd.isna(row["good_low"]) else "none"
        told.append(
            f"{row['where']}: best {row['best_validation_accuracy']:.1f} % at "
            f"{row['best_rate']:g}, good {good}"
        )
    return (
        f"Validation accuracy in percent against the learning rate on {datasets.of(study)}, a "
        f"panel per optimizer. {'; '.join(told)}"
    )


def _series(ax: Axes, line: pd.DataFrame, look: looks.Look, second: bool, label: str) -> None:
    """Draw one line of rates, with crosses on those that are not finite or at chance."""
    drawn_as = _look(look, second, bool(line["certified"].all()))
    ax.plot(line["rate"], line["accuracy"], label=label, **drawn_as)
    diverged = line[line["state"] == "diverges"]
    ax.plot(
        diverged["rate"],
        diverged["accuracy"],
        color=style.ALARM,
        marker="x",
        markersize=9,
        markeredgewidth=2,
        linestyle="none",
        label="_diverges",
        zorder=4,
    )


def _good_range(ax: Axes, summary: pd.Series, look: looks.Look, height: float) -> None:
    if pd.isna(summary["good_low"]):
        return
    ax.plot(
        [summary["good_low"], summary["good_high"]],
        [height, height],
        transform=ax.get_xaxis_transform(),
        color=look.colour,
        linewidth=5,
        marker="o",
        markersize=5,
        markeredgewidth=0,
        alpha=0.6,
        label="_good",
        zorder=2,
    )

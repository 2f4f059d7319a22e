"""Learning-rate robustness: validation accuracy against the rate, a panel per optimizer.

Where one optimizer serves several mechanisms or clipping rules, each of them has a panel. The
others are faint lines behind; the bar at the bottom spans the good rates. A cross is a rate above
the best one at which a loss was not finite or that ended at chance. A second rate of an optimizer,
such as final_lr next to alpha, is thinner with small marks. Hollow and dashed: no proof of epsilon.
"""

import textwrap
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from dpfl.figures import datasets, drawn, keys, looks, style
from dpfl.figures.kinds import _study
from dpfl.tables import ranges, results

HOLDS_OUT = True
VARIES = ("rate",)
COLUMNS = 4
HEIGHT, ALONE = 2.6, 3.4
"""Inches of a panel; the second where there is one row, whose label, title and note need room."""
LETTERS = 10
"""Of a panel's title, per inch of its width."""
NAMES = {"lr": "learning rate", "final_lr": "final rate"}
"""What the rates of optimizers are called; another one is called by its key."""


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the rate runs of a study."""
    runs = results.frame(study, runs_dir)
    runs = runs.assign(label=style.names(runs.assign(variant="")))
    rates = _panelled(ranges.classified(study, runs))
    summary = _named(ranges.ranges(study, runs))
    known = _looks(study, rates)
    there = {*zip(rates["epsilon"], rates["panel"], strict=True)}
    panels = [(e, p) for e in sorted(rates["epsilon"].unique()) for p in known if (e, p) in there]
    height = HEIGHT if len(panels) > COLUMNS else ALONE
    figure, axes = style.panels(len(panels), COLUMNS, width=6.4, least=2.3, height=height)
    for ax, (epsilon, panel) in zip(axes.flat, panels, strict=False):
        _panel(ax, rates[rates["epsilon"] == epsilon], summary, panel, known[panel])
        if rates["epsilon"].nunique() > 1:
            ax.set_title(f"{ax.get_title('left')}, {style.epsilon_text(epsilon)}", loc="left")
    _rate_axis(axes[0, 0], rates["rate"])
    style.finish(axes, len(panels), "rate", "validation\naccuracy, %")
    _explain(figure, study, rates)
    data = rates.drop(columns=["panel", "second"])
    return drawn.titled(figure, data, _finding(summary), _shows(study, summary))


def _panelled(rates: pd.DataFrame) -> pd.DataFrame:
    """Give every optimizer a panel, or every series where two share an optimizer and a rate key.

    The rate that most optimizers have is the first one, any other the second.
    """
    series = rates.drop_duplicates(ranges.SERIES)
    crowded = series.duplicated(["algorithm", "rate_key", "epsilon"]).any()
    second = rates["rate_key"] != rates["rate_key"].mode()[0]
    return rates.assign(panel=rates["label" if crowded else "algorithm"], second=second)


def _named(summary: pd.DataFrame) -> pd.DataFrame:
    """Add what each range is called: its line, its rate where there are several, its budget."""
    several = summary["rate_key"].nunique() > 1
    over = summary["rate_key"].map(lambda key: f" over the {_rate(key)}" * several)
    where = summary["label"] + over + " " + summary["epsilon"].map(style.at)
    return summary.assign(where=where, told=[_range(row) for _, row in summary.iterrows()])


def _rate(key: str) -> str:
    return NAMES.get(key, key.replace("_", " "))


def _range(row: pd.Series) -> str:
    """Return a good range in words; it may go on where it touches an end of the grid."""
    if pd.isna(row["good_low"]):
        return "none"
    low, high = f"{row['good_low']:g}", f"{row['good_high']:g}"
    said = f"{low} alone" if low == high else f"{low} to {high}"
    return said + ", which ends with the grid" * bool(row["edge"])


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
    """Draw the lines of one panel before the others, with bars that span their good rates."""
    own = rates["panel"] == panel
    for _, other in rates[~own].groupby(ranges.SERIES, sort=False):
        ax.plot(other["rate"], other["accuracy"], color=style.FAINT, linewidth=1, zorder=1)
    for key, line in rates[own].groupby(ranges.SERIES, sort=False):
        second = bool(line["second"].any())
        drawn_as = _line(look, second, bool(line["certified"].all()))
        ax.plot(line["rate"], line["accuracy"], label=line["rate_key"].iloc[0], **drawn_as)
        there = summary[(summary[ranges.SERIES] == list(key)).all(axis=1)]
        height, bar = 0.035 + 0.05 * second, {"color": look.colour, "alpha": 0.6, "label": "_good"}
        for low, high in there[["good_low", "good_high"]].dropna().to_numpy():
            ends = {"marker": "o", "markersize": 5, "markeredgewidth": 0, "linewidth": 5}
            across = {"transform": ax.get_xaxis_transform(), "zorder": 2}
            ax.plot([low, high], [height, height], **bar, **ends, **across)
    lost = rates[own & (rates["state"] == "diverges")]
    cross = {"marker": "x", "markersize": 9, "markeredgewidth": 2, "linestyle": "none"}
    ax.plot(lost["rate"], lost["accuracy"], color=style.ALARM, label="_diverges", zorder=4, **cross)
    width = int(LETTERS * ax.figure.get_figwidth() / ax.get_gridspec().ncols)
    ax.set_title(textwrap.fill(rates[own].iloc[0]["label"], width), loc="left")


def _line(look: looks.Look, second: bool, proven: bool = True) -> dict[str, object]:
    """Return how a line is drawn: thin with small marks for a second rate."""
    line = look.line(proven)
    return line | {"linewidth": 1.0, "markersize": 0.6 * line["markersize"]} if second else line


def _rate_axis(ax: Axes, rates: pd.Series) -> None:
    """Label the decades, or 1, 2 and 5 of each where all rates lie within two."""
    ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_locator(LogLocator(numticks=5))
    if rates.max() < 100 * rates.min():
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.xaxis.set_major_formatter("{x:g}")


def _explain(figure: Figure, study: dict, rates: pd.DataFrame) -> None:
    """Say what marks mean, and tell the rates of an optimizer apart if there are several."""
    kinds = rates.drop_duplicates("rate_key")[["rate_key", "second"]].to_numpy()
    lines = [
        Line2D([], [], label=f"over the {_rate(key)}", **_line(keys.GREY, second))
        for key, second in kinds
    ]
    crosses = (rates["state"] == "diverges").any()
    cross = "; cross: not finite, or at chance above the best rate" * bool(crosses)
    epsilons = rates["epsilon"].unique()
    at = f"{style.at(epsilons[0])}, " if len(epsilons) == 1 else ""  # else above every panel
    said = f"{at}{style.seeds_text(rates['trials'])} per rate"
    text = (
        f"{_study.about(study)} {said[0].upper()}{said[1:]}; bar: within "
        f"{ranges.GOOD:g} points of the optimizer's best{cross}."
    )
    proofs = keys.proof(rates.loc[np.isfinite(rates["epsilon"]), "certified"])
    style.note(figure, text, [*(lines if len(lines) > 1 else []), *proofs])


def _finding(summary: pd.DataFrame) -> str:
    """Tell whose range of good rates is the widest, whose the narrowest, and who has none.

    One that ends with the grid may be wider than it looks: it is not called the narrowest.
    """
    none = summary["good_low"].isna()
    if none.all():
        return "No optimizer has a good rate"
    lost = f"; no good rate: {', '.join(summary.loc[none, 'where'])}" * bool(none.any())
    ranked = summary[~none].sort_values("width_decades", ascending=False, kind="stable")
    widest, narrowest = ranked.iloc[0], ranked.iloc[-1]
    width = widest["width_decades"]
    if len(ranked) == 1:
        return f"{widest['label']}: good rates are {widest['told']}{lost}"
    if width == narrowest["width_decades"]:
        span = f"span {width:.1f} decades" if width else "are one rate of the grid"
        return f"All ranges of good rates {span}{lost}"
    least = f"; narrowest: {narrowest['where']}, {narrowest['told']}" * (not narrowest["edge"])
    return f"Widest range of good rates: {widest['where']}, {widest['told']}{least}{lost}"


def _shows(study: dict, summary: pd.DataFrame) -> str:
    told = [
        f"{row['where']}: best {row['best_validation_accuracy']:.1f} % at {row['best_rate']:g}, "
        f"good {row['told']}"
        for _, row in summary.iterrows()
    ]
    return (
        "Validation accuracy in percent against the learning rate on "
        f"{datasets.title(study['dataset'])}, a panel per optimizer. {'; '.join(told)}"
    )

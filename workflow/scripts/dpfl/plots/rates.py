"""Learning-rate robustness: validation accuracy against the rate, a panel per optimizer.

Where one optimizer serves several mechanisms or clipping rules, each of them has a panel. The
others are faint lines behind; the bar at the bottom spans the good rates, a cross
marks a rate that diverges. A second rate of an optimizer, such as final_lr beside alpha, is dashed
with hollow markers.
"""

import textwrap
from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, NullLocator

from dpfl.figures import style
from dpfl.tables import ranges, results

HOLDS_OUT = True
VARIES = ("rate",)
COLUMNS = 4
PANEL_WIDTH, TITLE_LINE = 2.9, 6.4  # inches; the second holds most of a line of the title
TITLE_WIDTH = 34


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the rate runs of a study."""
    runs = style.named(results.frame(study, runs_dir), ["method"])
    rates = _panelled(ranges.classified(study, runs))
    summary = ranges.ranges(study, runs).set_index(ranges.SERIES)
    epsilons = sorted(rates["epsilon"].unique())
    looks = _looks(study, rates)
    panels = [(p, e) for e in epsilons for p in looks if p in set(_at(rates, e)["panel"])]
    columns = min(COLUMNS, len(panels))
    width = max(PANEL_WIDTH, TITLE_LINE / columns)
    rows = -(-len(panels) // columns)
    figure, axes = style.canvas(rows, columns, panel=(width, 2.6), sharex=True, sharey=True)
    for ax, (panel, epsilon) in zip(axes.flat, panels, strict=False):
        _panel(ax, _at(rates, epsilon), summary, panel, looks[panel])
        _rate_axis(ax, rates["rate"])
        if len(epsilons) > 1:
            ax.set_title(f"{ax.get_title('left')}, {style.epsilon_text(epsilon)}", loc="left")
    style.finish(axes, len(panels), "rate", "validation accuracy, %")
    _legend(figure, rates)
    style.title(
        figure,
        f"{study['title']}\n{study['dataset']}, {', '.join(map(style.epsilon_text, epsilons))}, "
        f"{style.seeds_text(rates['trials'])} per rate; bar: within {ranges.GOOD:g} points of "
        "the optimizer's best; cross: diverges",
    )
    return figure


def _at(rates: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    return rates[rates["epsilon"] == epsilon]


def _panelled(rates: pd.DataFrame) -> pd.DataFrame:
    """Give every optimizer a panel, or every series where two share an optimizer and a rate key."""
    series = rates.drop_duplicates(ranges.SERIES)
    crowded = series.duplicated(["algorithm", "rate_key", "epsilon"]).any()
    return rates.assign(panel=rates["label" if crowded else "algorithm"])


def _looks(study: dict, rates: pd.DataFrame) -> dict[str, style.Look]:
    """Return the look of each panel, in order: that of the first method in it."""
    found: dict[str, style.Look] = {}
    for method, look in style.looks(study).items():
        for panel in rates.loc[rates["method"] == method, "panel"].unique():
            found.setdefault(panel, look)
    return found


def _panel(
    ax: Axes, rates: pd.DataFrame, summary: pd.DataFrame, panel: str, look: style.Look
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
    ax.set_title(textwrap.fill(own["label"].iloc[0], TITLE_WIDTH), loc="left")


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
    """Return the rate that most optimizers have, drawn solid."""
    return rates["rate_key"].mode()[0]


def _look(look: style.Look, second: bool) -> dict[str, object]:
    """Return how a line is drawn: solid, or dashed and hollow for a second rate."""
    hollow = {"markerfacecolor": "white", "markeredgecolor": look.colour, "markeredgewidth": 1.3}
    return look.line() | ({"linestyle": (0, (4, 1.5))} | hollow if second else {"linestyle": "-"})


def _legend(figure: Figure, rates: pd.DataFrame) -> None:
    """Tell the rates of an optimizer apart, if there is more than one."""
    keys, first = rates["rate_key"].unique(), _first_key(rates)
    if len(keys) > 1:
        grey = style.Look("0.35", "o", "-")
        lines = [Line2D([], [], label=f"over {k}", **_look(grey, k != first)) for k in keys]
        figure.legend(
            handles=lines,
            loc="outside lower center",
            ncols=len(keys),
            frameon=False,
            handlelength=3,
        )


def _series(ax: Axes, line: pd.DataFrame, look: style.Look, second: bool, label: str) -> None:
    """Draw one line of rates, with crosses on those that diverge."""
    ax.plot(line["rate"], line["accuracy"], label=label, **_look(look, second))
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


def _good_range(ax: Axes, summary: pd.Series, look: style.Look, height: float) -> None:
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

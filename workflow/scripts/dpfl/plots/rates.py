"""Learning-rate robustness: validation accuracy against the rate, a panel per optimizer.

The other optimizers are faint lines behind; the bar at the bottom spans the good rates, a cross
marks a rate that diverges. A second rate of an optimizer, such as final_lr beside alpha, is dashed
with hollow markers.
"""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from dpfl import ranges, results
from dpfl.plots import _style

COLUMNS = 4


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the rate runs of a study."""
    runs = results.frame(study, runs_dir)
    rates = ranges.classified(study, runs)
    summary = ranges.ranges(study, runs).set_index(ranges.SERIES)
    epsilons = sorted(rates["epsilon"].unique())
    panels = [(a, e) for e in epsilons for a in _style.ordered(_at(rates, e)["algorithm"])]
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    figure, axes = _style.canvas(rows, columns, panel=(2.9, 2.6), sharex=True, sharey=True)
    for ax, (algorithm, epsilon) in zip(axes.flat, panels, strict=False):
        _panel(ax, _at(rates, epsilon), summary, algorithm)
        if len(epsilons) > 1:
            ax.set_title(f"{ax.get_title('left')}, {_style.epsilon_text(epsilon)}", loc="left")
    _style.finish(axes, len(panels), "rate", "validation accuracy, %")
    figure.suptitle(
        f"{study['title']}\n{study['dataset']}, {', '.join(map(_style.epsilon_text, epsilons))}, "
        f"{_style.seeds_text(rates['trials'])} per rate; bar: within {ranges.GOOD:g} points of "
        "the optimizer's best; cross: diverges",
        fontsize="medium",
    )
    return figure


def _at(rates: pd.DataFrame, epsilon: float) -> pd.DataFrame:
    return rates[rates["epsilon"] == epsilon]


def _panel(ax: Axes, rates: pd.DataFrame, summary: pd.DataFrame, algorithm: str) -> None:
    for _, other in rates[rates["algorithm"] != algorithm].groupby(ranges.SERIES, sort=False):
        ax.plot(other["rate"], other["accuracy"], color=_style.FAINT, linewidth=1, zorder=1)
    own = rates[rates["algorithm"] == algorithm]
    look = _style.looks([algorithm])[algorithm]
    series = own.groupby(ranges.SERIES, sort=False)
    keys_differ = own["rate_key"].nunique() == len(series)
    for index, (key, line) in enumerate(series):
        _series(ax, line, look, index, key[2] if keys_differ else key[1])
        _good_range(ax, summary.loc[key], look, 0.035 + 0.05 * index)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(numticks=5))
    ax.set_title(own["label"].iloc[0], loc="left")
    if len(series) > 1:
        ax.legend(fontsize="small", loc="lower left", bbox_to_anchor=(0, 0.1), handlelength=2.5)


def _series(ax: Axes, line: pd.DataFrame, look: _style.Look, index: int, label: str) -> None:
    """Draw one line of rates: the first solid, further ones dashed and hollow."""
    hollow = {"markerfacecolor": "white", "markeredgecolor": look.colour, "markeredgewidth": 1.3}
    style = look.line() | ({"linestyle": (0, (4, 1.5))} | hollow if index else {"linestyle": "-"})
    ax.plot(line["rate"], line["accuracy"], label=label, **style)
    diverged = line[line["state"] == "diverges"]
    ax.plot(
        diverged["rate"],
        diverged["accuracy"],
        color=_style.ALARM,
        marker="x",
        markersize=9,
        markeredgewidth=2,
        linestyle="none",
        label="_diverges",
        zorder=4,
    )


def _good_range(ax: Axes, summary: pd.Series, look: _style.Look, height: float) -> None:
    if pd.isna(summary["good_low"]):
        return
    ax.plot(
        [summary["good_low"], summary["good_high"]],
        [height, height],
        transform=ax.get_xaxis_transform(),
        color=look.colour,
        linewidth=5,
        solid_capstyle="round",
        alpha=0.6,
        label="_good",
        zorder=2,
    )

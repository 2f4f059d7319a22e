"""What the bounds do: eta_l and eta_h against the step, with quantiles of the actual per-coordinate
rate before clipping, and below them the share of coordinates that is clipped.

A column per privacy setting or variant of one method: the claimed one if it has bounds, else the
first of the study that has. The lines are means over the seeds that trained of what the runs
recorded at the end of each round, so a state that is reset every round shows the bounds that were
in force.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from dpfl.figures import datasets, drawn, families, looks, style
from dpfl.figures.kinds import _study
from dpfl.seeds import outcomes
from dpfl.tables import results

RATE, LOW, HIGH = (looks.look(number).colour for number in (0, 6, 7))
COLUMNS = 4
WHOLE = {"0": "none", "100": "all"}
"""Percentages in words."""
PANEL = ["variant", "epsilon"]
QUANTITIES = ["low", "high", "q05", "q25", "q50", "q75", "q95", "clipped_below", "clipped_above"]


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the rates that a study's runs recorded."""
    trained = outcomes.of_trained(results.frame(study, runs_dir))[["cell", "run"]]
    rates = results.trajectories(study, runs_dir, "rates").merge(trained, on=["cell", "run"])
    bounded = rates[np.isfinite(rates["high"].astype(float))]
    found = list(bounded["method"].unique())
    if not found:
        return drawn.nothing(f"{study['title']}: no run recorded a bounded rate")
    method = study["focus"] if study.get("focus") in found else found[0]
    own = bounded[bounded["method"] == method]
    data = own.groupby([*PANEL, "round", "step"], sort=False)[QUANTITIES].mean().reset_index()
    seeds = own.groupby(PANEL)["seed"].nunique()
    columns = list(data.groupby(PANEL, sort=False))
    figure, pairs = _canvas(len(columns))
    for (upper, lower), (setting, steps) in zip(pairs, columns, strict=True):
        _rates(upper, steps)
        _clipped(lower, steps)
        counts = style.seeds_text([seeds[setting]])
        upper.set_title(f"{_name(*setting)}\n{counts}", loc="left", fontsize=9)
        # Coordinates without a gradient, whose rate is huge, do not stretch the axis.
        upper.set_ylim(data[["low", "q25"]].min().min() / 5, 5 * data[["high", "q75"]].max().max())
    handles = [handle for ax in pairs[0] for handle in ax.get_legend_handles_labels()[0]]
    style.note(figure, _study.about(study), handles)
    last = {setting: steps.iloc[-1] for setting, steps in columns}
    finding = _finding(families.title(method), pd.DataFrame(last).T)
    return drawn.titled(figure, data, finding, _shows(study, last))


def _name(variant: str, epsilon: float) -> str:
    return ", ".join(filter(None, (variant, style.epsilon_text(epsilon))))


def _canvas(count: int) -> tuple[Figure, list[np.ndarray]]:
    """Return a figure and its pairs of panels, one above the other, at most COLUMNS in a row."""
    columns = min(COLUMNS, count)
    blocks, panel = -(-count // columns), (max(2.3, 6 / columns), 2.6)
    figure, axes = style.canvas(2 * blocks, columns, panel=panel, sharex=True)
    pairs = [pair for block in axes.reshape(blocks, 2, columns) for pair in block.T]
    for number, (upper, lower) in enumerate(pairs):
        if number >= count:
            upper.remove()
            lower.remove()
        for ax, label in ((upper, "rate per coordinate"), (lower, "clipped, %")):
            ax.set_ylabel(label if number % columns == 0 else "")
            ax.tick_params(labelleft=number % columns == 0, labelbottom=ax is lower)
    return figure, pairs[:count]


def _rates(ax: Axes, steps: pd.DataFrame) -> None:
    x = steps["step"]
    wide = {"color": RATE, "linewidth": 0}
    ax.fill_between(x, steps["q05"], steps["q95"], alpha=0.18, label="5–95 % of rates", **wide)
    ax.fill_between(x, steps["q25"], steps["q75"], alpha=0.4, label="25–75 % of rates", **wide)
    ax.plot(x, steps["q50"], color=RATE, marker=".", markersize=4, label="median before clipping")
    ax.plot(x, steps["low"], color=LOW, label=r"lower bound $\eta_l$")
    ax.plot(x, steps["high"], color=HIGH, label=r"upper bound $\eta_h$")
    ax.set(xscale="log", yscale="log")


def _clipped(ax: Axes, steps: pd.DataFrame) -> None:
    x = steps["step"]
    above, below = 100 * steps["clipped_above"], 100 * steps["clipped_below"]
    ax.plot(x, above, color=HIGH, marker="^", markersize=4, label=r"clipped down to $\eta_h$")
    ax.plot(x, below, color=LOW, marker="v", markersize=4, label=r"raised to $\eta_l$")
    ax.set(xlabel="step of a client", ylim=(-4, 104))
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_locator(NullLocator())


def _finding(method: str, last: pd.DataFrame) -> str:
    """Tell what share of coordinates the bounds clip at the end, over all columns."""
    down, up = _share(last["clipped_above"]), _share(last["clipped_below"])
    every = ", in every panel" * (len(last) > 1)
    return (
        f"{method}: after the last step its bounds lower {down} of the rates and raise {up}{every}"
    )


def _share(shares: pd.Series) -> str:
    """Return a share of rates, or its range over the columns, in words where it is all or none."""
    low, high = (f"{100 * value:.0f}" for value in (shares.min(), shares.max()))
    return WHOLE.get(low, f"{low} %") if low == high else f"{low} to {high} %"


def _shows(study: dict, last: dict[tuple[str, float], pd.Series]) -> str:
    told = [
        f"{_name(*setting)}: after {row['step']:g} steps the bounds are {row['low']:.3g} and "
        f"{row['high']:.3g}, the median rate {row['q50']:.3g}"
        for setting, row in last.items()
    ]
    return (
        "Bounds of the learning rate and quantiles of the rate per coordinate against the step, on "
        f"{datasets.title(study['dataset'])}; below, the share that is clipped. {'; '.join(told)}"
    )

"""What the bounds do: eta_l and eta_h against the step, with quantiles of the actual per-coordinate
rate before clipping, and below them the share of coordinates that is clipped.

A column per privacy setting or variant of one method: the claimed one if it has bounds, else the
first of the study that has. The lines are means over seeds of what the runs recorded at the end of
each round, so a state that is reset every round shows the bounds that were in force.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from dpfl.figures import style
from dpfl.tables import results

BOUND, RATE, BELOW, ABOVE = "#000000", "#0072B2", "#56B4E9", "#D55E00"
QUANTITIES = ["low", "high", "q05", "q25", "q50", "q75", "q95", "clipped_below", "clipped_above"]


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the rates that a study's runs recorded."""
    rates = style.named(results.trajectories(study, runs_dir, "rates"))
    bounded = rates[np.isfinite(rates["high"].astype(float))]
    method = _method(study, bounded)
    if method is None:
        return style.nothing(f"{study['title']}: no run recorded a bounded rate")
    own = bounded[bounded["method"] == method]
    columns = list(own.groupby(["variant", "epsilon"], sort=False))
    figure, axes = style.canvas(
        2, len(columns), panel=(max(2.6, 6 / len(columns)), 2.6), sharex="col", sharey="row"
    )
    axes[0, 0].set_ylim(_limits(own))
    for (upper, lower), ((variant, epsilon), table) in zip(axes.T, columns, strict=True):
        steps = table.groupby(["round", "step"])[QUANTITIES].mean().reset_index()
        _rates(upper, steps)
        _clipped(lower, steps)
        setting = ", ".join(filter(None, (variant, style.epsilon_text(epsilon))))
        upper.set_title(f"{setting}\nn = {table['seed'].nunique()}", loc="left", fontsize="small")
        lower.set_xlabel("step of a client")
        lower.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        lower.xaxis.set_major_formatter("{x:g}")
        lower.xaxis.set_minor_locator(NullLocator())
    axes[0, 0].set_ylabel("rate per coordinate")
    axes[1, 0].set_ylabel("clipped, %")
    axes[1, 0].set_ylim(-4, 104)
    label = own["label"].iloc[0]
    style.title(figure, f"{label} on {study['dataset']}: the bounds and the rates")
    _legend(figure, axes[:, 0])
    return figure


def _method(study: dict, bounded: pd.DataFrame) -> str | None:
    """Return the method to show, the study's focus if it has bounds; None if no run has any."""
    found = bounded["method"].unique()
    focus = [study["focus"]] if study.get("focus") in found else []
    return next(iter([*focus, *found]), None)


def _limits(rates: pd.DataFrame) -> tuple[float, float]:
    """Return limits that coordinates without a gradient, whose rate is huge, cannot stretch."""
    top = rates[["high", "q75"]].to_numpy().max()
    return rates[["low", "q25"]].to_numpy().min() / 5, 5 * top


def _rates(ax: Axes, steps: pd.DataFrame) -> None:
    x = steps["step"]
    wide = {"color": RATE, "linewidth": 0}
    ax.fill_between(x, steps["q05"], steps["q95"], alpha=0.18, label="5–95 % of rates", **wide)
    ax.fill_between(x, steps["q25"], steps["q75"], alpha=0.4, label="25–75 % of rates", **wide)
    ax.plot(x, steps["q50"], color=RATE, marker=".", markersize=4, label="median before clipping")
    ax.plot(x, steps["low"], color=BOUND, linestyle="--", label=r"lower bound $\eta_l$")
    ax.plot(x, steps["high"], color=BOUND, linestyle="-.", label=r"upper bound $\eta_h$")
    ax.set_xscale("log")
    ax.set_yscale("log")


def _clipped(ax: Axes, steps: pd.DataFrame) -> None:
    x = steps["step"]
    above, below = 100 * steps["clipped_above"], 100 * steps["clipped_below"]
    ax.plot(x, above, color=ABOVE, marker="^", markersize=4, label=r"clipped down to $\eta_h$")
    ax.plot(
        x, below, color=BELOW, marker="v", markersize=4, linestyle="--", label=r"raised to $\eta_l$"
    )


def _legend(figure: Figure, axes: np.ndarray) -> None:
    pairs = [pair for ax in axes for pair in zip(*ax.get_legend_handles_labels(), strict=True)]
    handles, labels = zip(*pairs, strict=True)
    figure.legend(
        handles, labels, loc="outside lower center", ncols=3, frameon=False, fontsize="small"
    )

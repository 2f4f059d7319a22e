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
from dpfl.figures.kinds import _context
from dpfl.seeds import outcomes
from dpfl.tables import results

RATE, LOW, HIGH = (looks.look(number).colour for number in (0, 6, 7))
COLUMNS = 4
WHOLE = {"0": "none", "100": "all"}
"""Percentages in words."""
QUANTITIES = ["low", "high", "q05", "q25", "q50", "q75", "q95", "clipped_below", "clipped_above"]


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the rates that a study's runs recorded."""
    trained = outcomes.of_trained(results.frame(study, runs_dir))[["cell", "run"]]
    rates = results.trajectories(study, runs_dir, "rates").merge(trained, on=["cell", "run"])
    bounded = rates[np.isfinite(rates["high"].astype(float))]
    method = _method(study, bounded)
    if method is None:
        return drawn.nothing(f"{study['title']}: no run recorded a bounded rate")
    own = bounded[bounded["method"] == method]
    columns = list(own.groupby(["variant", "epsilon"], sort=False))
    figure, pairs = _canvas(len(columns))
    for (upper, lower), ((variant, epsilon), table) in zip(pairs, columns, strict=True):
        steps = table.groupby(["round", "step"])[QUANTITIES].mean().reset_index()
        _rates(upper, steps)
        _clipped(lower, steps)
        setting = ", ".join(filter(None, (variant, style.epsilon_text(epsilon))))
        upper.set_title(f"{setting}\nn = {table['seed'].nunique()}", loc="left", fontsize=9)
        lower.set_xlabel("step of a client")
        lower.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        lower.xaxis.set_major_formatter("{x:g}")
        lower.xaxis.set_minor_locator(NullLocator())
        upper.set_ylim(_limits(own))
        lower.set_ylim(-4, 104)
    _legend(figure, pairs[0], study)
    steps = own.groupby(["variant", "epsilon", "round", "step"], sort=False)[QUANTITIES]
    data = steps.mean().reset_index()
    return drawn.told(figure, data, _finding(families.title(method), data), _shows(study, data))


def _canvas(count: int) -> tuple[Figure, list[tuple[Axes, Axes]]]:
    """Return a figure and its pairs of panels, one above the other, at most COLUMNS in a row."""
    columns = min(COLUMNS, count)
    blocks = -(-count // columns)
    panel = (max(2.6, 6 / columns), 2.6)
    figure, axes = style.canvas(2 * blocks, columns, panel=panel, sharex=True)
    pairs = [
        (axes[2 * (i // columns), i % columns], axes[2 * (i // columns) + 1, i % columns])
        for i in range(blocks * columns)
    ]
    for number, (upper, lower) in enumerate(pairs):
        if number >= count:
            upper.remove()
            lower.remove()
        elif number % columns:
            upper.tick_params(labelleft=False)
            lower.tick_params(labelleft=False)
        else:
            upper.set_ylabel("rate per coordinate")
            lower.set_ylabel("clipped, %")
        lower.tick_params(labelbottom=True)
    return figure, pairs[:count]


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
    ax.plot(x, steps["low"], color=LOW, label=r"lower bound $\eta_l$")
    ax.plot(x, steps["high"], color=HIGH, label=r"upper bound $\eta_h$")
    ax.set_xscale("log")
    ax.set_yscale("log")


def _clipped(ax: Axes, steps: pd.DataFrame) -> None:
    x = steps["step"]
    above, below = 100 * steps["clipped_above"], 100 * steps["clipped_below"]
    ax.plot(x, above, color=HIGH, marker="^", markersize=4, label=r"clipped down to $\eta_h$")
    ax.plot(x, below, color=LOW, marker="v", markersize=4, label=r"raised to $\eta_l$")


def _legend(figure: Figure, axes: tuple[Axes, Axes], study: dict) -> None:
    handles = [handle for ax in axes for handle in ax.get_legend_handles_labels()[0]]
    style.note(figure, _context.about(study), handles)


def _finding(method: str, data: pd.DataFrame) -> str:
    """Tell what share of coordinates the bounds clip at the end, over all columns."""
    last = data.groupby(["variant", "epsilon"], sort=False).last()
    down, up = _share(last["clipped_above"]), _share(last["clipped_below"])
    said = f"{method}: after the last step its bounds lower {down} of the rates and raise {up}"
    return f"{said}, {_where(last)}" if len(last) > 1 else said


def _share(shares: pd.Series) -> str:
    """Return a share of rates, or its range over the columns, in words where it is all or none."""
    low, high = (f"{100 * value:.0f}" for value in (shares.min(), shares.max()))
    return WHOLE.get(low, f"{low} %") if low == high else f"{low} to {high} %"


def _where(last: pd.DataFrame) -> str:
    """Say what the columns are."""
    variants, epsilons = (last.index.unique(level) for level in ("variant", "epsilon"))
    return "at every ε" if len(variants) == 1 < len(epsilons) else "in every panel"


def _shows(study: dict, data: pd.DataFrame) -> str:
    told = []
    for (variant, epsilon), own in data.groupby(["variant", "epsilon"], sort=False):
        last, name = own.iloc[-1], ", ".join(filter(None, (variant, style.epsilon_text(epsilon))))
        told.append(
            f"{name}: after {last['step']:g} steps the bounds are {last['low']:.3g} and "
            f"{last['high']:.3g}, the median rate {last['q50']:.3g}"
        )
    return (
        "Bounds of the learning rate and quantiles of the rate per coordinate against the step, on "
        f"{datasets.of(study)}; below, the share that is clipped. {'; '.join(told)}"
    )

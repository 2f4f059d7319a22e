"""The rows of the analysis `epsilon-surface`, and what readers see of them."""

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from dp_accounting import DpEvent
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from dpfl.figures import style
from dpfl.privacy import renyi
from dpfl.privacy.accountants import gaussian, pld, rdp
from dpfl.privacy.events import poisson_gaussian
from dpfl.words.columns import plain, rounded

LARGE = 50.0  # an epsilon that protects nobody; PLD's memory grows with it
FEW_ORDERS = (2, 4, 8, 16, 32, 64)  # of a first bound, which is quick
SHADES = "YlGnBu"
LEVELS = [2.0**power for power in range(-3, 7)]
DARK = 0.55  # the part of the scale from which lines are drawn in white
COLUMNS = {
    "": {
        "q": rounded("sample_rate"),
        "z": rounded("noise_multiplier"),
        "T": plain("rounds"),
        "ε": rounded("epsilon", "{:.4g}"),
        "accountant": plain("accountant"),
    }
}


def prices(
    noise_multipliers: Sequence[float],
    rounds: Sequence[int],
    sample_rates: Sequence[float],
    delta: float,
) -> pd.DataFrame:
    """Return one row per sampling rate, noise multiplier and number of releases T."""
    rows = []
    for rate, noise, releases in product(sample_rates, noise_multipliers, rounds):
        epsilon, accountant = _price(rate, poisson_gaussian(rate, noise, releases), delta)
        rows.append((rate, noise, releases, delta, epsilon, accountant))
    heads = ["sample_rate", "noise_multiplier", "rounds", "delta", "epsilon", "accountant"]
    return pd.DataFrame(rows, columns=heads)


def _price(rate: float, event: DpEvent, delta: float) -> tuple[float, str]:
    """Return the epsilon of an event and which accountant found it."""
    if rate == 1:
        return gaussian.epsilon(event, delta), "gaussian"
    rough = float(renyi.composed(event, FEW_ORDERS).get_epsilon(delta))
    if rough > LARGE and (bound := rdp.epsilon(event, delta)) > LARGE:
        return bound, "rdp"
    return pld.epsilon(event, delta), "pld"


def draw(tables: dict[str, pd.DataFrame]) -> Figure:
    """Draw the table: a panel per sampling rate on one scale of colours."""
    prices = tables[""]
    rates = sorted(prices["sample_rate"].unique())
    figure, axes = style.canvas(1, len(rates), panel=(3.7, 3.9), sharex=True, sharey=True)
    known = prices["epsilon"][prices["epsilon"] > 0]
    norm = LogNorm(max(known.min(), LEVELS[0] / 2), min(known.max(), LEVELS[-1]), clip=True)
    for ax, rate in zip(axes[0], rates, strict=True):
        grid = prices[prices["sample_rate"] == rate].pivot(
            index="rounds", columns="noise_multiplier", values="epsilon"
        )
        image = _panel(ax, grid, norm)
        ax.set_title(f"q = {rate:g}", loc="left")
    style.finish(axes, len(rates), "noise multiplier z", "releases T")
    bar = figure.colorbar(image, ax=axes, label="ε", pad=0.01, extend="both")
    bar.set_ticks([level for level in LEVELS if norm.vmin <= level <= norm.vmax])
    bar.ax.yaxis.set_major_formatter("{x:g}")
    bar.ax.minorticks_off()
    style.title(figure, words(tables))
    style.note(figure, "Lines: equal ε. Dots: computed; colours between them are blended.")
    return figure


def words(tables: dict[str, pd.DataFrame]) -> str:
    """Tell between which prices the grid lies, and where they are."""
    prices = tables[""]
    low, high = (prices.loc[at] for at in (prices["epsilon"].idxmin(), prices["epsilon"].idxmax()))
    delta = style.delta_text(prices["delta"].iloc[0])
    return f"At δ = {delta}, ε lies between {_priced(low)} and {_priced(high)}"


def _priced(row: pd.Series) -> str:
    return (
        f"{row['epsilon']:.3g} (q = {row['sample_rate']:g}, z = {row['noise_multiplier']:g}, "
        f"T = {row['rounds']:g})"
    )


def _panel(ax: Axes, grid: pd.DataFrame, norm: LogNorm) -> Any:
    """Draw one map: a dot per computed point, colours blended between, lines of equal epsilon."""
    noise, rounds = grid.columns.to_numpy(float), grid.index.to_numpy(float)
    values = np.clip(grid.to_numpy(float), norm.vmin, None)
    ax.set(xscale="log", yscale="log")
    ax.grid(False)
    across, up = np.meshgrid(noise, rounds)
    ax.scatter(across, up, s=6, color="0.35", linewidths=0, zorder=3)
    ax.set_xticks(noise, [f"{z:g}" for z in noise])
    ax.minorticks_off()
    if min(values.shape) == 1:  # nothing lies between the points of one line
        return ax.scatter(across, up, c=values, norm=norm, cmap=SHADES, s=60, zorder=2)
    image = ax.pcolormesh(noise, rounds, values, norm=norm, cmap=SHADES, shading="gouraud")
    _lines(ax, noise, rounds, values, norm)
    return image


def _lines(
    ax: Axes, noise: np.ndarray, rounds: np.ndarray, values: np.ndarray, norm: LogNorm
) -> None:
    """Draw lines of equal epsilon with their values; they are found on its logarithm.

    Epsilon is nearly a power of z and of T, so that its logarithm is what interpolates well.
    """
    levels = [level for level in LEVELS if values.min() < level < values.max()]
    if not levels:
        return
    inks = ["white" if norm(level) > DARK else "0.15" for level in levels]
    style = {"colors": inks, "linewidths": 1, "linestyles": "solid"}
    logs = [math.log(level) for level in levels]
    lines = ax.contour(noise, rounds, np.log(values), levels=logs, **style)
    words = dict(zip(lines.levels, (f"{level:g}" for level in levels), strict=True))
    ax.clabel(lines, fmt=words, fontsize="small")

"""Mean test accuracy over two numbers that a study varies, with lines of equal epsilon.

The lines price plans, by privacy loss distributions at the study's delta: those of a client with an
equal share of the examples or, where whole clients are protected, of the server. Where the noise
multiplier is varied, that is what ALL planned rounds would cost at the cell's noise, although its
run stops at the budget; otherwise it is what the cell's plan would cost at the noise of the middle
cell, although its run has a noise of its own. Between cells the lines are interpolated; the thick
one is the budget. A square marks runs that the budget ended early, with the rounds that were taken
and planned; a cross counts runs that failed, which are in no mean. Colours begin at the tenth
percentile of the cells.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Normalize
from matplotlib.ticker import NullLocator
from scipy.interpolate import RegularGridInterpolator

from dpfl.figures import drawn, style
from dpfl.figures.kinds import _cost, _surface_words
from dpfl.seeds import outcomes
from dpfl.tables import results

NUMBERS = 2
HEAT = "YlGnBu"
DARK = 0.6  # of the colour scale: beyond it, text is white
WIDTH = 7.2  # of the smallest figure, inches: that of its title
LOWEST = 0.1
"""The quantile of the cells at which colours begin."""
LEAST_SPAN = 1.0
"""Points that the scale of colours spans at least."""
FINE = 60  # points per axis between which a line is straight


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study; a row per epsilon, a column per method."""
    keys = results.numeric_keys(study)
    if len(keys) != 2:
        found = " and ".join(keys) or "none"
        return drawn.nothing(f"{study['title']}: a surface needs two numbers, varied is {found}")
    cells = _cells(study, runs_dir, keys)
    epsilons, names = sorted(cells["epsilon"].unique()), list(dict.fromkeys(cells["series"]))
    shape = [cells[key].nunique() for key in keys]
    width = max(1.4 + 1.05 * shape[0], WIDTH / len(names))
    panel = (width, 2.2 + 0.75 * shape[1])
    figure, axes = style.canvas(len(epsilons), len(names), panel=panel, sharex=True, sharey=True)
    norm = _norm(cells["accuracy"])
    for row, epsilon in zip(axes, epsilons, strict=True):
        for ax, name in zip(row, names, strict=True):
            own = cells[(cells["epsilon"] == epsilon) & (cells["series"] == name)]
            mesh = _panel(ax, own, keys, norm)
            title = " · ".join([name] * (len(names) > 1) + [style.epsilon_text(epsilon)])
            ax.set_title(title, loc="left")
    style.finish(axes, axes.size, *(key.replace("_", " ") for key in keys))
    ending = "min" if (cells["accuracy"] < norm.vmin).any() else "neither"
    figure.colorbar(mesh, ax=axes, label="test accuracy, %", pad=0.02, extend=ending)
    style.note(figure, _surface_words.note(study, cells, keys, norm.vmin))
    data = cells.drop(columns=["plan", "note"])
    finding = _surface_words.finding(cells, keys)
    return drawn.told(figure, data, finding, _surface_words.shows(study, cells, keys))


def _norm(accuracies: pd.Series) -> Normalize:
    """Return the scale of colours, which a few cells that hardly train do not stretch."""
    known = accuracies.dropna()
    low, high = (known.quantile(LOWEST), known.max()) if len(known) else (0.0, 100.0)
    return Normalize(min(low, high - LEAST_SPAN), high, clip=True)


def _cells(study: dict, runs_dir: Path, keys: list[str]) -> pd.DataFrame:
    """Return a row per cell: its numbers, mean accuracy, rounds, and the epsilon of its plan."""
    runs = results.frame(study, runs_dir)
    summaries: dict[int, list[dict]] = {}
    for index, summary in results.summaries(study, runs_dir):
        summaries.setdefault(index, []).append(summary)
    rows = []
    for index, cell in enumerate(study["cells"]):
        label = style.label_of(cell, runs)
        others = {key: value for key, value in cell["variant"].items() if key not in keys}
        rows.append(
            {key: cell["variant"][key] for key in keys}
            | {
                "series": ", ".join(filter(None, (label, results.variant_text(others)))),
                "epsilon": results.number(cell["epsilon"]),
                "plan": _cost.plan_of(summaries[index][0]),
                "note": _note(summaries[index], runs[runs["cell"] == index]),
                "delta": study["delta"],
            }
            | _reached(runs[runs["cell"] == index])
        )
    return pd.DataFrame(rows)


def _reached(own: pd.DataFrame) -> dict[str, float]:
    """Return the mean over the runs of a cell that trained, nan without any, and their number."""
    found = outcomes.of(own)
    accuracy = found.mean if found.trained else np.nan
    return {"accuracy": accuracy, "n": found.n, "trained": found.trained}


def _note(summaries: list[dict], own: pd.DataFrame) -> str:
    """Say which runs of a cell failed, and how far those came that the budget ended early."""
    planned = summaries[0]["settings"]["federation"]["rounds"]
    taken = [s["rounds"] for s in summaries if not s["diverged"] and s["rounds"] < planned]
    lines = []
    if taken:
        span = "–".join(map(str, dict.fromkeys((min(taken), max(taken)))))
        lines.append(f"■ {span}/{planned}")
    lost = len(own) - len(outcomes.of_trained(own))
    return "\n".join(lines + [f"× {lost} of {len(own)} failed"] * bool(lost))


def _panel(ax: Axes, own: pd.DataFrame, keys: list[str], norm: Normalize) -> QuadMesh:
    x, y = (np.sort(own[key].unique()).astype(float) for key in keys)
    table = own.pivot(index=keys[1], columns=keys[0], values="accuracy")
    mesh = ax.pcolormesh(_edges(x), _edges(y), table.to_numpy(dtype=float), cmap=HEAT, norm=norm)
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(x, [f"{value:g}" for value in x])
    ax.set_yticks(y, [f"{value:g}" for value in y])
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
    ax.grid(visible=False)
    _lines(ax, own, keys)
    for _, cell in own.iterrows():
        _number(ax, cell, (cell[keys[0]], cell[keys[1]]), mesh, norm)
    return mesh


def _number(
    ax: Axes, cell: pd.Series, at: tuple[float, float], mesh: QuadMesh, norm: Normalize
) -> None:
    """Write what a cell reached, on a ground of its own colour that no line crosses."""
    none = np.isnan(cell["accuracy"])
    ink = "white" if not none and norm(cell["accuracy"]) > DARK else "black"
    shade = "white" if none else mesh.to_rgba(cell["accuracy"])
    text = {"ha": "center", "color": ink, "textcoords": "offset points", "zorder": 4}
    text["bbox"] = {"facecolor": shade, "edgecolor": "none", "pad": 1.2}
    shown = "" if none else f"{cell['accuracy']:.1f}"
    ax.annotate(shown, at, (0, 1), va="bottom", weight="bold", **text)
    ax.annotate(cell["note"], at, (0, -2), va="top", fontsize=style.SMALL, **text)


def _edges(values: np.ndarray) -> np.ndarray:
    """Return the borders of cells around these values: half-way between them in the logarithm."""
    if len(values) == 1:  # all others are left out
        return values[0] * np.array([0.5, 2.0])
    logs = np.log(values)
    middle = (logs[1:] + logs[:-1]) / 2
    return np.exp([2 * logs[0] - middle[0], *middle, 2 * logs[-1] - middle[-1]])


def _lines(ax: Axes, own: pd.DataFrame, keys: list[str]) -> None:
    """Draw lines of equal epsilon, if plans differ in it."""
    if np.isinf(own["epsilon"]).any():
        return
    costs = _cost.costs(own, keys)
    low, high = np.nanmin(costs), np.nanmax(costs)
    if min(costs.shape) < 2 or low == 0 or high / low < 1.01:
        return
    x, y, fine = _interpolated(costs)
    budget = own["epsilon"].iloc[0]
    levels = _cost.levels(low, high, budget)
    widths = [2.6 if level == budget else 1.2 for level in levels]
    drawn = ax.contour(x, y, fine, levels, colors="black", linewidths=widths)
    halo = [patheffects.withStroke(linewidth=3.5, foreground="white", alpha=0.8)]
    drawn.set_path_effects(halo)
    at = list(_label_points(drawn.allsegs, _edges(costs.columns.to_numpy(dtype=float))))
    for text in ax.clabel(drawn, fmt="ε = {:g}".format, fontsize=style.SMALL, manual=at):
        text.set_path_effects(halo)


def _label_points(
    segments: list[list[np.ndarray]], borders: np.ndarray
) -> Iterator[tuple[float, float]]:
    """Yield a point of each line near a border of columns, where no cell has its number."""
    inner = np.log(borders[1:-1])
    longest = (max(lines, key=len, default=()) for lines in segments)
    for number, points in enumerate(filter(len, longest)):
        away = np.abs(np.log(points[:, [0]]) - inner)
        reached = np.flatnonzero(away.min(axis=0) < 0.1 * np.ptp(inner) + 0.1)
        border = reached[number % len(reached)] if len(reached) else 0
        yield tuple(points[away[:, border].argmin()])


def _interpolated(costs: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return epsilons on a fine grid, between which logarithms are straight."""
    y, x = (np.log(values.to_numpy(dtype=float)) for values in (costs.index, costs.columns))
    between = RegularGridInterpolator((y, x), np.log(costs.to_numpy()))
    y, x = np.linspace(y[0], y[-1], FINE), np.linspace(x[0], x[-1], FINE)
    fine = between(tuple(np.meshgrid(y, x, indexing="ij")))
    return np.exp(x), np.exp(y), np.exp(fine)

"""Mean test accuracy over two numbers that a study varies.

A square marks runs that the budget ended early, with the rounds that were taken and planned; a
cross counts runs that failed, which are in no mean. Colours begin at the tenth percentile of the
cells.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import Normalize
from matplotlib.ticker import NullLocator

from dpfl.figures import drawn, style
from dpfl.figures.kinds import _surface_words
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
    style.note(figure, _surface_words.note(study, cells, norm.vmin))
    data = cells.drop(columns="note")
    finding = _surface_words.finding(cells, keys)
    return drawn.told(figure, data, finding, _surface_words.shows(study, cells, keys))


def _norm(accuracies: pd.Series) -> Normalize:
    """Return the scale of colours, which a few cells that hardly train do not stretch."""
    known = accuracies.dropna()
    low, high = (known.quantile(LOWEST), known.max()) if len(known) else (0.0, 100.0)
    return Normalize(min(low, high - LEAST_SPAN), high, clip=True)


def _cells(study: dict, runs_dir: Path, keys: list[str]) -> pd.DataFrame:
    """Return a row per cell: its numbers, mean accuracy and rounds."""
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
                "note": _note(summaries[index], runs[runs["cell"] == index]),
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
    # Kept runs of older folders do not say how many they took.
    ended = [s.get("rounds", planned) for s in summaries if not s["diverged"]]
    taken = [rounds for rounds in ended if rounds < planned]
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
    for _, cell in own.iterrows():
        _number(ax, cell, (cell[keys[0]], cell[keys[1]]), mesh, norm)
    return mesh


def _number(
    ax: Axes, cell: pd.Series, at: tuple[float, float], mesh: QuadMesh, norm: Normalize
) -> None:
    """Write what a cell reached, on a ground of its own colour."""
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

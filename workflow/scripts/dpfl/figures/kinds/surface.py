"""Test accuracy over two numbers, such as clip norm and noise multiplier, or rate and clip norm.

A square marks runs that the budget ended early, with the rounds that were taken and planned; a
cross counts runs that failed, which are in no mean. Colours begin at the tenth percentile of the
cells.
"""

from pathlib import Path

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from dpfl.figures import datasets, drawn, style
from dpfl.figures.kinds import _cells, _study
from dpfl.tables import results

NUMBERS = 2
WIDTH = 7.2  # of the smallest figure, inches: that of its title
LOWEST = 0.1
"""The quantile of the cells at which colours begin."""
LEAST_SPAN = 1.0
"""Points that the scale of colours spans at least."""
MARKS = {"■": "rounds that the budget paid for, of those planned", "×": "runs that failed"}


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study; a row per epsilon, a column per method."""
    keys = results.numeric_keys(study)
    cells = _measured(study, runs_dir, keys)
    epsilons, names = sorted(cells["epsilon"].unique()), list(dict.fromkeys(cells["series"]))
    across, down = (cells[key].nunique() for key in keys)
    panel = (max(1.4 + 1.05 * across, WIDTH / len(names)), 2.2 + 0.75 * down)
    figure, axes = style.canvas(len(epsilons), len(names), panel=panel)
    norm = _norm(cells["accuracy"])
    for row, epsilon in zip(axes, epsilons, strict=True):
        for ax, name in zip(row, names, strict=True):
            _panel(ax, cells[(cells["epsilon"] == epsilon) & (cells["series"] == name)], keys, norm)
            title = " · ".join([name] * (len(names) > 1) + [style.epsilon_text(epsilon)])
            ax.set_title(title, loc="left")
    below = bool((cells["accuracy"] < norm.vmin).any())
    bar = {"label": "test accuracy, %", "pad": 0.02, "extend": "min" if below else "neither"}
    figure.colorbar(ScalarMappable(norm, style.HEAT), ax=axes, **bar)
    used = [f"{mark} {words}" for mark, words in MARKS.items() if mark in "".join(cells["note"])]
    told = f" {'; '.join(used)}." * bool(used)
    lowest = f" Colours begin at {norm.vmin:.1f} %." * below
    style.note(
        figure, f"{_study.about(study)} Cells: {style.seeds_text(cells['n'])}.{told}{lowest}"
    )
    data = cells.drop(columns="note")
    return drawn.titled(figure, data, _finding(cells, keys), _shows(study, cells, keys))


def _measured(study: dict, runs_dir: Path, keys: list[str]) -> pd.DataFrame:
    """Return a row per cell: its numbers, mean accuracy, nan without any, and rounds."""
    runs = results.frame(study, runs_dir)
    variants = [study["cells"][cell]["variant"] for cell in runs["cell"]]
    others = [{k: v for k, v in variant.items() if k not in keys} for variant in variants]
    series = style.names(runs.assign(variant=[*map(results.variant_text, others)]))
    numbers = {key: [variant[key] for variant in variants] for key in keys}
    runs = runs.assign(series=series, **numbers)
    cells = _cells.measured(study, runs, [*keys, "series", "epsilon"])
    summaries: dict[int, list[dict]] = {}
    for index, summary in results.summaries(study, runs_dir):
        summaries.setdefault(index, []).append(summary)
    notes = [_note(cell, summaries[cell["cell"]]) for _, cell in cells.iterrows()]
    cells = cells.rename(columns={"mean": "accuracy"}).assign(note=notes)
    return cells[[*keys, "series", "epsilon", "note", "accuracy", "n", "trained"]]


def _note(cell: pd.Series, summaries: list[dict]) -> str:
    """Say which runs of a cell failed, and how far those came that the budget ended early."""
    planned = summaries[0]["settings"]["federation"]["rounds"]
    # Kept runs of older folders do not say how many they took.
    ended = [s.get("rounds", planned) for s in summaries if not s["diverged"]]
    taken = sorted({rounds for rounds in ended if rounds < planned})
    span = "–".join(str(rounds) for rounds in dict.fromkeys([*taken[:1], *taken[-1:]]))
    lost = cell["n"] - cell["trained"]
    lines = [f"■ {span}/{planned}"] * bool(taken) + [f"× {lost}/{cell['n']} failed"] * bool(lost)
    return "\n".join(lines)


def _norm(accuracies: pd.Series) -> Normalize:
    """Return the scale of colours, which a few cells that hardly train do not stretch."""
    known = accuracies.dropna()
    low, high = (known.quantile(LOWEST), known.max()) if len(known) else (0.0, 100.0)
    return Normalize(min(low, high - LEAST_SPAN), high, clip=True)


def _panel(ax: Axes, own: pd.DataFrame, keys: list[str], norm: Normalize) -> None:
    """Draw the cells of one line and budget, each with what it reached."""
    reached = own["accuracy"].map("{:.1f}\n".format).where(own["accuracy"].notna(), "")
    table = own.assign(text=(reached + own["note"]).str.strip())
    table = table.pivot(index=keys[1], columns=keys[0])
    numbers, texts = table["accuracy"].astype(float), table["text"].fillna("")
    style.heat(ax, numbers, texts, norm)
    ax.set(**{f"{side}label": key.replace("_", " ") for side, key in zip("xy", keys, strict=True)})


def _finding(cells: pd.DataFrame, keys: list[str]) -> str:
    """Tell where accuracy is highest at the largest epsilon, and what the worst cell has."""
    own = cells[cells["epsilon"] == cells["epsilon"].max()].dropna(subset=["accuracy"])
    if own.empty:
        return "No run trained"
    best, worst = own.loc[own["accuracy"].idxmax()], own["accuracy"].min()
    at = " and ".join(f"{key.replace('_', ' ')} {best[key]:g}" for key in keys)
    n, trained = best["n"], best["trained"]
    seeds = style.seeds_text([n]) if trained == n else f"{trained:g} of {n:g} trained"
    return (
        f"Accuracy is highest at {at}: {best['accuracy']:.1f} % {style.at(best['epsilon'])}, "
        f"{seeds}; the worst cell that trained has {worst:.1f} %"
    )


def _shows(study: dict, cells: pd.DataFrame, keys: list[str]) -> str:
    """Return the accuracy of every cell."""

    def mean(cell: pd.Series) -> str:
        reached = f"{cell['accuracy']:.1f}" if cell["trained"] else "failed"
        return f"{', '.join(f'{key} {cell[key]:g}' for key in keys)} {reached}"

    axes, name = " and ".join(keys).replace("_", " "), datasets.title(study["dataset"])
    return f"Mean test accuracy in percent on {name} over {axes}. {style.by_epsilon(cells, mean)}"

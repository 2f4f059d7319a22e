"""Test accuracy by variant: a dot per method, a bar for the 95 % Student interval over seeds."""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.plots import _style
from dpfl.tables import results, verdicts

DODGE = 0.6
LETTER = 0.075  # width in inches of a letter of a tick's name


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the runs of a study; a panel per epsilon."""
    runs = results.frame(study, runs_dir)
    variants = [results.variant_text(cell["variant"]) for cell in study["cells"]]
    variants = list(dict.fromkeys(variants))
    epsilons = sorted(runs["epsilon"].unique())
    names = [_tick(runs, cell["variant"]) for cell in _each(study, variants)]
    height = 1.2 + len(variants) * (0.25 + 0.16 * runs["method"].nunique())
    width = max(3.6, 7.5 / len(epsilons)) + LETTER * max(map(len, names)) / len(epsilons)
    figure, axes = _style.canvas(1, len(epsilons), panel=(width, height), sharey=True)
    for ax, epsilon in zip(axes[0], epsilons, strict=True):
        own = runs[runs["epsilon"] == epsilon]
        _panel(ax, own, variants)
        counts = own.groupby(["method", "variant"]).size()
        ax.set_title(f"{_style.epsilon_text(epsilon)}, {_style.seeds_text(counts)}", loc="left")
        ax.set_xlabel("test accuracy, %")
    axes[0, 0].set_yticks(range(len(variants)), names)
    axes[0, 0].set_ylim(len(variants) - 0.5, -0.5)
    figure.suptitle(
        f"{study['title']}\n{study['dataset']}, mean and 95 % interval over seeds",
        fontsize="medium",
    )
    fullest = max(axes[0], key=lambda ax: len(ax.get_legend_handles_labels()[1]))
    _style.legend_below(figure, fullest)
    return figure


def _each(study: dict, variants: list[str]) -> list[dict]:
    """Return a cell of every variant, in this order."""
    cells = {results.variant_text(cell["variant"]): cell for cell in study["cells"]}
    return [cells[variant] for variant in variants]


def _tick(runs: pd.DataFrame, variant: dict) -> str:
    """Name a variant; numbers with their key, and "not certified" if its method may be."""
    split = runs.groupby("method")["label"].transform("nunique") > 1
    own = runs[split & (runs["variant"] == results.variant_text(variant))]
    unproven = len(own) and own["label"].str.endswith(results.NOT_CERTIFIED).all()
    parts = [v if isinstance(v, str) else f"{k}={v}" for k, v in variant.items()]
    return (", ".join(parts) or "default") + results.NOT_CERTIFIED * bool(unproven)


def _shared(labels: pd.Series) -> str:
    """Return the label that all of them are, if there is one."""
    return labels.iloc[0] if labels.nunique() == 1 else ""


def _panel(ax: Axes, runs: pd.DataFrame, variants: list[str]) -> None:
    methods = _style.ordered(runs["method"])
    offsets = DODGE * (np.arange(len(methods)) + 0.5 - len(methods) / 2) / len(methods)
    looks = _style.looks(methods)
    for method, offset in zip(methods, offsets, strict=True):
        own = runs[runs["method"] == method]
        cells = [(v, verdicts.interval(a["accuracy"])) for v, a in own.groupby("variant")]
        cells.sort(key=lambda cell: variants.index(cell[0]))
        y = np.array([variants.index(variant) for variant, _ in cells]) + offset
        x = np.array([measured.mean for _, measured in cells])
        half = [np.nan if m.high is None else m.high - m.mean for _, m in cells]
        style = looks[method].line() | {"linestyle": "none"}
        ax.plot(x, y, label=_shared(own["label"]) or method, **style)
        bars = np.isfinite(half)
        ax.errorbar(
            x[bars], y[bars], xerr=np.array(half)[bars], fmt="none", ecolor=looks[method].colour
        )
    for edge in np.arange(len(variants) - 1) + 0.5:
        ax.axhline(edge, color="0.85", linewidth=0.8, zorder=0)
    ax.grid(visible=False, axis="y")

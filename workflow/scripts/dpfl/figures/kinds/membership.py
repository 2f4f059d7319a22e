"""Membership inference attacks on final models: true against false positive rate, by attack.

A panel per method and epsilon. Every seed's model is the target once, the other seeds' models are
references; lines are means over targets, bands lie between their quartiles. Grey is guessing.
Below: the area under the curve, and the true positive rates (TPR) at 0.1 % and 1 % false positives,
none where there are too few non-members. That attacks fail proves nothing.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from dpfl.figures import datasets, drawn, families, looks, style
from dpfl.figures.kinds import _study
from dpfl.tables import attacks, rendering, results
from dpfl.words import columns
from dpfl.words.numerals import counted

READS_STUDY = ("results/membership/{study}.safetensors",)
TABLE = True
HOLDS_OUT = NO_PUBLIC = True
LEAST_SEEDS = 4  # attacks.LEAST, where plans can read it
LOWEST = 1e-4
GUESSING = "0.55"


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the scored examples of a study's runs."""
    grid = np.unique([*np.geomspace(LOWEST, 1, 161), *attacks.RATES.values()])
    table = attacks.measured(study, runs_dir, grid)
    if table.empty:
        return drawn.nothing(f"{study['title']}: too few runs trained to attack one by the others")
    titles = [" = ".join(map(families.title, own)) for own in table["labels"]]
    series = style.names(table, titles, unproven=True)
    table = table.assign(series=series, area=table["auc"].map(np.mean))
    epsilons = sorted(table["epsilon"].unique())
    lines = list(table.groupby(["method", "variant"], sort=False))
    figure, axes = style.canvas(len(lines), len(epsilons), panel=(4.9, 5.4))
    known = looks.numbered(table["attack"])
    for row, (_, line) in zip(axes, lines, strict=True):
        for ax, epsilon in zip(row, epsilons, strict=True):
            own = line[line["epsilon"] == epsilon]
            if own.empty:  # the same runs as another method's, or too few that trained
                ax.remove()
                continue
            _panel(ax, own, grid, known)
            ax.set_title(f"{own['series'].iloc[0]}\n{style.epsilon_text(epsilon)}", loc="left")
    style.note(figure, _note(study, table, int((~results.frame(study, runs_dir)["trained"]).sum())))
    most = table.loc[table["area"].idxmax()]
    finding = (
        f"Of all membership inference attacks, {most['attack']} finds most, in {most['series']} "
        f"{style.at(most['epsilon'])}: area {most['area']:.3f}, where guessing has 0.5"
    )
    told = style.by_epsilon(table, lambda r: f"{r['series']}, {r['attack']} {r['area']:.3f}")
    shows = (
        "True against false positive rate of membership inference attacks on "
        f"{datasets.title(study['dataset'])}. Area under the curve: {told}"
    )
    return drawn.titled(figure, attacks.summary(study, runs_dir), finding, shows)


def tabulate(study: dict, runs_dir: Path, stem: Path) -> None:
    """Write the numbers beside the figure as stem.csv, stem.md and stem.tex."""
    shown = columns.shown("attacks", results.settings(study))
    rendering.write(stem, attacks.summary(study, runs_dir), shown)


def _note(study: dict, table: pd.DataFrame, lost: int) -> str:
    failed = f" {counted(lost, 'run')} that failed: neither target nor reference." * bool(lost)
    return (
        f"{_study.about(study)} Membership inference attacks: mean over targets "
        f"({style.seeds_text(table['targets'])}), band between quartiles. Grey: guessing.{failed}"
    )


def _panel(ax: Axes, own: pd.DataFrame, grid: np.ndarray, known: dict[str, looks.Look]) -> None:
    """Draw the attacks on one cell, with what they achieve beneath."""
    ax.plot(grid, grid, color=GUESSING, linewidth=1.2, label="_guessing")
    for _, row in own.iterrows():
        line = known[row["attack"]].line() | {"marker": ""}
        ax.plot(grid, row["tpr"].mean(0), label=_label(row, grid), **line)
        quartiles = np.quantile(row["tpr"], [0.25, 0.75], axis=0)
        ax.fill_between(grid, *quartiles, color=line["color"], alpha=0.12, linewidth=0)
    ax.set(xscale="log", yscale="log", xlim=(LOWEST, 1), ylim=(LOWEST, 1), aspect="equal")
    ax.set(xlabel="false positive rate", ylabel="true positive rate")
    font = {"family": "monospace", "size": "small"}
    head = f"{'attack':<20} {'AUC':>5} {'TPR@0.1%':>8} {'TPR@1%':>7}"
    place = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.22), "alignment": "right"}
    ax.legend(title=head, title_fontproperties=font, prop=font, frameon=False, **place)


def _label(row: pd.Series, grid: np.ndarray) -> str:
    """Return an attack's line of the table: its AUC, and its true positive rates."""
    at = [row["tpr"][:, np.searchsorted(grid, rate)].mean() for rate in attacks.RATES.values()]
    rates = ["–" if np.isnan(rate) else f"{rate:.2%}" for rate in at]
    return f"{row['attack']:<20} {row['area']:5.3f} {rates[0]:>8} {rates[1]:>7}"

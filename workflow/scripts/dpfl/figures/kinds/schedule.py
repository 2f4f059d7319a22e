"""What each budget strategy does, round by round: noise multiplier, epsilon spent, test accuracy.

A line per strategy, the mean over the seeds that trained: of noise over those still training, of
epsilon over all, also over those that have ended. A line that ends early has no budget left; the
dotted line is the budget. Round 0 has no noise. At the right stands the accuracy after the last
round less that of the baseline, in points: a mark is the mean of the seeds that both share, a dot
one seed, a bar the 95 % interval, none below three seeds. Without a baseline it is the accuracy
itself. A row per epsilon.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dpfl.figures import datasets, drawn, findings, keys, looks, style
from dpfl.figures.kinds import _against, _context, _failures, _rounds
from dpfl.seeds import outcomes
from dpfl.tables import results

PANELS = {"noise_multiplier": r"noise multiplier $\sigma_t$", "epsilon_spent": "ε spent"}
GREY = "0.55"


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the metrics of a study's runs."""
    runs = results.frame(study, runs_dir)
    runs = runs.assign(series=_names(runs))
    private = runs[np.isfinite(runs["epsilon"])]
    means = _means(study, runs_dir, private)
    if not means["noise_multiplier"].notna().any():
        return drawn.nothing(f"{study['title']}: no run recorded its noise")
    base = _against.baseline(study, private)
    gaps = _against.gaps(private, base)
    epsilons = sorted(private["epsilon"].unique())
    figure, axes = style.canvas(len(epsilons), 3, panel=(3.6, 3.0), sharex="col")
    known = looks.numbered(private["series"])
    for row, epsilon in zip(axes, epsilons, strict=True):
        _lines(row[:2], means[means["epsilon"] == epsilon], known)
        _against.panel(row[2], gaps[gaps["epsilon"] == epsilon], known, base)
        row[0].set_title(style.epsilon_text(epsilon), loc="left")
    for ax, label in zip(axes[-1], ("round", "round", _against.label(base)), strict=True):
        ax.set_xlabel(label)
    _explain(figure, study, private, known)
    data = means.merge(_against.written(gaps), on=["series", "epsilon"], how="left")
    finding = _against.finding(gaps, base) or findings.leading(private)
    return drawn.told(figure, data, finding, _shows(study, gaps, base))


def _names(runs: pd.DataFrame) -> pd.Series:
    """Return the name of each row's line: its variant, and its method if there are several."""
    several = runs["method"].nunique() > 1 or (runs["variant"] == "").all()
    return (
        style.names(runs) if several else runs["variant"].str.replace(r"^budget=", "", regex=True)
    )


def _means(study: dict, runs_dir: Path, runs: pd.DataFrame) -> pd.DataFrame:
    """Return what each line spends by round: the mean over its runs that trained."""
    metrics = results.trajectories(study, runs_dir, "metrics")
    kept = outcomes.of_trained(runs)[["cell", "run", "series"]]
    line = ["series", "epsilon", "certified"]
    lasting = _rounds.carried(metrics.merge(kept, on=["cell", "run"]), line, ["epsilon_spent"])
    groups = lasting.groupby([*line, "round"], sort=False)
    return groups[list(PANELS)].mean().reset_index()


def _lines(axes: list[Axes], own: pd.DataFrame, known: dict[str, looks.Look]) -> None:
    """Draw noise and spending of one epsilon."""
    apart = max(1, own["round"].max() // 5)
    for number, (series, line) in enumerate(own.groupby("series", sort=False)):
        drawn_as = known[series].line(bool(line["certified"].all()))
        drawn_as |= {"markevery": (number % apart, apart), "markersize": 5}
        for ax, column in zip(axes, PANELS, strict=True):
            known_rounds = line.dropna(subset=[column])
            ax.plot(known_rounds["round"], known_rounds[column], label=series, **drawn_as)
    for ax, label in zip(axes, PANELS.values(), strict=True):
        ax.set_ylabel(label)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes[1].axhline(own["epsilon"].iloc[0], color=GREY, linestyle=":", label="_budget")


def _explain(figure: Figure, study: dict, runs: pd.DataFrame, known: dict) -> None:
    cells = runs.groupby("cell").agg(n=("run", "size"), trained=("trained", "sum"))
    handles = [*keys.proof(runs["certified"]), *keys.seeds(cells["n"])]
    counts = f" {style.seeds_text(cells['n'])}." + _failures.sentence(cells)
    style.note(figure, f"{_context.about(study)}{counts}", handles)


def _shows(study: dict, gaps: pd.DataFrame, base: str | None) -> str:
    told = [f"{g['series']} {g['mean']:+.1f} at ε = {g['epsilon']:g}" for _, g in gaps.iterrows()]
    what = f"Points of accuracy against {base}" if base else "Test accuracy in percent"
    return (
        f"Noise multiplier and ε spent by round, and accuracy after the last, on "
        f"{datasets.of(study)}. {what}: {'; '.join(told)}"
    )

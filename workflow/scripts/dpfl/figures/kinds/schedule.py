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
from matplotlib.ticker import MaxNLocator

from dpfl.figures import datasets, drawn, findings, keys, looks, style
from dpfl.figures.kinds import _cells, _rounds, _study
from dpfl.seeds import outcomes, pairing, verdicts
from dpfl.tables import results

PANELS = {"noise_multiplier": r"noise multiplier $\sigma_t$", "epsilon_spent": "ε spent"}
GREY = "0.55"
GAP = ("n", "mean", "low", "high", "seeds")
"""Of the differences from the baseline."""


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the metrics of a study's runs."""
    runs = results.frame(study, runs_dir)
    private = runs.assign(series=_names(study, runs))[np.isfinite(runs["epsilon"])]
    line = ["series", "epsilon", "certified"]
    rounds = _rounds.of_trained(study, runs_dir, private, line, "epsilon_spent")
    means = rounds.groupby([*line, "round"], sort=False)[list(PANELS)].mean().reset_index()
    if not means["noise_multiplier"].notna().any():
        return drawn.nothing(f"{study['title']}: no run recorded its noise")
    base = _baseline(study, private)
    gaps = _gaps(private, base)
    epsilons = sorted(private["epsilon"].unique())
    figure, axes = style.canvas(len(epsilons), 3, panel=(3.6, 3.0), sharex="col")
    known = looks.numbered(private["series"])
    for row, epsilon in zip(axes, epsilons, strict=True):
        _lines(row[:2], means[means["epsilon"] == epsilon], known)
        _points(row[2], gaps[gaps["epsilon"] == epsilon], known, base)
        row[0].set_title(style.epsilon_text(epsilon), loc="left")
    against = f"points of accuracy against {base}" if base else "test accuracy, %"
    for ax, label in zip(axes[-1], ("round", "round", against), strict=True):
        ax.set_xlabel(label)
    cells = private.groupby("cell").agg(n=("run", "size"), trained=("trained", "sum"))
    lost = " " + _cells.FAILED.capitalize() + " are in no mean."
    counts = f" {style.seeds_text(cells['n'])}." + lost * bool((~private["trained"]).any())
    handles = [*keys.proof(private["certified"]), *keys.seeds(cells["n"])]
    style.note(figure, f"{_study.about(study)}{counts}", handles)
    written = gaps.drop(columns="certified").rename(columns={n: f"against_{n}" for n in GAP})
    data = means.merge(written, on=["series", "epsilon"], how="left")
    finding = _finding(gaps, base) or findings.leading(private)
    return drawn.titled(figure, data, finding, _shows(study, gaps, base))


def _names(study: dict, runs: pd.DataFrame) -> pd.Series:
    """Return the name of each row's line: its variant, and its method if there are several."""
    if runs["method"].nunique() > 1 or (runs["variant"] == "").all():
        return style.names(runs)
    variants = [study["cells"][cell]["variant"] for cell in runs["cell"]]
    rest = [results.variant_text(variant, without="budget") for variant in variants]
    pairs = ((own.get("budget", ""), text) for own, text in zip(variants, rest, strict=True))
    return pd.Series([", ".join(filter(None, pair)) for pair in pairs], runs.index)


def _baseline(study: dict, runs: pd.DataFrame) -> str | None:
    """Return the line that a study compares its others with, None if that is not one line."""
    wanted = study.get("baseline", {}).items()
    settings = [{"method": cell["method"]} | cell["variant"] for cell in study["cells"]]
    cells = [number for number, own in enumerate(settings) if wanted and wanted <= own.items()]
    found = runs.loc[runs["cell"].isin(cells), "series"].unique()
    return found[0] if len(found) == 1 else None


def _gaps(runs: pd.DataFrame, base: str | None) -> pd.DataFrame:
    """Return a row per line and epsilon: mean, interval and seeds of its difference, in points.

    Without a baseline it is the accuracy itself, in percent.
    """
    rows = []
    for (series, epsilon), own in runs.groupby(["series", "epsilon"], sort=False):
        beside = runs[(runs["series"] == base) & (runs["epsilon"] == epsilon)]
        seeds = outcomes.of_trained(own)["accuracy"].to_numpy()
        if base is not None:
            seeds = pairing.differences(own, beside, [epsilon])
        found = verdicts.interval(seeds)
        certified = bool(own["certified"].all())
        row = {"series": series, "epsilon": epsilon, "certified": certified}
        numbers = (found.n, found.mean, found.low, found.high, tuple(seeds))
        rows.append(row | dict(zip(GAP, numbers, strict=True)))
    return pd.DataFrame(rows)


def _lines(axes: list[Axes], own: pd.DataFrame, known: dict[str, looks.Look]) -> None:
    """Draw noise and spending of one epsilon."""
    apart = max(1, own["round"].max() // 5)
    for number, (series, line) in enumerate(own.groupby("series", sort=False)):
        drawn_as = known[series].line(bool(line["certified"].all()))
        drawn_as |= {"markevery": (number % apart, apart), "markersize": 5}
        for ax, column in zip(axes, PANELS, strict=True):
            there = line.dropna(subset=[column])
            ax.plot(there["round"], there[column], label=series, **drawn_as)
    for ax, label in zip(axes, PANELS.values(), strict=True):
        ax.set_ylabel(label)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes[1].axhline(own["epsilon"].iloc[0], color=GREY, linestyle=":", label="_budget")


def _points(ax: Axes, gaps: pd.DataFrame, known: dict[str, looks.Look], base: str | None) -> None:
    """Draw the lines of one epsilon as points, one beneath another."""
    for y, (_, row) in enumerate(gaps.iterrows()):
        _cells.draw(ax, row, y, known[row["series"]], row["series"], _cells.Frame(across=True))
    if base is not None:
        ax.axvline(0, color="0.35", linewidth=1, label="_base")
    ax.set_yticks(range(len(gaps)), map(style.literal, gaps["series"]))
    ax.set_ylim(len(gaps) - 0.5, -0.5)
    ax.margins(x=0.12)


def _finding(gaps: pd.DataFrame, base: str | None) -> str:
    """Tell how far the best other line is from the baseline at the largest epsilon."""
    most = gaps["epsilon"].max()
    others = gaps[(gaps["series"] != base) & (gaps["epsilon"] == most) & (gaps["n"] > 0)]
    if base is None or others.empty:
        return ""
    best = others.loc[others["mean"].idxmax()]
    name = f"{best['series']} (best of the others)" if len(others) > 1 else best["series"]
    return findings.gap(name, base, best["seeds"], style.at(most))


def _shows(study: dict, gaps: pd.DataFrame, base: str | None) -> str:
    told = style.by_epsilon(gaps, lambda row: f"{row['series']} {row['mean']:+.1f}")
    what = f"Points of accuracy against {base}" if base else "Test accuracy in percent"
    return (
        f"Noise multiplier and ε spent by round, and accuracy after the last, on "
        f"{datasets.title(study['dataset'])}. {what}, {told}"
    )

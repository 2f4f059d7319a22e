"""Audited lower bound of epsilon against the claimed one, a mark per method: hollow if no proof.

A mark is the largest bound over seeds, dots are the seeds, a dash is the ceiling of an audit of
one run, or what the stated noise lets an audit step by step expect. Marks of one claim stand side
by side in its column; the shaded area begins at the claim, and what lies in it is refuted. A cross
is an audit whose check of noise or sampling failed. Bounds too small for the frame stand at its
lower edge.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullLocator

from dpfl.figures import datasets, drawn, keys, looks, style
from dpfl.figures.kinds import _study
from dpfl.seeds import audits
from dpfl.tables import results
from dpfl.words.numerals import rounded_down
from dpfl.words.vocabulary import BEATEN

WIDTH = 0.84
"""Share of a claim's column over which its marks are spread."""
ALONE = 2.0
"""Width of the column, as a ratio, of a claim that is the only one."""
CLOSE = 0.035
"""Share of the axes between two marks of one column, at most: they belong to one claim."""
LEAST = 10.0
"""The frame reaches down to the lowest claim divided by this."""
SHADE = "#F6DDD8"
POINTS = {"linestyle": "none", "zorder": 4}
CROSS = POINTS | {"marker": "x", "markersize": 13, "markeredgewidth": 2, "zorder": 6}


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study."""
    runs = results.frame(study, runs_dir)
    broken = runs["audit_broken"].map(bool)
    private = runs.assign(series=style.names(runs), broken=broken)[np.isfinite(runs["eps_claimed"])]
    runs = private[private["eps_audit_lb"].notna() | private["broken"]]
    if runs.empty:
        return drawn.nothing(f"{study['title']}: no run was audited")
    figure, axes = style.canvas(panel=(8.8, 5.6))
    known = looks.of_study(study)
    ax, claims = axes[0, 0], np.sort(runs["eps_claimed"].unique())
    edges = _edges(claims)
    runs = _placed(runs, claims, edges, list(known))
    _frame(ax, runs, claims, edges)
    _refuted(ax, claims, edges)
    for method, look in known.items():
        variants = runs[runs["method"] == method].groupby("series", sort=False)
        for number, (series, own) in enumerate(variants):
            _marks(ax, own, looks.member(look, number) if number else look, series)
    lost = runs[runs["cell"].isin(runs.loc[runs["broken"], "cell"])].groupby("cell")
    if len(lost):
        at = lost[["x", "y"]].max()
        ax.plot(at["x"], at["y"], label="a check failed", color=style.ALARM, **CROSS)
    silent = sorted(set(private["series"]) - set(runs["series"]))
    named = [*ax.get_legend_handles_labels()[0], *keys.proof(runs["certified"])]
    style.note(figure, _note(study, runs, silent), named)
    cells = _cells(runs)
    return drawn.titled(figure, cells, _finding(cells), _shows(study, cells, silent))


def _edges(claims: np.ndarray) -> np.ndarray:
    """Return the borders of the claims' columns: half-way between them in the logarithm."""
    logs = np.log(claims)
    gaps = np.diff(logs) if len(logs) > 1 else np.log([ALONE])
    wide = np.array([logs[0] - gaps[0], *logs, logs[-1] + gaps[-1]])
    return np.exp((wide[:-1] + wide[1:]) / 2)


def _placed(
    runs: pd.DataFrame, claims: np.ndarray, edges: np.ndarray, methods: Sequence[str]
) -> pd.DataFrame:
    """Return runs with where they stand: every line has a place of its own in each column."""
    order = runs.sort_values("method", key=lambda own: own.map(methods.index), kind="stable")
    lines = list(order["series"].unique())
    narrowest = 2 * np.log(edges[1:] / claims).min()
    slot = min(narrowest * WIDTH / len(lines), CLOSE * np.log(edges[-1] / edges[0]))
    place = runs["series"].map(lines.index) + 0.5 - 0.5 * len(lines)
    y = runs["eps_audit_lb"].fillna(0).clip(lower=claims[0] / LEAST)
    return runs.assign(x=runs["eps_claimed"] * np.exp(slot * place), y=y)


def _frame(ax: Axes, runs: pd.DataFrame, claims: np.ndarray, edges: np.ndarray) -> None:
    ceilings = runs["audit_ceiling"][np.isfinite(runs["audit_ceiling"])]
    top = 3 * max(runs["y"].max(), ceilings.max(), claims[-1])
    ax.set(xscale="log", yscale="log", xlim=edges[[0, -1]], ylim=(claims[0] / LEAST / 1.2, top))
    ax.set_xticks(claims, [f"{claim:g}" for claim in claims])
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
    ax.grid(visible=False, axis="x")
    ax.set(xlabel="ε claimed", ylabel="ε audited, a lower bound")


def _refuted(ax: Axes, claims: np.ndarray, edges: np.ndarray) -> None:
    """Shade each column above its claim."""
    for claim, *column in zip(claims, edges[:-1], edges[1:], strict=True):
        ax.fill_between(column, claim, ax.get_ylim()[1], color=SHADE, linewidth=0, zorder=0)
        ax.plot(column, [claim, claim], color=style.ALARM, linewidth=1.2, label="_claim")
        ax.axvline(column[1], color="0.88", linewidth=0.8, zorder=1)
    place = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top"}
    ax.annotate("refuted: audited above the claim", (0, 1), (8, -8), color=style.ALARM, **place)


def _marks(ax: Axes, runs: pd.DataFrame, look: looks.Look, series: str) -> None:
    """Draw one line's marks, seeds and ceilings."""
    most = runs.groupby("cell", sort=False)[["x", "y", "audit_ceiling"]].max()
    mark = look.mark(bool(runs["certified"].all()))
    mark |= POINTS | {"markersize": 1.2 * mark["markersize"]}
    ax.plot(most["x"], most["y"], label=series, **mark)
    dots = POINTS | {"marker": ".", "markersize": 4, "label": f"_seeds of {series}", "zorder": 5}
    ax.plot(runs["x"], runs["y"], color=look.colour, **dots)
    known = most[np.isfinite(most["audit_ceiling"])]
    dash = POINTS | {"marker": "_", "markersize": 11, "markeredgewidth": 2}
    label = f"_ceiling of {series}"
    ax.plot(known["x"], known["audit_ceiling"], color=look.colour, label=label, **dash)
    rest = {"color": look.colour, "alpha": 0.25, "linewidth": 1}
    ax.vlines(known["x"], known["y"], known["audit_ceiling"], **rest)


def _note(study: dict, runs: pd.DataFrame, silent: list[str]) -> str:
    missing = f" No bound: {', '.join(silent)}." if silent else ""
    error = runs.groupby("cell")["audit_level"].sum().max()
    return (
        f"{_study.about(study)} Marks: {style.seeds_text(runs.groupby('cell').size())}, the "
        "largest bound; dots: seeds; dash: ceiling, or what is expected step by step. "
        f"A mark holds with error {error:.2g} at most.{missing}"
    )


def _cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Return a row per line and claim: the largest bound, the ceiling, and what it says."""
    runs = runs.assign(name=style.names(runs.assign(refuted=False)))
    groups = runs.groupby(["name", "eps_claimed"], sort=False)
    found = groups.agg(
        n=("run", "size"),
        certified=("certified", "all"),
        eps_certified=("eps_certified", "max"),
        eps_audited=("eps_audit_lb", "max"),
        level=("audit_level", "sum"),
        ceiling=("audit_ceiling", "max"),
    )
    privacy = [audits.of_cell(own)["privacy"] for _, own in groups]
    return found.assign(privacy=privacy).reset_index()


def _finding(cells: pd.DataFrame) -> str:
    """Tell what audits refute: certificates, else claims; if none, how near to a claim one came."""
    for verdict, what in zip(BEATEN, ("certificates", "claims"), strict=True):
        refuted = cells[cells["privacy"] == verdict]
        if len(refuted):
            named = ", ".join(refuted["name"].unique())
            return f"Audits refute {len(refuted)} of {len(cells)} {what}: {named}"
    share = math.floor(100 * (cells["eps_audited"] / cells["eps_claimed"]).max())
    return f"No audit refutes a claim; the largest bound is {share} % of what is claimed"


def _shows(study: dict, cells: pd.DataFrame, silent: list[str]) -> str:
    told = [
        f"{row['name']}, claimed {row['eps_claimed']:g}: {rounded_down(row['eps_audited'])}"
        for _, row in cells.iterrows()
    ]
    none = f"; no bound: {', '.join(silent)}" if silent else ""
    return (
        "Audited lower bound of ε against the claimed ε on "
        f"{datasets.title(study['dataset'])}, the largest over seeds. {'; '.join(told)}{none}"
    )

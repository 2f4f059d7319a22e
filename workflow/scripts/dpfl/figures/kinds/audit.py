"""Audited lower bound of epsilon against the claimed one, a mark per method: hollow if unproven.

A mark is the largest bound over seeds, dots are the seeds, a dash is the ceiling of an audit of
one run, or what the stated noise lets an audit step by step expect. Marks of one claim stand side
by side in its column; the shaded area begins at the claim, and what lies in it is refuted; the
dotted line is the diagonal. A cross is an audit whose check of noise or sampling failed. Bounds too
small for the frame stand at its lower edge.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from dpfl.figures import datasets, drawn, keys, looks, style
from dpfl.figures.kinds import _context
from dpfl.seeds import audits, verdicts
from dpfl.tables import results
from dpfl.words.numerals import rounded_down

WIDTH = 0.84
"""Share of a claim's column over which its marks are spread."""
ALONE = 2.0
"""Width of the column, as a ratio, of a claim that is the only one."""
CLOSE = 0.035
"""Share of the axes between two marks of one column, at most: they belong to one claim."""
LEAST = 10.0
"""The frame reaches down to the lowest claim divided by this."""
SHADE = "#F6DDD8"
DIAGONAL = {"color": style.ALARM, "linestyle": ":", "linewidth": 1, "alpha": 0.7, "zorder": 1}
POINTS = {"linestyle": "none", "zorder": 4}


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study."""
    runs = results.frame(study, runs_dir)
    runs = runs.assign(series=style.names(runs))[np.isfinite(runs["eps_claimed"])]
    private, runs = runs, _audited(runs)
    if runs.empty:
        return drawn.nothing(f"{study['title']}: no run was audited")
    figure, axes = style.canvas(panel=(8.8, 5.6))
    known = looks.of_study(study)
    ax, claims = axes[0, 0], sorted(runs["eps_claimed"].unique())
    runs = _placed(runs, claims, list(known))
    edges = _edges(claims)
    _frame(ax, runs, claims, edges)
    _refuted(ax, claims, edges)
    for method, look in known.items():
        variants = runs[runs["method"] == method].groupby("series", sort=False)
        for number, (series, own) in enumerate(variants):
            _marks(ax, own, looks.member(look, number) if number else look, series)
    _crosses(ax, runs)
    silent = sorted(set(private["series"]) - set(runs["series"]))
    style.note(
        figure,
        _note(study, runs, silent),
        [*_named(ax), *keys.proof(runs["certified"], line=False)],
    )
    cells = _audited_cells(runs)
    return drawn.told(figure, cells, _finding(cells), _shows(study, cells, silent))


def _note(study: dict, runs: pd.DataFrame, silent: list[str]) -> str:
    missing = f" No bound: {', '.join(silent)}." if silent else ""
    return (
        f"{_context.about(study)} {style.seeds_text(runs.groupby('cell').size())}. Mark: the "
        "largest bound over seeds; dots: seeds; dash: ceiling, or what is expected step by step. "
        f"All bounds hold together at level {min(1, runs['audit_level'].sum()):.2g}.{missing}"
    )


def _named(ax: Axes) -> list[Artist]:
    return ax.get_legend_handles_labels()[0]


def _audited_cells(runs: pd.DataFrame) -> pd.DataFrame:
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
    privacy = {name: audits.of_cell(own)["privacy"] for name, own in groups}
    return found.assign(privacy=found.index.map(privacy)).reset_index()


def _finding(cells: pd.DataFrame) -> str:
    """Tell what audits refute: certificates, else claims; if none, how near to a claim one came."""
    for verdict, what in zip(verdicts.REFUTED, ("certificates", "claims"), strict=True):
        refuted = cells[cells["privacy"] == verdict]
        if len(refuted):
            named = ", ".join(dict.fromkeys(refuted["name"]))
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
        f"Audited lower bound of ε against the claimed ε on {datasets.of(study)}, the largest over "
        f"seeds. {'; '.join(told)}{none}"
    )


def _audited(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs whose audit found something: a bound, or a check that failed."""
    broken = runs["audit_broken"].map(bool)
    return runs.assign(broken=broken)[runs["eps_audit_lb"].notna() | broken]


def _placed(runs: pd.DataFrame, claims: Sequence[float], methods: list[str]) -> pd.DataFrame:
    """Return runs with where they stand: every line has a place of its own in each column."""
    order = runs.assign(rank=runs["method"].map(methods.index)).sort_values("rank", kind="stable")
    lines = list(dict.fromkeys(order["series"]))
    place = (runs["series"].map(lines.index) + 0.5) - 0.5 * len(lines)
    slot = min(_gaps(claims).min() * WIDTH / len(lines), CLOSE * np.ptp(np.log(_edges(claims))))
    return runs.assign(
        x=runs["eps_claimed"] * np.exp(slot * place),
        y=runs["eps_audit_lb"].fillna(0).clip(lower=min(claims) / LEAST),
    )


def _gaps(claims: Sequence[float]) -> np.ndarray:
    """Return the logarithms of the ratios between neighbouring claims."""
    return np.diff(np.log(claims)) if len(claims) > 1 else np.log([ALONE])


def _edges(claims: Sequence[float]) -> np.ndarray:
    """Return the borders of the claims' columns: half-way between them in the logarithm."""
    logs, gaps = np.log(claims), _gaps(claims)
    inner = logs[:-1] + np.diff(logs) / 2
    return np.exp([logs[0] - gaps[0] / 2, *inner, logs[-1] + gaps[-1] / 2])


def _frame(ax: Axes, runs: pd.DataFrame, claims: Sequence[float], edges: np.ndarray) -> None:
    ceilings = runs["audit_ceiling"][np.isfinite(runs["audit_ceiling"])]
    top = 3 * max(runs["y"].max(), ceilings.max(), max(claims))
    ax.set(xscale="log", yscale="log", xlim=edges[[0, -1]], ylim=(min(claims) / LEAST / 1.2, top))
    ax.set_xticks(claims, [f"{claim:g}" for claim in claims])
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_minor_formatter(NullFormatter())
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_minor_locator(NullLocator())
    ax.grid(visible=False, axis="x")
    ax.set_xlabel("ε claimed")
    ax.set_ylabel("ε audited, a lower bound")


def _refuted(ax: Axes, claims: Sequence[float], edges: np.ndarray) -> None:
    """Shade each column above its claim; the diagonal runs through the columns' middles."""
    top = ax.get_ylim()[1]
    for claim, left, right in zip(claims, edges[:-1], edges[1:], strict=True):
        ax.fill_between([left, right], claim, top, color=SHADE, linewidth=0, zorder=0)
        ax.plot([left, right], [claim, claim], color=style.ALARM, linewidth=1.2, label="_claim")
    for edge in edges[1:-1]:
        ax.axvline(edge, color="0.88", linewidth=0.8, zorder=1)
    ax.plot(edges[[0, -1]], edges[[0, -1]], label="_diagonal", **DIAGONAL)
    ax.annotate(
        "refuted: audited above the claim",
        (0, 1),
        (8, -8),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        color=style.ALARM,
    )


def _marks(ax: Axes, runs: pd.DataFrame, look: looks.Look, series: str) -> None:
    """Draw one line's marks, seeds and ceilings."""
    colour = look.colour
    cells = runs.groupby("cell", sort=False)
    most = cells[["x", "y", "audit_ceiling"]].max()
    proven = cells["certified"].first().all()
    mark = look.mark(bool(proven))
    ax.plot(
        most["x"],
        most["y"],
        label=series,
        **mark | {"markersize": 1.2 * mark["markersize"]} | POINTS,
    )
    dots = {"color": colour, "marker": ".", "markersize": 4, "label": f"_seeds of {series}"}
    ax.plot(runs["x"], runs["y"], **dots | POINTS | {"zorder": 5})
    known = most[np.isfinite(most["audit_ceiling"])]
    dash = {
        "color": colour,
        "marker": "_",
        "markersize": 11,
        "markeredgewidth": 2,
    }
    ax.plot(known["x"], known["audit_ceiling"], label=f"_ceiling of {series}", **dash | POINTS)
    ax.vlines(known["x"], known["y"], known["audit_ceiling"], color=colour, alpha=0.25, linewidth=1)


def _crosses(ax: Axes, runs: pd.DataFrame) -> None:
    """Cross the marks whose audit has a check that failed."""
    broken = runs[runs["broken"]]
    if len(broken):
        cross = {"marker": "x", "color": style.ALARM, "markersize": 13, "markeredgewidth": 2}
        at = runs[runs["cell"].isin(broken["cell"])].groupby("cell")[["x", "y"]].max()
        ax.plot(at["x"], at["y"], label="a check failed", **cross | POINTS | {"zorder": 6})

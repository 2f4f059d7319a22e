"""Audited lower bound of epsilon against the claimed one, a mark per method: hollow if unproven.

A mark is the largest bound over seeds, dots are the seeds, a dash is the ceiling, what the
audit gives at its best. Marks of one claim stand side by side in its column; the shaded area begins
at the claim, and what lies in it is refuted; the dotted line is the diagonal. A cross is an audit
whose check of noise or sampling failed. Bounds too small for the frame stand at its lower edge.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, NullLocator

from dpfl.figures import style
from dpfl.tables import results

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


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the runs of a study."""
    runs = style.named(results.frame(study, runs_dir))
    runs = runs[np.isfinite(runs["eps_claimed"])].assign(series=style.series_of)
    private, runs = runs, _audited(runs)
    if runs.empty:
        return style.nothing(f"{study['title']}: no run was audited")
    figure, axes = style.canvas(panel=(8.8, 5.6))
    ax, claims = axes[0, 0], sorted(runs["eps_claimed"].unique())
    runs = _placed(runs, claims, list(style.looks(study)))
    edges = _edges(claims)
    _frame(ax, runs, claims, edges)
    _refuted(ax, claims, edges)
    for method, look in style.looks(study).items():
        for series, own in runs[runs["method"] == method].groupby("series", sort=False):
            _marks(ax, own, look, series)
    _crosses(ax, runs)
    ax.set_title(_title(study, runs, set(private["series"]) - set(runs["series"])), loc="left")
    style.legend_below(figure, ax, columns=3)
    return figure


def _title(study: dict, runs: pd.DataFrame, silent: set[str]) -> str:
    missing = f"\nno bound: {', '.join(sorted(silent))}" if silent else ""
    return (
        f"{study['title']}\n{study['dataset']}, δ = {style.delta_text(study['delta'])}; "
        f"{style.seeds_text(runs.groupby('cell').size())}. Mark: the largest bound over seeds,\n"
        "filled if certified; dots: seeds; dash: ceiling, the audit at its best"
        f"{missing}"
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


def _marks(ax: Axes, runs: pd.DataFrame, look: style.Look, series: str) -> None:
    """Draw one line's marks, seeds and ceilings."""
    colour = look.colour
    cells = runs.groupby("cell", sort=False)
    most = cells[["x", "y", "audit_ceiling"]].max()
    proven = cells["certified"].first().all()
    mark = look.line() | {"markersize": 1.3 * look.line()["markersize"]} | POINTS
    hollow = {} if proven else {"markerfacecolor": "white", "markeredgewidth": 1.6}
    edge = {} if proven else {"markeredgecolor": colour}
    ax.plot(most["x"], most["y"], label=series, **mark | hollow | edge)
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

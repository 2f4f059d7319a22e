"""What was tried for every cell that is tuned, what was chosen, and how much hangs on it.

`trials` has a row for all values that were tried, with the mean validation accuracy over their
seeds; `tuned` has one for every cell. In both a setting that is tuned has a column. `factor` is the
ratio of a chosen value to the nearest other one that was tried. `spread` is the range of accuracy,
in points, over the chosen point and its neighbours. `edge` names settings whose chosen value is the
lowest or the highest tried: a better one may lie beyond. `nothing_learned` is true where no value
left chance: then nothing was chosen. `runs` counts trainings, which are as many
for every cell of a rule. Cells of several epsilons or variants may share their trials. Then
`tuning`, the stage that chose, is the same. `tuned_at` says at which epsilon they ran.
`eps_selected` is what paying for the choice would cost (dpfl.privacy.selection). It is given where
trials ran with the plan of the cell: its epsilon, rounds and batches. It is not given where a
variant is tuned once for all.
"""

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import stdev
from typing import Any

import pandas as pd

from dpfl.base import files
from dpfl.contracts.points import Point
from dpfl.privacy import calibration_settings
from dpfl.seeds.tuned import Tuning
from dpfl.tables import results
from dpfl.tuning.parts.rules import learned, points


def trials(study: results.Study, home: Path) -> pd.DataFrame:
    """Return a row for all values that were tried for a cell; `home` is the folder of results."""
    rows = [
        results.head(study, one.cell) | _trial(one, point)
        for one in _tunings(study, home)
        for point in sorted(one.tried, key=lambda point: point.order)
    ]
    return results.table("trials", rows)


def tuned(study: results.Study, cells: pd.DataFrame, home: Path) -> pd.DataFrame:
    """Return a row for every cell that is tuned, under its number in `cells`, the study's table."""
    found = {one.index: one for one in _tunings(study, home)}
    rows = [
        results.head(study, one.cell) | _chosen(one, cells["eps_certified"][index], home)
        for index, one in found.items()
    ]
    return results.table("tuned", rows).set_axis([*found])


def marked(cells: pd.DataFrame, tuned: pd.DataFrame) -> pd.DataFrame:
    """Return the table of cells with what is to be known of the choice that each is trained by."""
    edge, learned = (tuned[name].reindex(cells.index) for name in ("edge", "nothing_learned"))
    return cells.assign(edge=edge.fillna(""), nothing_learned=learned.eq(True))


def of_runs(study: results.Study, home: Path) -> pd.DataFrame:
    """Return the runs of a study, as `results.frame`, with how the value of each was chosen."""
    runs = results.frame(study, home / "runs")
    told = {one.index: (one.at, one.runs, one.edge) for one in _tunings(study, home)}
    found = [told.get(cell, (math.nan, 0, "")) for cell in runs["cell"]]
    return runs.join(pd.DataFrame(found, runs.index, ["tuned_at", "trials", "edge"]))


def _tunings(study: results.Study, home: Path) -> Iterator[Tuning]:
    for index, cell in enumerate(study["cells"]):
        if "tuning" in cell:
            stage = files.read_json(home / "tunings" / f"{cell['tuning']}.json")
            tried = points((t["values"], t["accuracies"]) for t in stage["trials"])
            chosen = next(point for point in tried if point.values == stage["values"][0])
            settings = _settings(stage["trials"][0]["runs"][0], home)
            yield Tuning(index, cell, tried, chosen, stage, settings)


def _chosen(one: Tuning, certified: float, home: Path) -> dict[str, Any]:
    """Return what was chosen, and how much hangs on it; `certified` is the epsilon of the cell."""
    chosen, tried = one.chosen, one.tried
    alike = _plan(_settings(one.cell["runs"][0], home)) == _plan(one.settings)
    return {
        **chosen.values,
        "tuned_at": one.at,
        "tuning": one.cell["tuning"],
        "rule": one.stage["uses"],
        "runs": one.runs,
        "validation_accuracy": 100 * chosen.mean,
        "factor": max(_factor(chosen.values[key], ladder) for key, ladder in one.ladders.items()),
        "spread": 100 * _spread(chosen, tried),
        "nothing_learned": not learned(tried, one.settings["dataset"]),
        "edge": one.edge,
        "eps_certified": certified,
        "eps_selected": _selected(one.cell, certified, one.runs, home) if alike else math.nan,
    }


def _plan(settings: dict[str, Any]) -> dict[str, Any]:
    """Return what a run's noise is calibrated for, but for its seed and examples held out."""
    plan = calibration_settings.of_run(settings) | {"partition": settings["partition"]}
    plan["partition"] = {k: v for k, v in plan["partition"].items() if k != "validation_fraction"}
    return {key: value for key, value in plan.items() if key != "participation_key"}


def _settings(run: str, home: Path) -> dict[str, Any]:
    return files.read_json(home / "runs" / run / "summary.json")["settings"]


def _trial(one: Tuning, point: Point) -> dict[str, Any]:
    n = len(point.accuracies)
    alike = [trial for trial in one.stage["trials"] if trial["values"] == point.values]
    seeds = [seed for trial in alike for seed in trial["seeds"]]
    return {
        **point.values,
        "tuned_at": one.at,
        "seeds": " ".join(map(str, seeds)),
        "n": n,
        "validation_accuracy": 100 * point.mean,
        "sd": 100 * stdev(point.accuracies) if n > 1 else math.nan,
        "chosen": point is one.chosen,
    }


def _factor(value: float, ladder: list[float]) -> float:
    """Return the ratio of a value to the nearest other one; infinity if none is positive."""
    steps = (high / low for low, high in pairwise(ladder) if value in (low, high) and low > 0)
    return min(steps, default=math.inf)


def _spread(chosen: Point, tried: list[Point]) -> float:
    """Return the range of accuracy over a point and its neighbours, of one other value each."""
    around = [chosen.mean]
    for key, own in chosen.values.items():
        row = [p for p in tried if p.values | {key: own} == chosen.values]
        below = max((p for p in row if p.values[key] < own), key=lambda p: p.order, default=None)
        above = min((p for p in row if p.values[key] > own), key=lambda p: p.order, default=None)
        around += [point.mean for point in (below, above) if point]
    return max(around) - min(around)


def _selected(cell: dict, certified: float, runs: int, home: Path) -> float:
    """Return what paying for the choice would cost; not a number without a proof or a budget."""
    from dpfl.privacy import selection  # it imports the accountant: not for tables without tuning

    if not cell["calibration"] or math.isnan(certified):
        return math.nan
    if runs == 1:
        return certified  # nothing was chosen
    path = home / "calibrations" / f"{cell['calibration']}.json"
    if not path.exists():  # kept runs of older folders
        return math.nan
    return results.number(selection.epsilon(files.read_json(path), runs))

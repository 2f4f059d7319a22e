"""What was tried for every cell that is tuned, what was chosen, and how much hangs on it.

`trials` has a row for all values that were tried, with the mean validation accuracy over their
seeds; `tuned` has one for every cell. There `factor` is the ratio of a chosen value to the nearest
other one that was tried, `spread` the range of accuracy, in points, over the chosen point and its
neighbours; `edge` names settings whose chosen value is the lowest or the highest that was tried,
so that a better one may lie beyond. `runs` counts trainings, which are as many for every cell of a
rule. Cells of several epsilons or variants may share their trials: then `tuning`, the stage that
chose, is the same, and `tuned_at` says at which epsilon they ran. `eps_selected` is what paying for
the choice would cost (dpfl.privacy.selection), where trials ran with the plan of the cell: at its
epsilon, with its rounds and batches; not with those of a variant that is tuned once for all.
"""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import stdev
from typing import Any

import pandas as pd

from dpfl.base import files
from dpfl.contracts.points import Point, Values
from dpfl.privacy import calibration_settings
from dpfl.tables import results
from dpfl.tuning import points

HEAD = ["study", "method", "label", "variant", "epsilon"]
TRIALS = [*HEAD, "tuned_at", "values", "seeds", "n", "validation_accuracy", "sd", "chosen"]
TUNED = [
    *(*HEAD, "tuned_at", "tuning", "rule", "values", "runs", "validation_accuracy"),
    *("factor", "spread", "edge", "eps_certified", "eps_selected"),
]


def trials(study: results.Study, home: Path) -> pd.DataFrame:
    """Return a row for all values that were tried for a cell; `home` is the folder of results."""
    rows = [
        results.head(study, cell) | {"tuned_at": at} | _trial(point, chosen, _seeds(point, stage))
        for _, cell, tried, chosen, stage in _tunings(study, home)
        for at in [_tuned_at(stage, home)]
        for point in sorted(tried, key=lambda point: point.order)
    ]
    return pd.DataFrame(rows, columns=results.columns(study, TRIALS))


def tuned(study: results.Study, cells: pd.DataFrame, home: Path) -> pd.DataFrame:
    """Return a row for every cell that is tuned; `cells` is the study's table of cells."""
    rows = []
    for index, cell, tried, chosen, stage in _tunings(study, home):
        runs, at = sum(len(point.accuracies) for point in tried), _tuned_at(stage, home)
        certified = cells["eps_certified"][index]
        alike = _plan(cell["runs"][0], home) == _plan(stage["trials"][0]["runs"][0], home)
        rows.append(
            results.head(study, cell)
            | {
                "tuned_at": at,
                "tuning": cell["tuning"],
                "rule": stage["uses"],
                "values": _text(chosen.values),
                "runs": runs,
                "validation_accuracy": 100 * chosen.mean,
                "factor": max(_factor(key, chosen, tried) for key in chosen.values),
                "spread": 100 * _spread(chosen, tried),
                "edge": ", ".join(edges(chosen, tried)),
                "eps_certified": certified,
                "eps_selected": _selected(cell, certified, runs, home) if alike else math.nan,
            }
        )
    return pd.DataFrame(rows, columns=results.columns(study, TUNED))


def marked(cells: pd.DataFrame, tuned: pd.DataFrame) -> pd.DataFrame:
    """Return the table of cells with `edge`, the settings that each has chosen at an edge."""
    keys = ["method", "variant", "epsilon"]
    found = {tuple(row[key] for key in keys): row["edge"] for _, row in tuned.iterrows()}
    edge = [found.get(tuple(row[key] for key in keys), "") for _, row in cells.iterrows()]
    return cells.assign(edge=pd.Series(edge, cells.index, dtype=str))


def edges(chosen: Point, tried: Sequence[Point]) -> list[str]:
    """Return the settings whose chosen value is the lowest or the highest that was tried."""
    return [
        key
        for key, value in chosen.values.items()
        if value in (min(_ladder(key, tried)), max(_ladder(key, tried)))
    ]


def _tunings(
    study: results.Study, home: Path
) -> Iterator[tuple[int, dict, list[Point], Point, dict]]:
    """Yield the cells that are tuned, with what was tried, the chosen point, and the file."""
    for index, cell in enumerate(study["cells"]):
        if "tuning" in cell:
            stage = files.read_json(home / "tunings" / f"{cell['tuning']}.json")
            tried = points((t["values"], t["accuracies"]) for t in stage["trials"])
            chosen = next(point for point in tried if point.values == stage["values"][0])
            yield index, cell, tried, chosen, stage


def _tuned_at(stage: dict, home: Path) -> float:
    """Return the epsilon of the trials that a stage chose from."""
    return results.number(_settings(stage["trials"][0]["runs"][0], home)["epsilon"])


def _plan(run: str, home: Path) -> dict[str, Any]:
    """Return what a run's noise is calibrated for, but for its seed and examples held out."""
    settings = _settings(run, home)
    plan = calibration_settings.of_run(settings) | {"partition": settings["partition"]}
    plan["partition"] = {k: v for k, v in plan["partition"].items() if k != "validation_fraction"}
    return {key: value for key, value in plan.items() if key != "participation_key"}


def _settings(run: str, home: Path) -> dict[str, Any]:
    return files.read_json(home / "runs" / run / "summary.json")["settings"]


def _text(values: Values) -> str:
    return ", ".join(f"{key}={value:g}" for key, value in values.items())


def _seeds(point: Point, stage: dict) -> list[int]:
    return [
        s for trial in stage["trials"] if trial["values"] == point.values for s in trial["seeds"]
    ]


def _trial(point: Point, chosen: Point, seeds: list[int]) -> dict[str, Any]:
    n = len(point.accuracies)
    return {
        "values": _text(point.values),
        "seeds": " ".join(map(str, seeds)),
        "n": n,
        "validation_accuracy": 100 * point.mean,
        "sd": 100 * stdev(point.accuracies) if n > 1 else math.nan,
        "chosen": "chosen" * (point is chosen),
    }


def _ladder(key: str, tried: Sequence[Point]) -> list[float]:
    return sorted({point.values[key] for point in tried})


def _factor(key: str, chosen: Point, tried: list[Point]) -> float:
    """Return the ratio of a chosen value to the nearest other one; infinity if none is positive."""
    own = chosen.values[key]
    pairs = [pair for pair in pairwise(_ladder(key, tried)) if own in pair]
    steps = [high / low for low, high in pairs if low > 0]
    return min(steps, default=math.inf)


def _spread(chosen: Point, tried: list[Point]) -> float:
    """Return the range of accuracy over a point and its neighbours, of one other value each."""
    around = [chosen.mean]
    for key, own in chosen.values.items():
        rest = {k: v for k, v in chosen.values.items() if k != key}
        row = [p for p in tried if {k: v for k, v in p.values.items() if k != key} == rest]
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

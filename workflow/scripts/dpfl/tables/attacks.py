"""Membership inference on the runs of a study: what every attack achieves, target by target.

The models of a cell's seeds are each the target once and references of all others. They share the
references, so that their spread is no standard error: the lowest and the highest are shown. A run
that failed is neither target nor reference, as it is in no mean of accuracy.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from dpfl.attacks import membership, observed, roc
from dpfl.seeds import outcomes
from dpfl.tables import results
from dpfl.words import columns

RATES = {"tpr_at_0.1_pct": 1e-3, "tpr_at_1_pct": 1e-2}
"""Columns of true positive rates, and the false positive rates that they are at."""
LEAST = 4
"""Models of a cell: of fewer, no target has two references that agree on an example."""
ENDS = dict(zip(columns.ENDS, (np.mean, np.min, np.max), strict=True))


def measured(study: results.Study, runs_dir: Path, rates: np.ndarray) -> pd.DataFrame:
    """Return one row per cell and attack, with `auc` [targets] and `tpr` [targets, rates].

    `tpr` are true positive rates at the false positive rates `rates`; `strangers` is the least
    number of non-members of a target. Cells that share all their runs are one, named by all of
    `labels`. A cell has no row if fewer than LEAST of its runs trained.
    """
    frame = results.frame(study, runs_dir)
    runs = frame.groupby("cell")[["certified", "refuted"]].first()
    trained = outcomes.of_trained(frame).groupby("cell")["run"].agg(list).to_dict()
    rows = [
        _about(study, group, found) | runs.loc[group[0]].to_dict() | row
        for group in results.same_runs(study)
        if len(found := trained.get(group[0], [])) >= LEAST
        for row in _attacked(_observed(study, found, runs_dir), rates)
    ]
    return pd.DataFrame(rows)


def summary(study: results.Study, runs_dir: Path) -> pd.DataFrame:
    """Return one row per cell and attack: mean, lowest and highest over targets of each measure.

    A true positive rate is empty where some target has too few non-members to measure it.
    """
    table = measured(study, runs_dir, np.array(list(RATES.values())))
    if table.empty:
        return table
    values = {"auc": table["auc"]} | {
        name: table["tpr"].map(lambda tpr, i=i: tpr[:, i]) for i, name in enumerate(RATES)
    }
    found = {
        f"{name}_{end}": own.map(function)
        for name, own in values.items()
        for end, function in ENDS.items()
    }
    left = table.drop(columns=["labels", "variant", "auc", "tpr"])
    label = table["labels"].map(" = ".join)
    return left.assign(label=label, study=study["name"], **found)


def _about(study: results.Study, group: list[int], trained: list[str]) -> dict:
    cell = study["cells"][group[0]]
    return {
        "method": cell["method"],
        "labels": tuple(dict.fromkeys(study["cells"][index]["label"] for index in group)),
        "variant": results.variant_text(cell["variant"]),
        **results.setting_columns(study, cell),
        "epsilon": results.number(cell["epsilon"]),
        "unit": cell["unit"],
        "targets": len(trained),
    }


def _observed(study: results.Study, runs: list[str], runs_dir: Path) -> observed.Observed:
    """Read what the models of runs say; the files of studies lie beside the folder of runs."""
    path = Path(runs_dir).parent / "membership" / f"{study['name']}.safetensors"
    return observed.read(path, runs)


def _attacked(seen: observed.Observed, rates: np.ndarray) -> Iterator[dict]:
    """Yield what each attack achieves on the examples of which all attacks give a score."""
    kept = membership.comparable(seen.members)
    strangers = int((kept & ~seen.members).sum(1).min())
    for name, attack in membership.ATTACKS.items():
        scores = np.where(kept, attack(seen), np.nan)
        pairs = list(zip(scores, seen.members, strict=True))
        yield {
            "attack": name,
            "strangers": strangers,
            "auc": np.array([roc.area(*pair) for pair in pairs]),
            "tpr": np.array([roc.true_positive_rates(*pair, rates) for pair in pairs]),
        }

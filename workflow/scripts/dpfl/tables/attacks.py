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
from dpfl.tables import columns_shown, results
from dpfl.words import cell_words, numerals

RATES = {"tpr_at_0.1_pct": 1e-3, "tpr_at_1_pct": 1e-2}
"""Columns of true positive rates, and the false positive rates that they are at."""
LEAST = 4
"""Models of a cell: of fewer, no target has two references that agree on an example."""
ENDS = {"mean": np.mean, "low": np.min, "high": np.max}


def measured(study: results.Study, runs_dir: Path, rates: np.ndarray) -> pd.DataFrame:
    """Return one row per cell and attack, with `auc` [targets] and `tpr` [targets, rates].

    `tpr` are true positive rates at the false positive rates `rates`; `strangers` is the least
    number of non-members of a target. Cells that share all their runs are one, named by all; one
    of which fewer than LEAST runs trained has no row.
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
        column: table["tpr"].map(lambda tpr, i=i: tpr[:, i]) for i, column in enumerate(RATES)
    }
    columns = {
        f"{column}_{end}": found.map(function)
        for column, found in values.items()
        for end, function in ENDS.items()
    }
    return table.drop(columns=["auc", "tpr"]).assign(study=study["name"], **columns)


def _about(study: results.Study, group: list[int], trained: list[str]) -> dict:
    cell = study["cells"][group[0]]
    return {
        "method": cell["method"],
        "label": " = ".join(dict.fromkeys(study["cells"][index]["label"] for index in group)),
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


def _mean_and_ends(column: str, form: str) -> columns_shown.Column:
    """Make a column such as `0.56 (0.54 – 0.57)`, a dash where nothing can be measured."""

    def text(row: pd.Series) -> str:
        mean, low, high = (row[f"{column}_{end}"] for end in ENDS)
        if not numerals.known(mean):
            return "–"
        return f"{form.format(mean)} ({form.format(low)} – {form.format(high)})"

    return text


COLUMNS: dict[str, columns_shown.Column] = {
    "method": cell_words.label,
    "variant": columns_shown.plain("variant"),
    "ε": columns_shown.rounded("epsilon"),
    "attack": columns_shown.plain("attack"),
    "AUC": _mean_and_ends("auc", "{:.3f}"),
    "TPR at 0.1 % FPR": _mean_and_ends("tpr_at_0.1_pct", "{:.2%}"),
    "TPR at 1 % FPR": _mean_and_ends("tpr_at_1_pct", "{:.2%}"),
    "targets": columns_shown.plain("targets"),
    "non-members": columns_shown.plain("strangers"),
}

"""The results table: one row per cell of a study, with interval, epsilons and verdict.

A cell has two outcomes (`tables.outcomes`): of its n seeds `trained` trained, a share between
`trained_low` and `trained_high`; test accuracy in percent is the mean of these, with an interval
from three on. Three epsilons stand side by side: `eps_claimed` (the method's own), `eps_certified`
(a proof's, the largest over seeds; empty without one) and `eps_audited` (the largest lower bound
from an attack; empty without one). That bound holds at `audit_level`; `audit_ceiling` is what
the audit gives at its best, `audit_broken` names checks of noise and sampling that failed,
`audit_blind` says what it does not see, and `privacy_reasons` what the verdict `privacy` is due to.
`certified` holds if all runs have a proof, `reasons` say why there is none. `eps_accounted` is what
an accountant charges for all steps at their noise, each as one subsampled Gaussian: for a mechanism
without a proof it proves nothing.

A cell with published numbers shows them, ours minus each, what is compared with what, and a verdict
each; one beside a baseline gets the verdicts of its comparisons; a demonstration gets
`demonstration`. Beside `variant`, which is for reading, every setting that the study varies has a
column.
"""

import math
from typing import Any

import pandas as pd

from dpfl.seeds import audits, outcomes, verdicts
from dpfl.tables import comparisons, results
from dpfl.words.vocabulary import DEMONSTRATION

COLUMNS = [
    *(
        "study",
        "dataset",
        "method",
        "label",
        "certified",
        "variant",
        "remark",
        "epsilon",
        "delta",
        "n",
    ),
    *("trained", "trained_low", "trained_high"),
    *("accuracy_mean", "ci_low", "ci_high", "sd", "diverged"),
    *("eps_claimed", "eps_accounted", "eps_certified", "eps_audited", "audit_ceiling"),
    *("audit_level", "audit_estimator", "audit_status", "audit_broken", "audit_blind"),
    *("privacy", "privacy_reasons", "reasons"),
    *("unit", "adjacency", "accountant", "noise"),
    *("rate", "r", "regime", "clipped_below", "clipped_above"),
    *("published", "compared", "verdict"),
]


def cells(study: results.Study, runs: pd.DataFrame, compared: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell from the study's runs and its comparisons."""
    rows = []
    firsts = {index: group[0] for group in results.same_runs(study) for index in group}
    for index, cell in enumerate(study["cells"]):
        own = runs[runs["cell"] == index]
        outcome = outcomes.of(own)
        published, beside, verdict = _published(study, cell, outcome.accuracy, compared)
        rows.append(
            {
                "study": study["name"],
                "dataset": study["dataset"],
                "method": cell["method"],
                "label": cell["label"],
                "certified": own["certified"].iloc[0],
                "variant": results.variant_text(cell["variant"]),
                **results.setting_columns(study, cell),
                "remark": _remark(cell, study["cells"][firsts[index]]),
                "epsilon": results.number(cell["epsilon"]),
                "delta": study["delta"],
                **_accuracy(outcome),
                "diverged": int(own["diverged"].sum()),
                **audits.of_cell(own),
                **audits.remarks(own),
                "eps_accounted": own["eps_accounted"].max(),
                "reasons": _joined(own["reasons"]),
                "unit": cell["unit"],
                **{key: _joined(own[key]) for key in ("adjacency", "accountant", "noise")},
                "rate": _joined(own["rate_key"] + "=" + own["rate"].map("{:g}".format)),
                "r": own["r"].mean(),
                "regime": _joined(own["regime"]),
                "clipped_below": own["clipped_below"].mean(),
                "clipped_above": own["clipped_above"].mean(),
                "published": published,
                "compared": beside,
                "verdict": verdict,
            }
        )
    rows += [_failed(study, cell) for cell in study.get("unfinished", [])]
    return pd.DataFrame(rows, columns=columns(study), dtype=object).infer_objects()


def columns(study: results.Study) -> list[str]:
    """Return the columns of a study's table: a setting that it varies has one of its own."""
    at = COLUMNS.index("variant") + 1
    return [*COLUMNS[:at], *results.settings(study), *COLUMNS[at:]]


def _failed(study: results.Study, cell: dict) -> dict[str, Any]:
    """Return the row of a cell that has no result: no run counts, and the verdict says why."""
    return {
        "study": study["name"],
        "dataset": study["dataset"],
        **{key: cell[key] for key in ("method", "label", "unit")},
        "variant": results.variant_text(cell["variant"]),
        **results.setting_columns(study, cell),
        "epsilon": results.number(cell["epsilon"]),
        "delta": study["delta"],
        "n": 0,
        "verdict": f"failed: {cell['message']} ({cell['log']})",
    }


def _remark(cell: dict, first: dict) -> str:
    """Return the remark of the plan, and with which earlier cell a cell shares all its runs."""
    shared = f"identical to {first['method']} by definition: the same runs"
    return "; ".join(filter(None, [cell.get("remark", ""), shared * (first is not cell)]))


def _accuracy(outcome: outcomes.Outcome) -> dict[str, Any]:
    return {
        "n": outcome.n,
        "trained": outcome.trained,
        "trained_low": outcome.low,
        "trained_high": outcome.high,
        "accuracy_mean": outcome.mean,
        "ci_low": outcome.accuracy.low,
        "ci_high": outcome.accuracy.high,
        "sd": outcome.accuracy.sd,
    }


def _published(
    study: results.Study, cell: dict, measured: verdicts.Interval, compared: pd.DataFrame
) -> tuple[str, str, str]:
    """Return what the source printed about a cell, what of ours is compared, and the verdict."""
    if results.demonstrates(study):
        return "", "", DEMONSTRATION
    if math.isinf(results.number(cell["epsilon"])):
        return "", "", ""
    printed, judged = _numbers(cell, measured, study["margin"])
    judged += _baseline_verdicts(study, cell, compared)
    beside = dict.fromkeys(number.get("compared", "") for number in cell.get("published", []))
    return "; ".join(printed), "; ".join(filter(None, beside)), "; ".join(judged)


def _numbers(cell: dict, measured: verdicts.Interval, margin: float) -> tuple[list[str], list[str]]:
    """Return the accuracies printed for a cell, ours minus each, and a verdict on each."""
    printed, judged = [], []
    for number in cell.get("published", []):
        value = number["value"]
        read = _read(number)
        printed.append(f"{value:g}{read}, {measured.mean - value:+.2f}")
        judged.append(verdicts.cell_verdict(measured, value, margin) + read)
    return printed, judged


def _read(number: dict) -> str:
    """Say how a printed number is read and which other paper prints it, if either is to be said."""
    reading = f"{number['row']}, {number['reading']}" if number["reading"] else ""
    rerun = f"of a rerun by {number['by']}" if number.get("by") else ""
    said = "; ".join(filter(None, (reading, rerun)))
    return f" ({said})" if said else ""


def _baseline_verdicts(study: results.Study, cell: dict, compared: pd.DataFrame) -> list[str]:
    """Return the verdicts of a cell against the baseline, or that it is the baseline."""
    found, variant, compared = [], cell["variant"], comparisons.whole(compared)
    for key, base in study.get("baseline", {}).items():
        of_methods = key == "method"
        value = cell["method"] if of_methods else variant[key]
        side = value if of_methods else comparisons.side(cell["method"], key, value)
        own = compared[
            (compared["better"] == side)
            & (compared["variant"] == results.variant_text(variant, without=key))
        ]
        against = base if of_methods else f"{key}={base}"
        found += [f"against {against}: {verdict}" for verdict in own["verdict"]]
        found += ["baseline"] * (value == base)
    return found


def _joined(values: pd.Series) -> str:
    """Return the distinct values of a cell's runs, in order."""
    return "; ".join(str(value) for value in dict.fromkeys(values) if value != "")

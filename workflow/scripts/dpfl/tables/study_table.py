"""The results table: one row per cell of a study, with interval and epsilons.

A cell has two outcomes (`seeds.outcomes`). Of its n seeds `trained` trained, a share between
`trained_low` and `trained_high`. Test accuracy, in percent, is the mean of these, with an interval
from three on. Three epsilons stand side by side. `eps_claimed` is the method's own. `eps_certified`
is a proof's, the largest over seeds, and empty without one. `eps_audited` is the largest lower
bound from an attack, and empty without one. That bound holds at `audit_level`; `audit_ceiling` is
what the audit gives at its best. `audit_broken` names checks of noise and sampling that failed.
`audit_blind` says what the audit does not see, and `privacy_reasons` what the verdict `privacy` is
due to. `certified` holds if all runs have a proof, `reasons` say why there is none. `eps_accounted`
is what an accountant charges for all steps at their noise, each as one subsampled Gaussian. Without
a proof of the mechanism it proves nothing. `moved` is how far one client moves a round, at the
least, in what the noise is for: 1 is what is charged.

Every setting that the study varies has a column, and what an optimizer of the study declares. The
table of published numbers has what was printed for a cell, with its verdict. The table of
comparisons has what a change does to it.
"""

from typing import Any

import pandas as pd

from dpfl.seeds import audits, outcomes
from dpfl.tables import results


def cells(study: results.Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell from the study's runs."""
    rows, added = [], results.of_optimizers({*runs["algorithm"]})
    firsts = {index: group[0] for group in results.same_runs(study) for index in group}
    for index, cell in enumerate(study["cells"]):
        own = runs[runs["cell"] == index]
        outcome = outcomes.outcome(own)
        rows.append(
            {
                **results.head(study, cell),
                "certified": own["certified"].iloc[0],
                "remark": _remark(cell, study["cells"][firsts[index]]),
                "delta": study["delta"],
                "n": outcome.n,
                "trained": outcome.trained,
                "trained_low": outcome.low,
                "trained_high": outcome.high,
                "accuracy_mean": outcome.mean,
                "ci_low": outcome.accuracy.low,
                "ci_high": outcome.accuracy.high,
                "sd": outcome.accuracy.sd,
                "diverged": int(own["diverged"].sum()),
                **audits.of_cell(own),
                **audits.remarks(own),
                "eps_accounted": own["eps_accounted"].max(),
                "reasons": _joined(own["reasons"]),
                "moved": own["moved"].max(),
                **{key: _joined(own[key]) for key in ("adjacency", "accountant", "noise")},
                **own[["rate_key", "rate"]].iloc[0],
                "edge": "",
                "nothing_learned": False,
                **{name: _together(own[name].dropna()) for name in added},
            }
        )
    rows += [_failed(study, cell) for cell in study.get("unfinished", [])]
    return results.table("cells", rows, added)


def _failed(study: results.Study, cell: dict) -> dict[str, Any]:
    """Return the row of a cell that has no result: no run counts, and the remark says why."""
    remark = f"failed: {cell['message']} ({cell['log']})"
    return results.head(study, cell) | {"delta": study["delta"], "n": 0, "remark": remark}


def _remark(cell: dict, first: dict) -> str:
    """Return the remark of the plan, and with which earlier cell a cell shares all its runs."""
    shared = f"identical to {first['method']} by definition: the same runs"
    return "; ".join(filter(None, [cell.get("remark", ""), shared * (first is not cell)]))


def _together(values: pd.Series) -> float | str:
    """Return the mean of numbers, or the distinct texts."""
    if any(isinstance(value, str) for value in values):
        return _joined(values)
    return values.astype(float).mean()


def _joined(values: pd.Series) -> str:
    """Return the distinct values of a cell's runs, in order."""
    return "; ".join(str(value) for value in dict.fromkeys(values) if value != "")

"""What tables say of a cell in words: its method, its accuracy, its epsilons."""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpfl.words.numerals import known, number, rounded_down, rounded_up
from dpfl.words.vocabulary import BEATEN

if TYPE_CHECKING:
    import pandas as pd

EXPECTED = "per-step Clopper-Pearson"
"""The estimator of `audit.findings` whose bound has no ceiling but an expected value."""


def marks(certified: bool, refuted: str = "") -> str:
    """Return what is said of budgets after a name: not certified, refuted at some ε, or nothing."""
    words = ["not certified"] * (not certified) + [f"refuted at ε {refuted}"] * bool(refuted)
    return f" ({', '.join(words)})" if words else ""


def refuted_at(epsilons: "pd.Series") -> str:
    """Return the known ones of some ε, as `2, 4`."""
    return ", ".join(f"{epsilon:g}" for epsilon in sorted(epsilons.dropna().unique()))


def not_certified(row: "pd.Series") -> list[str]:
    """Return the sides of a comparison whose budget nothing certifies."""
    return [row[side] for side in ("better", "worse") if not row[f"{side}_certified"]]


def labels(table: "pd.DataFrame") -> "pd.Series":
    """Return the names of all rows' methods."""
    return table["label"] + table["certified"].map(marks)


def mean_and_interval(row: Mapping[str, Any], counted: bool = True) -> str:
    """Return a cell's accuracy as `97.1 ± 0.2 (n=5)`, or without ± for fewer than three seeds.

    Where runs failed it is that of the others, and says so: `97.1 ± 0.3 (4 of 5 trained)`; a cell
    without a result is `failed`. Not `counted`, n stands there only if runs failed.
    """
    if not row["n"]:
        return "failed"
    spread = f" ± {row['ci_high'] - row['accuracy_mean']:.1f}" if known(row["ci_high"]) else ""
    mean = f"{row['accuracy_mean']:.1f}{spread}" if known(row["accuracy_mean"]) else ""
    after = f"({seeds(row)})" if counted or failures(row) else ""
    return " ".join(filter(None, (mean, after)))


def brief(row: Mapping[str, Any]) -> str:
    """Return a cell's accuracy for a table, `96.3 ± 0.2`, and how many trained if not all."""
    return mean_and_interval(row, counted=False)


def seeds(row: Mapping[str, Any]) -> str:
    """Return how many seeds a cell has, `n=5`, or how many of them trained, `4 of 5 trained`."""
    return f"{row['trained']:g} of {row['n']:g} trained" if failures(row) else f"n={row['n']:g}"


def failures(row: Mapping[str, Any]) -> int:
    """Return how many runs of a cell failed."""
    return int(row["n"] - row["trained"])


def trained(row: Mapping[str, Any]) -> str:
    """Return which share of a cell's runs trained, with its interval; nothing if all did."""
    if not failures(row):
        return ""
    ends = f"{100 * row['trained_low']:.0f}, {100 * row['trained_high']:.0f}"
    return f"{row['trained']:g} of {row['n']:g} [{ends}] %"


def choice(row: "pd.Series") -> str:
    """Return the mark of a cell whose value lies at the edge of those tried, or learned nothing."""
    if row.get("nothing_learned", False):
        return " (nothing learned at any rate)"
    return " (at the edge)" * bool(row.get("edge", ""))


def claimed(row: "pd.Series") -> str:
    """Return a claimed epsilon, and without a proof what all steps are charged if that differs."""
    charged = row["eps_accounted"]
    text = number(row["eps_claimed"]) if known(row["eps_claimed"]) else ""
    same = math.isclose(charged, row["eps_claimed"], rel_tol=0.01)
    if known(row["eps_certified"]) or not known(charged) or same:
        return text
    return f"{text} (all steps are charged {charged:.3g})"


def certified(row: "pd.Series") -> str:
    """Return a certified epsilon, `none` without a proof."""
    return rounded_up(row["eps_certified"]) if known(row["eps_certified"]) else "none"


def audited(row: Mapping[str, Any]) -> str:
    """Return an audited epsilon, `≥ 4.86 (ceiling 4.86)`, or the status of the audit without one.

    A status other than `audited` stands before the bound, such as `broken, ≥ 0.5`. Step by step
    there is no ceiling, but what the stated noise lets expect: `≥ 7.97 (expected 7.96)`.
    """
    status = row["audit_status"] if known(row["audit_status"]) else "not audited"
    if not known(row["eps_audited"]):
        return status
    said = "" if status == "audited" else f"{status}, "
    most = row["audit_ceiling"]
    word = "expected" if row.get("audit_estimator") == EXPECTED else "ceiling"
    ceiling = f" ({word} {rounded_down(most)})" if known(most) else ""
    return f"{said}≥ {rounded_down(row['eps_audited'])}{ceiling}"


def privacy(row: "pd.Series") -> str:
    """Return the verdict on a claimed epsilon, with its reasons where it is refuted."""
    reasons = row["privacy_reasons"] if row["privacy"] in BEATEN else ""
    return f"{row['privacy']}: {reasons}" if reasons else row["privacy"]


def width(row: "pd.Series") -> str:
    """Return the width of a good range, with ≥ where the grid ends inside it."""
    if not known(row["width_decades"]):
        return "none"
    return ("≥ " if row["edge"] else "") + f"{row['width_decades']:.1f}"


def rank_remark(parts: Mapping[str, dict]) -> str:
    """Say what becomes of a rank that the batch, if that is what is factorised, does not have."""
    rank, solver = (parts["mechanism"].get(key) for key in ("rank", "solver"))
    batch, reading = parts["federation"]["batch_size"], parts["mechanism"].get("reading", "rows")
    if solver is None or reading != "rows" or rank <= batch:
        return ""
    words = {"gram": "gram stops at rank L", "funk": "funk is overcomplete"}
    return f"k > L = {batch}: {words[solver]}"

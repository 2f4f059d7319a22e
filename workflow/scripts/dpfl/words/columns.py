"""What readers see of each kind of table: its columns, in order."""

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from dpfl.words import cell_words as cells
from dpfl.words.numerals import difference, known, p_text, rounded_up, text
from dpfl.words.vocabulary import in_words

if TYPE_CHECKING:
    import pandas as pd

ENDS = ("mean", "low", "high")
Column = Callable[["pd.Series"], str]


def rounded(name: str, form: str = "{:.3g}") -> Column:
    """Make a column of rounded numbers; infinity is a sign and an unknown number is empty."""
    return lambda row: text(row[name], form)


def plain(name: str) -> Column:
    """Make a column of values as they are: texts, and numbers in full."""
    return rounded(name, "{:g}")


def mean_and_ends(name: str, form: str) -> Column:
    """Make a column such as `0.56 (0.54 – 0.57)`, a dash where nothing can be measured."""
    return lambda row: (
        "{} ({} – {})".format(*(form.format(row[f"{name}_{end}"]) for end in ENDS))
        if known(row[f"{name}_mean"])
        else "–"
    )


def p_value(name: str) -> Column:
    """Make a column of p-values."""
    return lambda row: p_text(row[name]) if known(row[name]) else ""


def of_results(column: Column) -> Column:
    """Make a column that is empty for a cell without a result."""
    return lambda row: column(row) if row["n"] else ""


CELLS: dict[str, Column] = {
    "method": lambda row: row["label"] + cells.marks(row["certified"] or not row["n"]),
    "remark": plain("remark"),
    "ε": rounded("epsilon"),
    "test accuracy, %": cells.mean_and_interval,
    "trained": of_results(cells.trained),
    "diverged": of_results(lambda row: f"{row['diverged']:g}" if row["diverged"] else ""),
    "ε claimed": of_results(cells.claimed),
    "ε certified": of_results(cells.certified),
    "certified by": of_results(lambda row: row["accountant"] * known(row["eps_certified"])),
    "ε audited": of_results(cells.audited),
    "audit level": rounded("audit_level"),
    "audit estimator": plain("audit_estimator"),
    "privacy": of_results(cells.privacy),
    "which rate": plain("rate_key"),
    "rate": lambda row: plain("rate")(row) + cells.choice(row),
}

COMPARISONS: dict[str, Column] = {
    "better": plain("better"),
    "worse": plain("worse"),
    "part": lambda row: {"overall": "every ε"}.get(row["part"], row["part"]),
    "ε": rounded("epsilon"),
    "difference, points": lambda row: difference(row, "", "n"),
    "p": p_value("p"),
    "p (Holm)": p_value("p_holm"),
    "failed": lambda row: f"{row['failed']:g}" if row["failed"] else "",
    "tuning": plain("tuning"),
    "verdict": in_words,
    "not certified": lambda row: "; ".join(cells.not_certified(row)),
}

RANGES: dict[str, Column] = {
    "method": lambda row: row["label"] + cells.marks(row["certified"]),
    "which rate": plain("rate_key"),
    "ε": rounded("epsilon"),
    "best rate": rounded("best_rate"),
    "validation accuracy, %": rounded("best_validation_accuracy", "{:.1f}"),
    "rates": plain("rates"),
    "diverging": plain("diverging"),
    "unstable": plain("unstable"),
    "crawling": plain("crawling"),
    "good range": lambda row: (
        f"{row['good_low']:g} – {row['good_high']:g}" if known(row["good_low"]) else "none"
    ),
    "width, decades": cells.width,
    "trials": plain("trials"),
}

TUNED: dict[str, Column] = {
    "method": plain("label"),
    "ε": rounded("epsilon"),
    "tried at ε": rounded("tuned_at"),
    "at the edge": plain("edge"),
    "nothing learned": lambda row: "at any rate" * bool(row["nothing_learned"]),
    "by": plain("rule"),
    "runs": plain("runs"),
    "validation accuracy, %": rounded("validation_accuracy", "{:.1f}"),
    "next value, times": rounded("factor"),
    "accuracy over neighbours, points": rounded("spread", "{:.1f}"),
    "ε certified": lambda row: cells.certified(row) if math.isfinite(row["epsilon"]) else "",
    "ε if the choice were paid for": lambda row: (
        rounded_up(row["eps_selected"]) if known(row["eps_selected"]) else ""
    ),
}

TRIALS: dict[str, Column] = {
    "method": plain("label"),
    "ε": rounded("epsilon"),
    "tried at ε": rounded("tuned_at"),
    "seeds": plain("seeds"),
    "validation accuracy, %": rounded("validation_accuracy", "{:.2f}"),
    "sd": rounded("sd", "{:.2f}"),
    "": lambda row: "chosen" * bool(row["chosen"]),
}

ATTACKS: dict[str, Column] = {
    "method": lambda row: row["label"] + cells.marks(row["certified"]),
    "ε": rounded("epsilon"),
    "attack": plain("attack"),
    "AUC": mean_and_ends("auc", "{:.3f}"),
    "TPR at 0.1 % FPR": mean_and_ends("tpr_at_0.1_pct", "{:.2%}"),
    "TPR at 1 % FPR": mean_and_ends("tpr_at_1_pct", "{:.2%}"),
    "targets": plain("targets"),
    "non-members": plain("strangers"),
}

KINDS: dict[str, dict[str, Column]] = {
    "cells": CELLS,
    "comparisons": COMPARISONS,
    "ranges": RANGES,
    "tuned": TUNED,
    "trials": TRIALS,
    "attacks": ATTACKS,
}
"""What readers see of each kind of table, beside its settings."""


def shown(kind: str, settings: Iterable[str], last: Iterable[str] = ()) -> dict[str, Column]:
    """Return what readers see of a table: its settings before epsilon, other columns last."""
    own = list(KINDS[kind].items())
    at = [head for head, _ in own].index("ε")
    others = {name.replace("_", " "): rounded(name) for name in last}
    return dict([*own[:at], *((name, plain(name)) for name in settings), *own[at:]]) | others

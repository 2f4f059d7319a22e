"""What readers see of each table of a study: its columns, in order."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from dpfl.words.cell_words import (
    at_edge,
    audited,
    certified,
    claimed,
    label,
    mean_and_interval,
    not_certified,
    privacy,
    trained,
    width,
)
from dpfl.words.numerals import difference, known, number, p_text, rounded_up

if TYPE_CHECKING:
    import pandas as pd

Column = Callable[["pd.Series"], str]


def rounded(name: str, form: str = "{:.3g}") -> Column:
    """Make a column of rounded numbers; infinity is a sign and an unknown number is empty."""
    return lambda row: number(row[name], form) if known(row[name]) else ""


def since(name: str, column: Column) -> Column:
    """Make a column of what older tables lack."""
    return lambda row: column(row) if name in row else ""


def plain(name: str) -> Column:
    """Make a column of text as it is."""
    return lambda row: str(row[name]) if known(row[name]) else ""


def count(name: str) -> Column:
    """Make a column of whole numbers."""
    return rounded(name, "{:g}")


def p_value(name: str) -> Column:
    """Make a column of p-values."""
    return lambda row: p_text(row[name]) if known(row[name]) else ""


def of_results(column: Column) -> Column:
    """Make a column that is empty for a cell without a result."""
    return lambda row: column(row) if row["n"] else ""


CELLS: dict[str, Column] = {
    "method": lambda row: label(row) if row["n"] else row["label"],
    "variant": plain("variant"),
    "remark": plain("remark"),
    "ε": rounded("epsilon"),
    "test accuracy, %": mean_and_interval,
    "trained": of_results(trained),
    "diverged": of_results(lambda row: f"{row['diverged']:g}" if row["diverged"] else ""),
    "ε claimed": of_results(claimed),
    "ε certified": of_results(certified),
    "certified by": of_results(lambda row: row["accountant"] * known(row["eps_certified"])),
    "ε audited": of_results(audited),
    "audit level": rounded("audit_level"),
    "audit estimator": plain("audit_estimator"),
    "privacy": of_results(privacy),
    "rate": lambda row: plain("rate")(row) + at_edge(row),
    "r": rounded("r"),
    "regime": plain("regime"),
    "clipped below": rounded("clipped_below", "{:.0%}"),
    "clipped above": rounded("clipped_above", "{:.0%}"),
}

COMPARISONS: dict[str, Column] = {
    "kind": plain("kind"),
    "better": plain("better"),
    "worse": plain("worse"),
    "variant": plain("variant"),
    "part": plain("part"),
    "ε": plain("epsilons"),
    "difference, points": lambda row: difference(row, "", "n"),
    "p": p_value("p"),
    "p (Holm)": p_value("p_holm"),
    "failed": lambda row: f"{row['failed']:g}" if row["failed"] else "",
    "tuning": plain("tuning"),
    "verdict": plain("verdict"),
    "not certified": lambda row: "; ".join(not_certified(row)),
}

RANGES: dict[str, Column] = {
    "method": label,
    "rate": plain("rate_key"),
    "ε": rounded("epsilon"),
    "best rate": rounded("best_rate"),
    "validation accuracy, %": rounded("best_validation_accuracy", "{:.1f}"),
    "rates": count("rates"),
    "diverging": count("diverging"),
    "unstable": count("unstable"),
    "crawling": count("crawling"),
    "good range": lambda row: (
        f"{row['good_low']:g} – {row['good_high']:g}" if known(row["good_low"]) else "none"
    ),
    "width, decades": width,
    "trials": count("trials"),
}

TUNED: dict[str, Column] = {
    "method": plain("label"),
    "variant": plain("variant"),
    "ε": rounded("epsilon"),
    "tried at ε": since("tuned_at", rounded("tuned_at")),
    "chosen": lambda row: row["values"] + at_edge(row),
    "by": plain("rule"),
    "runs": count("runs"),
    "validation accuracy, %": rounded("validation_accuracy", "{:.1f}"),
    "next value, times": rounded("factor"),
    "accuracy over neighbours, points": rounded("spread", "{:.1f}"),
    "ε certified": lambda row: certified(row) if math.isfinite(row["epsilon"]) else "",
    "ε if the choice were paid for": lambda row: (
        rounded_up(row["eps_selected"]) if known(row["eps_selected"]) else ""
    ),
}

TRIALS: dict[str, Column] = {
    "method": plain("label"),
    "variant": plain("variant"),
    "ε": rounded("epsilon"),
    "tried at ε": since("tuned_at", rounded("tuned_at")),
    "values": plain("values"),
    "seeds": plain("seeds"),
    "validation accuracy, %": rounded("validation_accuracy", "{:.2f}"),
    "sd": rounded("sd", "{:.2f}"),
    "": plain("chosen"),
}

STUDY: dict[str, dict[str, Column]] = {
    "": CELLS,
    "comparisons": COMPARISONS,
    "ranges": RANGES,
    "tuned": TUNED,
    "trials": TRIALS,
}
"""What readers see of each table of a study, by its suffix."""

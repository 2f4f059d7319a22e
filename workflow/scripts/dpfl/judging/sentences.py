"""Parts of the sentences that tell a row of a judged claim."""

import math
from collections.abc import Sequence

import pandas as pd

from dpfl.tables.comparisons import POOLED
from dpfl.words.numerals import known, p_equation
from dpfl.words.vocabulary import DEMONSTRATION, DIFFERS, MATCHES, NOT_RUN, TOO_FEW

PAIRS = "pairs in which both trained"
AND = "; "
"""Between the comparisons that a row is about, where it is about several."""
OPEN = {
    TOO_FEW: "too few seeds for a verdict",
    NOT_RUN: "this scale does not run it",
    DEMONSTRATION: "a demonstration, which judges no claim",
}


def verdict(row: pd.Series) -> str:
    """Return the verdict as the end of a sentence."""
    return OPEN.get(row["verdict"], row["verdict"])


def matched(verdicts: Sequence[str], noun: str) -> str:
    """Count how many of some printed numbers match, or just them where none is decided."""
    if not verdicts:
        return f"no {noun} at this scale"
    nouns = f"{noun}{'s' * (len(verdicts) != 1)}"
    if not {MATCHES, DIFFERS} & {*verdicts}:
        return f"{len(verdicts)} {nouns}"
    return f"{verdicts.count(MATCHES)} of {len(verdicts)} {noun}s match"


def difference(row: pd.Series, unit: str = "points") -> str:
    """Return a difference, such as `+0.42 points [+0.10, +0.74] (n = 5, p = 0.03 after Holm)`.

    A p that no correction has changed is told without one.
    """
    if not known(row["difference"]):
        return "no seed has both"
    ends = ""
    if known(row["difference_low"]):
        ends = f" [{row['difference_low']:+.2f}, {row['difference_high']:+.2f}]"
    p = f", {p_equation(row['p_holm'])}{after_holm(row)}" if known(row.get("p_holm")) else ""
    return f"{row['difference']:+.2f} {unit}{ends} (n = {row['n']:g}{p})"


def after_holm(row: pd.Series) -> str:
    """Say that Holm has changed a p, by more than its last digit."""
    p, adjusted = row.get("p"), row.get("p_holm")
    alike = known(p) and known(adjusted) and math.isclose(p, adjusted)
    return " after Holm" * (not alike)


def failed(row: pd.Series, compared: str = "runs that trained") -> str:
    """Say how many runs failed and what is left to compare, as a sentence to append."""
    if not known(row["failed"]) or not row["failed"]:
        return ""
    runs = "1 run" if row["failed"] == 1 else f"{row['failed']:g} runs"
    return f" {runs} failed: compared are the {compared}."


def compared(row: pd.Series, unit: str = "points", among: str = PAIRS) -> str:
    """Tell a comparison: what, by how much, the verdict, and what failed."""
    return f"{row['about']}: {difference(row, unit)}: {verdict(row)}.{failed(row, among)}"


def everywhere(row: pd.Series, unit: str = "points") -> str:
    """Tell a comparison, or several together: those have the numbers of the one that is worst off.

    Without a p: that of several is of all together.
    """
    one = known(row["epsilon"]) and AND not in row["about"]
    if one or row["part"].endswith(POOLED) or not known(row["difference"]):
        return compared(row, unit)
    worst = difference(row.drop("p_holm"), f"{unit} where it is worst off")
    return f"{row['about']}: {worst}: {verdict(row)}.{failed(row, PAIRS)}"

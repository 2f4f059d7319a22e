"""Sentences about verdicts: what was changed against a baseline, and how verdicts are made."""

import ast
from collections.abc import Iterable

import pandas as pd

from dpfl import plugins
from dpfl.figures import datasets
from dpfl.judging import sentences
from dpfl.seeds import outcomes, verdicts
from dpfl.tables import comparisons, results
from dpfl.words import cell_words, numerals
from dpfl.words.forms import listed, points
from dpfl.words.numerals import known
from dpfl.words.vocabulary import (
    DEMONSTRATION,
    GAINS,
    INCONCLUSIVE,
    LOSES,
    MIXED,
    NO_DIFFERENCE,
    NOT_RUN,
    TOO_FEW,
)

MEANING = {
    GAINS: "the whole interval lies above zero",
    LOSES: "the whole interval lies below zero",
    NO_DIFFERENCE: "the whole interval lies within half the margin, {half}, of zero",
    INCONCLUSIVE: "the interval holds zero and reaches further than half the margin, {half}",
    MIXED: "every budget is decided, and not all alike",
    TOO_FEW: f"a verdict needs at least {verdicts.MIN_SEEDS} paired seeds",
    NOT_RUN: "the two sides share no budget",
    DEMONSTRATION: "the data set, {dataset}, only demonstrates the workflow: nothing is judged",
}
"""What a verdict on a change against a baseline means, a question with two sides."""


def of_kinds(kinds: Iterable[str]) -> dict[str, str]:
    """Return how each of some kinds of claims is judged, as its own file says it."""
    return {kind: ast.get_docstring(plugins.tree("judging/kinds", kind)) or "" for kind in kinds}


def rules(margin: float) -> list[str]:
    """State the rules that no kind of claim states, with the numbers in force."""
    half = points(margin / 2)
    changes = "; ".join(
        f"{verdict} if {MEANING[verdict].format(half=half)}"
        for verdict in (GAINS, LOSES, NO_DIFFERENCE)
    )
    return [
        f"The margin is {points(margin)}. n is the number of seeds of a cell; an interval is the "
        f"{verdicts.LEVEL:.0%} Student interval of their mean, so it speaks of new seeds and not "
        f"of new data; none below n = {verdicts.MIN_SPREAD}. Intervals of differences have the "
        "level of their opponent's step of Holm's procedure, over opponents and not over budgets; "
        "jointly they may cover less.",
        f"A run fails at chance level or more than {outcomes.FAR:g} points under the median of its "
        "cell's better half; means and pairs are of runs that trained.",
        "A change against a baseline: paired t-tests on one difference per seed at every budget, "
        "tests and intervals at the levels of Holm's procedure over all changes of the study; "
        f"{changes}; mixed if budgets are decided and not alike; else inconclusive; too few seeds "
        f"below n = {verdicts.MIN_SEEDS}. The mean over budgets, pooled, decides nothing.",
        "Privacy: certificate refuted if an audit finds more than is certified, or if a check of "
        "noise or sampling fails in a run that has a certificate; refuted if it finds more than is "
        "claimed, or if a check fails without a certificate; consistent if the claim is certified, "
        "else unproven. Of a cell it is the worst verdict of its runs, and the largest bound "
        "of n audited seeds holds at n times the level of one.",
    ]


def unproven(compared: pd.DataFrame) -> str:
    """Name the sides of some comparisons that have no certificate, as a sentence to append."""
    sides = {name for _, row in compared.iterrows() for name in cell_words.not_certified(row)}
    return f" Not certified, so not at equal privacy: {'; '.join(sorted(sides))}." * bool(sides)


def demonstration(study: dict) -> str:
    """Say that the numbers of a study judge nothing."""
    return (
        f"A demonstration on {datasets.of(study)}: the numbers show the machinery at work, "
        "no published claim is judged on them."
    )


def comparison(row: pd.Series, study: dict) -> str:
    """Tell one paired comparison: difference, interval, n, p and what its verdict means."""
    where = f" ({row['variant']})" if row["variant"] else ""
    against = f"{row['better']} against {row['worse']}{where}"
    if not known(row["difference"]):
        return f"{against}: no seed has both; {row['verdict']}."
    interval = ""
    if known(row["ci_low"]):
        interval = f" [{row['ci_low']:+.2f}, {row['ci_high']:+.2f}]"
    p = ""
    if known(row["p_holm"]):
        p = f", {numerals.p_equation(row['p_holm'])}{sentences.after_holm(row)}"
    half = points(study["margin"] / 2)
    meaning = MEANING[row["verdict"]].format(half=half, dataset=datasets.of(study))
    said = sentences.failed(row, sentences.PAIRS)
    return (
        f"{against}, {_at(row)}: {row['difference']:+.2f} points{interval} (n = {row['n']:g}{p}): "
        f"{row['verdict']}, for {meaning}.{said}{unproven(row.to_frame().T)}"
    )


def _at(row: pd.Series) -> str:
    """Say at which budgets two sides are compared."""
    budgets = row["epsilons"].split()
    if row["part"] == comparisons.POOLED:
        return f"pooled over ε = {listed(budgets)}, which decides nothing"
    if len(budgets) == 1:
        return f"at ε = {budgets[0]}"
    return f"at each of ε = {listed(budgets)}, of which the one that says least has"


def changes(study: dict, compared: pd.DataFrame) -> list[str]:
    """Tell every comparison with a baseline, none of a study that judges nothing."""
    if results.demonstrates(study):
        return []
    return [comparison(row, study) for _, row in compared.iterrows()]

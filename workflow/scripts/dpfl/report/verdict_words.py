"""Sentences about verdicts, computed from the tables of comparisons."""

import pandas as pd

from dpfl.report.narrative import listed, points
from dpfl.tables import rendering, verdicts
from dpfl.tables.rendering import known

MEANING = {
    "replicated": "the whole interval lies above zero",
    "not replicated": "the interval rules out an advantage of half the margin, {half}",
    "wins": "the whole interval lies above zero",
    "does not win": "the interval rules out an advantage of half the margin, {half}",
    "inconclusive": "the interval holds zero as well as half the margin, {half}",
    "too few seeds": f"a verdict needs at least {verdicts.MIN_SEEDS} paired seeds",
    "demonstration": "{dataset} only demonstrates the machinery, so no claim is judged",
    "gains": "the whole interval lies above zero",
    "loses": "the whole interval lies below zero",
    "no difference": "the whole interval lies within half the margin, {half}, of zero",
}
OPEN = "the interval holds zero and reaches further than half the margin, {half}"
"""What `inconclusive` means where the question has two sides."""


def rules(margin: float) -> list[str]:
    """State the verdict rules with the numbers in force."""
    half, n = points(margin / 2), verdicts.MIN_SEEDS
    return [
        f"n is the number of seeds of a cell; an interval is the {verdicts.LEVEL:.0%} Student "
        "interval of their mean, so it speaks of new seeds and not of new data.",
        f"Against a published accuracy: matches if the interval lies within {points(margin)} of "
        "it, differs if it lies wholly outside, else inconclusive.",
        "For a published ordering: paired t-tests on one difference per seed, the mean over the "
        "claim's budgets, tests and intervals at the levels of Holm's procedure over the claim's "
        "comparisons (95 % for all of them together, wider for each): replicated if the "
        f"lower end is above zero, not replicated if the upper end is below {half}, else "
        f"inconclusive; too few seeds below n = {n}.",
        "For a change against a baseline: the same tests over all changes of the study, and a "
        f"question with two sides: gains if the lower end is above zero, loses if the upper end is "
        f"below zero, no difference if the whole interval lies within {half} of zero, else "
        "inconclusive.",
        "For privacy: refuted if an audit finds more than is claimed, consistent if the claim is "
        "certified, else unproven.",
    ]


def headline(study: dict, compared: pd.DataFrame) -> str:
    """Ask the study's question and answer it in one line."""
    claims = compared[compared["kind"] == "claim"]
    if not len(claims):
        return "This study judges no claim."
    if verdicts.demonstrates(study["dataset"]):
        return demonstration(study)
    parts = []
    for verdict, group in claims.groupby("verdict", sort=False):
        versus = listed(dict.fromkeys(group["worse"]))
        parts.append(f"against {versus}: {verdict}")
    better = claims["better"].iloc[0]
    question = f"Is {better} more accurate at equal privacy budget?"
    return f"{question} {'; '.join(parts)}.{unproven(claims)}"


def unproven(compared: pd.DataFrame) -> str:
    """Name the sides of some comparisons that have no certificate, as a sentence to append."""
    sides = {name for text in compared["not_certified"] for name in text.split("; ") if name}
    return f" Not certified, so not at equal privacy: {'; '.join(sorted(sides))}." * bool(sides)


def demonstration(study: dict) -> str:
    """Say that the numbers of a study judge nothing."""
    return (
        f"A demonstration on {study['dataset']}: the numbers show the machinery at work, "
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
    p = f", {rendering.p_equation(row['p_holm'])} after Holm" if known(row["p_holm"]) else ""
    open_sided = row["kind"] == "baseline" and row["verdict"] == "inconclusive"
    meaning = (OPEN if open_sided else MEANING[row["verdict"]]).format(
        half=points(study["margin"] / 2), dataset=study["dataset"]
    )
    budgets = f"over ε = {listed(row['epsilons'].split())}"
    return (
        f"{against}: {row['difference']:+.2f} points{interval} {budgets} (n = {row['n']:g}{p}): "
        f"{row['verdict']}, for {meaning}.{unproven(row.to_frame().T)}"
    )


def claims(study: dict, compared: pd.DataFrame, kind: str = "claim") -> list[str]:
    """Tell every comparison of a kind, `claim`, `control` or `baseline`."""
    return [comparison(row, study) for _, row in compared[compared["kind"] == kind].iterrows()]


def belief(study: dict, compared: pd.DataFrame) -> list[str]:
    """Say whether "belief" earns a win, which only a win over every control would show."""
    words = {
        "wins": "Belief earns a win: {better} beats {worse}, by {difference:+.2f} points or "
        "more on average.",
        "does not win": "Belief earns no win: {better} does not beat all of {worse}.",
        "inconclusive": "Whether belief earns a win stays open: {better} against {worse} is "
        "inconclusive.",
        "too few seeds": "Whether belief earns a win is not judged: {better} against {worse} has "
        "{n:g} paired seeds, fewer than {needed}.",
        "control missing": "Whether belief earns a win is not judged: of the two controls the "
        "study has only {worse}.",
        "demonstration": "Whether belief earns a win is not judged on {dataset}.",
    }
    fixed = {"needed": verdicts.MIN_SEEDS, "dataset": study["dataset"]}
    rows = compared[compared["kind"] == "belief"]
    return [words[row["verdict"]].format(**(row.to_dict() | fixed)) for _, row in rows.iterrows()]

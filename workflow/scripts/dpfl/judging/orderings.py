"""What is said of a difference, better - worse, in points; of rounds the margin is one round.

It is judged at every epsilon first. The mean over them, pooled, comes second and decides nothing.
The p of a pair is its largest over the epsilons (intersection-union). Holm's procedure runs over
the pairs of a claim. M is the margin. By the interval of at least 5 seeds at the level of Holm's
step, the first that is true:

    holds                     the lower end is above M / 2
    holds, small              the lower end is above 0
    opposite                  the upper end is below 0
    no difference             both ends are less than M / 2 from 0
    does not hold             the upper end is below M / 2
    open: needs more seeds    everything else
    open: needs enough seeds  fewer than 5 seeds, paired ones for a pair
    open: needs runs of it    one side has no run at this epsilon

How many runs trained decides too, by Fisher's exact test in the same family. What is found is open
where it rests on how a side was tuned:

    open: needs a rate tuned at this epsilon  whole clients, at a rate chosen at another epsilon
    open: needs as many trials                against a rate at an edge, whose rival had more trials
    open: needs one adjacency                 epsilons of two adjacencies: no equal budgets

The interval that is shown is that of the pair alone, at the level of a look.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.judging import cells, rows
from dpfl.judging.evidence import Evidence
from dpfl.seeds import conjunction, fairness, pairing, verdicts
from dpfl.tables import comparisons, results
from dpfl.words.vocabulary import NOT_RUN, verdict_of

METHOD = comparisons.METHOD


@dataclass(frozen=True)
class Pair:
    """Two sides of a comparison: `name` tells pairs of one claim apart, `about` says it in full.

    `cell` is what else both sides have in common, as text.
    """

    name: str
    about: str
    better: pd.DataFrame
    worse: pd.DataFrame
    cell: str = ""

    @property
    def sides(self) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Return the runs of the better side and of the worse."""
        return self.better, self.worse

    def at(self, epsilon: float) -> "Pair":
        """Return the runs at one epsilon."""
        return self.among([epsilon])

    def among(self, epsilons: Sequence[float]) -> "Pair":
        """Return the runs at some epsilons."""
        better, worse = (side[side["epsilon"].isin(epsilons)] for side in self.sides)
        return replace(self, better=better, worse=worse)

    @property
    def ran(self) -> bool:
        """Tell whether both sides have runs."""
        return all(map(len, self.sides))


@dataclass(frozen=True)
class Question:
    """What is asked of the pairs of a claim.

    `value` is the column whose differences are judged, `rule` what is asked of them; `remark` is
    what is said of a pair at one epsilon, as the end of its name.
    """

    claim: dict
    evidence: Evidence
    epsilons: list[float]
    rule: verdicts.Ordering
    value: str = "accuracy"
    remark: Callable[[Pair], str] = lambda pair: ""

    def shares(self, pair: Pair) -> pairing.Shares:
        """Count the runs of both sides that trained; where that is not asked, none failed."""
        own = pairing.Shares.count(*pair.sides)
        if self.value == "accuracy":
            return own
        return replace(own, better=own.of_better, worse=own.of_worse)

    def differences(self, pair: Pair, epsilons: Sequence[float]) -> np.ndarray:
        """Return one difference per seed, the mean over epsilons."""
        return pairing.differences(*pair.sides, epsilons, self.value)


def asked(claim: dict, evidence: Evidence, compared: Sequence[Pair], **changes: Any) -> Question:
    """Return what a claim asks of pairs: at all its epsilons, by the margin of the study."""
    epsilons = cells.epsilons(claim, *(side for pair in compared for side in pair.sides))
    usual = {"rule": verdicts.Ordering(evidence.study["margin"])}
    return Question(claim, evidence, epsilons, **usual | changes)


def pairs(claim: dict, evidence: Evidence, worse: Sequence) -> list[Pair]:
    """Pair `better` of a claim with opponents, in each cell that differs in this alone.

    Both are methods, or with `of` values of that setting. A cell that one side alone has is a pair
    too, which was not run. UserError if `of` is no setting of the study.
    """
    of, better, runs = claim.get("of", METHOD), claim["better"], cells.runs(claim, evidence)
    if of not in runs:
        known = [METHOD, *results.settings(evidence.study)]
        raise UserError(f"{evidence.study['name']}: {of!r} is not varied; {nearest(of, known)}")
    others, ours = _others(evidence, runs, of), cells.having(runs, of, better)
    side = f"{of} " * (of != METHOD)
    opponents = [cells.having(runs, of, value) for value in worse]
    texts = list(dict.fromkeys(others[pd.concat([ours, *opponents]).index]))
    found = []
    against = list(zip(worse, opponents, strict=True))
    for text, (value, theirs) in itertools.product(texts or [""], against):
        sides = [own[others[own.index] == text] for own in (ours, theirs)]
        name = f"against {value}" + f", {text}" * bool(text)
        if not texts or any(map(len, sides)):
            found.append(Pair(name, f"{side}{better} {name}", *sides, text))
    return found


def _others(evidence: Evidence, runs: pd.DataFrame, of: str) -> pd.Series:
    """Return what tells each run's cell apart beside a setting and epsilon, as text."""
    if of == METHOD:
        return runs["variant"]
    rest = results.without(runs, results.settings(evidence.study), of)
    return runs["method"] + rest.map(lambda text: f", {text}" * bool(text))


def judged(question: Question, compared: Sequence[Pair]) -> list[rows.Row]:
    """Return the rows of a conjunction over pairs and epsilons, its own row first.

    The family of Holm's procedure is the pairs that ran at one of the epsilons at least.
    """
    epsilons = question.epsilons
    samples = [[question.differences(pair, [e]) for e in epsilons] for pair in compared]
    used = [[e for e in epsilons if pair.at(e).ran] for pair in compared]
    ran = [n for n, own in enumerate(used) if own]
    found = pairing.family(
        {n: samples[n] for n in ran},
        {n: question.differences(compared[n], used[n]) for n in ran},
        question.rule,
        {n: [question.shares(compared[n].at(e)) for e in epsilons] for n in ran},
    )
    none = verdicts.NOTHING
    nothing = pairing.Found([none] * len(epsilons), np.nan, np.nan, none)
    parts, told = [], []
    for n, pair in enumerate(compared):
        judged = found.get(n, nothing)
        each = zip(epsilons, judged.parts, strict=True)
        own = [_at(question, pair, epsilon, one) for epsilon, one in each]
        parts += own
        if len(own) > 1:
            every = _every(question, [pair], own, samples[n], pair.name)
            pooled = _row(question, pair.among(used[n]), comparisons.POOLED, judged.pooled)
            over = ", ".join(f"{e:g}" for e in used[n])
            told += [every, *own, pooled | {"about": f"{pair.about}, pooled over epsilon {over}"}]
        else:
            told += own
    values = [sample for own in samples for sample in own]
    return [_every(question, compared, parts, values, "overall"), *told]


def _at(question: Question, pair: Pair, epsilon: float, found: verdicts.Comparison) -> rows.Row:
    """Return the row of a pair at one epsilon."""
    own, where = pair.at(epsilon), cells.shown(epsilon)
    about = f"{pair.about}{question.remark(own)}, {where}"
    return _row(question, own, where, found) | {"about": about, "epsilon": epsilon}


def _row(question: Question, pair: Pair, where: str, found: verdicts.Comparison) -> rows.Row:
    return rows.blank(
        question.claim,
        question.evidence,
        f"{pair.name}, {where}",
        p=found.p,
        p_holm=found.p_holm,
        tuning=fairness.between(*pair.sides),
        **fairness.judged(found.verdict if pair.ran else NOT_RUN, *pair.sides)._asdict(),
        **rows.interval("difference", found.interval),
        **rows.of_runs(*pair.sides),
    )


def _every(
    question: Question, compared: Sequence[Pair], parts: list, samples: list, name: str
) -> rows.Row:
    """Sum parts up: the numbers are those of the part that decides."""
    epsilons = question.epsilons
    about = "; ".join(dict.fromkeys(pair.about for pair in compared))
    if len(epsilons) == 1:
        about += f", {cells.shown(epsilons[0])}"
    used = [side for pair in compared for side in pair.among(epsilons).sides]
    head = rows.blank(question.claim, question.evidence, name, about=about)
    if not parts:
        return head | NOT_RUN._asdict()
    return head | {
        "epsilon": epsilons[0] if len(epsilons) == 1 else np.nan,
        **whole(parts, samples, question.rule),
        "tuning": fairness.least(part["tuning"] for part in parts),
        **rows.of_runs(*used),
    }


def whole(
    parts: Sequence[rows.Row], samples: Sequence[np.ndarray], rule: verdicts.Ordering
) -> rows.Row:
    """Return the verdict on parts together, and the numbers of the one that decides it.

    The p is that of all parts together, which needs no correction; several have none besides, since
    the interval is of one of them.
    """
    verdict = conjunction.verdict(map(verdict_of, parts))
    part = conjunction.deciding(parts, verdict)
    return {
        **{key: part[key] for key in rows.DIFFERENCE},
        "p": rule.together(samples),
        "p_holm": part["p_holm"] if len(parts) == 1 else np.nan,
        **verdict._asdict(),
    }

"""Pairs of methods, or of settings, judged at every epsilon first and pooled over them second."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.judging import cells, rows
from dpfl.judging.evidence import Evidence
from dpfl.seeds import conjunction, pairing, verdicts
from dpfl.tables import comparisons, fairness, results
from dpfl.words.vocabulary import NOT_RUN

METHOD = "method"


@dataclass(frozen=True)
class Pair:
    """Two sides of a comparison: `name` tells pairs of one claim apart, `about` says it in full."""

    name: str
    about: str
    better: pd.DataFrame
    worse: pd.DataFrame

    def at(self, epsilon: float) -> "Pair":
        """Return the runs at one epsilon."""
        return self.among([epsilon])

    def among(self, epsilons: Sequence[float]) -> "Pair":
        """Return the runs at some epsilons."""
        better, worse = (s[s["epsilon"].isin(epsilons)] for s in (self.better, self.worse))
        return Pair(self.name, self.about, better, worse)

    @property
    def ran(self) -> bool:
        """Tell whether both sides have runs."""
        return bool(len(self.better) and len(self.worse))


@dataclass(frozen=True)
class Question:
    """What is asked of the pairs of a claim.

    `value` is the column whose differences are judged, `margin` in its units, `least` the standard
    deviation that they have at the least; `remark` is what is said of a pair at one epsilon, as the
    end of its name.
    """

    claim: dict
    evidence: Evidence
    epsilons: list[float]
    margin: float
    value: str = "accuracy"
    least: float = 0.0
    remark: Callable[[Pair], str] = lambda pair: ""

    def differences(self, pair: Pair, epsilons: Sequence[float]) -> np.ndarray:
        """Return one difference per seed, the mean over epsilons."""
        return pairing.differences(pair.better, pair.worse, epsilons, self.value)


def pairs(
    evidence: Evidence, runs: pd.DataFrame, better: object, worse: Sequence, of: str = METHOD
) -> list[Pair]:
    """Pair a method with others, or a value of a setting, in each cell that differs in this alone.

    A cell that one side alone has is a pair too, which was not run. UserError if `of` is no setting
    of the study.
    """
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
            found.append(Pair(name, f"{side}{better} {name}", *sides))
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
        question.margin,
        least=question.least,
    )
    parts, told = [], []
    for n, pair in enumerate(compared):
        judged = found[n].parts if n in found else [verdicts.NOTHING] * len(epsilons)
        own = [_at(question, pair, e, one) for e, one in zip(epsilons, judged, strict=True)]
        parts += own
        if len(own) > 1:
            pooled = found[n].pooled if n in found else verdicts.NOTHING
            every = _every(question, [pair], own, samples[n], pair.name)
            told += [every, *own, _pooled(question, pair, used[n], pooled)]
        else:
            told += own
    values = [sample for own in samples for sample in own]
    return [_every(question, compared, parts, values, "overall"), *told]


def _at(question: Question, pair: Pair, epsilon: float, found: verdicts.Comparison) -> rows.Row:
    """Return the row of a pair at one epsilon."""
    own, where = pair.at(epsilon), cells.shown(epsilon)
    about = f"{pair.about}{question.remark(own)}, {where}"
    row = _row(question, own, f"{pair.name}, {where}", found)
    return row | {"about": about, "epsilon": epsilon}


def _pooled(
    question: Question, pair: Pair, used: list[float], found: verdicts.Comparison
) -> rows.Row:
    """Return the row of a pair on the mean over the epsilons that it has."""
    row = _row(question, pair.among(used), f"{pair.name}, {comparisons.POOLED}", found)
    over = ", ".join(f"{e:g}" for e in used)
    return row | {"about": f"{pair.about}, pooled over epsilon {over}"}


def _row(question: Question, pair: Pair, name: str, found: verdicts.Comparison) -> rows.Row:
    return rows.blank(
        question.claim,
        question.evidence,
        name,
        p=found.p,
        p_holm=found.p_holm,
        tuning=fairness.of(pair.better, pair.worse),
        verdict=found.verdict if pair.ran else NOT_RUN,
        **rows.difference(found.interval),
        **rows.of_runs(pair.better, pair.worse),
    )


def _every(
    question: Question,
    compared: Sequence[Pair],
    parts: list[rows.Row],
    samples: list[np.ndarray],
    name: str,
) -> rows.Row:
    """Sum parts up: the numbers are those of the part that decides."""
    epsilons = question.epsilons
    about = "; ".join(dict.fromkeys(pair.about for pair in compared))
    if len(epsilons) == 1:
        about += f", {cells.shown(epsilons[0])}"
    sides = [side for pair in compared for side in (pair.better, pair.worse)]
    used = pd.concat([side[side["epsilon"].isin(epsilons)] for side in sides] or [pd.DataFrame()])
    used = used.drop_duplicates(["cell", "run"]) if len(used) else used
    head = rows.blank(question.claim, question.evidence, name, about=about)
    if not parts:
        return head | {"verdict": NOT_RUN}
    return head | {
        "epsilon": epsilons[0] if len(epsilons) == 1 else np.nan,
        **whole(parts, samples, question.least),
        "tuning": fairness.least(part["tuning"] for part in parts),
        **rows.of_runs(used),
    }


def whole(parts: Sequence[rows.Row], samples: Sequence[np.ndarray], least: float = 0.0) -> rows.Row:
    """Return the verdict on parts together, and the numbers of the one that decides it.

    The p is that of all parts together, which needs no correction; several have none besides, since
    the interval is of one of them.
    """
    verdict = conjunction.verdict(part["verdict"] for part in parts)
    part = conjunction.deciding(parts, verdict)
    return {
        **{key: part[key] for key in rows.DIFFERENCE},
        "p": verdicts.p_together(samples, least),
        "p_holm": part["p_holm"] if len(parts) == 1 else np.nan,
        "verdict": verdict,
    }

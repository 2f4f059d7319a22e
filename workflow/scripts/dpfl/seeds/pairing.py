"""Runs of two sides paired by seed: the same seed has the same data, weights and batches.

Pairs that belong together are a family. They are judged at every epsilon first, and pooled over the
epsilons second. Each pair is judged at the level that Holm's procedure gives its largest p over the
epsilons. Where runs failed, Fisher's exact test of how many trained is a test of the family too. If
it rejects, the side of which more trained is the better one. If it does not, fewer pairs than a
verdict needs may still tell against the side that failed more, where enough seeds of both ran.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.seeds import looks, outcomes, verdicts
from dpfl.words import vocabulary as words

ZERO = 9
"""Decimals of a difference, in points: beyond them is what floating point makes of nothing."""


@dataclass(frozen=True)
class Shares:
    """How many runs of two sides trained, of how many."""

    better: int
    of_better: int
    worse: int
    of_worse: int

    @classmethod
    def count(cls, better: pd.DataFrame, worse: pd.DataFrame) -> "Shares":
        """Count the runs of two sides."""
        sides = [(len(outcomes.of_trained(side)), len(side)) for side in (better, worse)]
        return cls(*sides[0], *sides[1])

    @cached_property
    def p(self) -> float:
        """Return the two-sided p of Fisher's exact test that the shares are equal."""
        from scipy import stats  # takes a second to import, for few tables

        failed = [self.of_better - self.better, self.of_worse - self.worse]
        return float(stats.fisher_exact([[self.better, self.worse], failed]).pvalue)

    @property
    def failed(self) -> bool:
        """Tell whether a run of either side failed."""
        return self.better + self.worse < self.of_better + self.of_worse

    @property
    def ahead(self) -> bool:
        """Tell whether more of the better side trained."""
        return self.better * self.of_worse > self.worse * self.of_better

    @property
    def uneven(self) -> bool:
        """Tell whether one side failed more, and enough seeds of both ran for a verdict."""
        enough = min(self.of_better, self.of_worse) >= verdicts.MIN_SEEDS
        return enough and self.better * self.of_worse != self.worse * self.of_better


@dataclass(frozen=True)
class Found:
    """What seeds say of a pair: at each epsilon, at all together (p), and pooled."""

    parts: list[verdicts.Comparison]
    p: float
    p_holm: float
    pooled: verdicts.Comparison


def family(
    samples: Mapping[Hashable, Sequence[Sequence[float]]],
    pooled: Mapping[Hashable, Sequence[float]],
    asked: verdicts.Ordering,
    shares: Mapping[Hashable, Sequence[Shares]] = MappingProxyType({}),
) -> dict[Hashable, Found]:
    """Judge pairs that belong together, by one sample of differences per epsilon and one pooled.

    The p of a part is adjusted by the level of its pair alone, at which it is judged. `shares`
    holds, per pair, how many runs trained at each epsilon.
    """
    p = {name: asked.together(own) for name, own in samples.items()}
    tested = {name: own for name, own in shares.items() if any(one.failed for one in own)}
    trained = {(name, Shares): max(one.p for one in own) for name, own in tested.items()}
    levels, second = verdicts.holm(p | trained), verdicts.family(pooled, asked)
    found = {}
    for name, sample in samples.items():
        p_holm, level = levels[name]
        parts = [asked.compare(own, level) for own in sample]
        if name in tested:
            allowed = levels[name, Shares][1]
            pairs = zip(parts, tested[name], sample, strict=True)
            parts = [_with_share(asked, *pair, level, allowed) for pair in pairs]
        found[name] = Found(parts, p[name], p_holm, second[name])
    return found


def alone(
    better: pd.DataFrame, worse: pd.DataFrame, epsilon: float, asked: verdicts.Ordering
) -> verdicts.Comparison:
    """Judge a pair by itself at one epsilon, at the first look that decides it, or the last."""
    judged = (asked.compare(differences(*seen, [epsilon])) for seen in looks.each(better, worse))
    return looks.first(judged, lambda one: words.decides(one.verdict._asdict()))


def _with_share(
    asked: verdicts.Ordering,
    part: verdicts.Comparison,
    share: Shares,
    values: Sequence[float],
    level: float,
    allowed: float,
) -> verdicts.Comparison:
    """Return a part, by how many runs trained if that differs at a level.

    Else fewer pairs than MIN_SEEDS may tell against the side that failed more.
    """
    if share.failed and share.p <= 1 - allowed:
        p_holm = verdicts.p_at(share.p, allowed)
        return replace(part, p=share.p, p_holm=p_holm, verdict=asked.by_share(share.ahead))
    if not (part.interval.few and share.uneven and len(values) >= verdicts.MIN_SPREAD):
        return part
    told = asked.verdict(replace(verdicts.interval(values, level), n=verdicts.MIN_SEEDS))
    against = verdicts.LEADS if asked.by_share(share.ahead) in verdicts.LEADS else verdicts.LAGS
    return replace(part, verdict=told) if told in against else part


def by_seed(runs: pd.DataFrame, value: str = "accuracy", over: str = "epsilon") -> pd.DataFrame:
    """Return the values of one cell: a row per seed, a column per epsilon, or what it is `over`.

    UserError for a value that is not finite, and for two runs of one seed at one epsilon.
    """
    broken = runs.loc[~np.isfinite(runs[value].astype(float)), "run"]
    if len(broken):
        raise UserError(f"run {broken.iloc[0]} has no finite {value}")
    for _, row in runs[runs.duplicated(["seed", over])].iterrows():
        where = f"seed {row['seed']}, {over} {row[over]:g}"
        raise UserError(f"two runs of {row['method']} at {where} ({row['run']}), expected one")
    return runs.pivot(index="seed", columns=over, values=value)


def differences(
    better: pd.DataFrame, worse: pd.DataFrame, epsilons: Sequence[float], value: str = "accuracy"
) -> np.ndarray:
    """Return one difference per seed, better - worse, the mean over some epsilons.

    Only seeds count whose runs trained at every one of these epsilons on both sides; none without
    epsilons.
    """
    sides = map(outcomes.of_trained, (better, worse))
    ours, theirs = (by_seed(side, value).reindex(columns=epsilons) for side in sides)
    gaps = (ours - theirs).dropna()
    return gaps.mean(axis=1).round(ZERO).to_numpy() if len(epsilons) else np.array([])


def shared(better: pd.DataFrame, worse: pd.DataFrame) -> list[float]:
    """Return the finite epsilons of both sides: without a budget there is no equal budget."""
    return sorted(e for e in set(better["epsilon"]) & set(worse["epsilon"]) if np.isfinite(e))

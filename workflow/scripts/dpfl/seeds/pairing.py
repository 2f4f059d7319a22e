"""Runs of two sides paired by seed: the same seed has the same data, weights and batches.

Pairs that belong together are a family. They are judged at every epsilon first, and pooled over the
epsilons second. Each pair is judged at the level that Holm's procedure gives its largest p over the
epsilons.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.seeds import outcomes, verdicts

ZERO = 9
"""Decimals of a difference, in points: beyond them is what floating point makes of nothing."""


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
    margin: float,
    judge: Callable[[verdicts.Interval, float], str] = verdicts.of_ordering,
    least: float = 0.0,
) -> dict[Hashable, Found]:
    """Judge pairs that belong together, by one sample of differences per epsilon and one pooled.

    The p of a part is adjusted by the level of its pair alone, so that it fits its interval.
    """
    p = {name: verdicts.p_together(own, least) for name, own in samples.items()}
    second = verdicts.family(pooled, margin, judge, least)
    found = {}
    for name, (p_holm, level) in verdicts.holm(p).items():
        parts = [_part(sample, level, margin, judge, least) for sample in samples[name]]
        found[name] = Found(parts, p[name], p_holm, second[name])
    return found


def _part(
    sample: Sequence[float], level: float, margin: float, judge: Callable, least: float
) -> verdicts.Comparison:
    measured = verdicts.interval(sample, level, least)
    p = verdicts.p_value(sample, least)
    return verdicts.Comparison(measured, p, verdicts.p_at(p, level), judge(measured, margin))


def by_seed(runs: pd.DataFrame, value: str = "accuracy") -> pd.DataFrame:
    """Return the values of one cell per epsilon: a row per seed, a column per epsilon.

    UserError for a value that is not finite, and for two runs of one seed at one epsilon.
    """
    broken = runs.loc[~np.isfinite(runs[value].astype(float)), "run"]
    if len(broken):
        raise UserError(f"run {broken.iloc[0]} has no finite {value}")
    for _, row in runs[runs.duplicated(["seed", "epsilon"])].iterrows():
        where = f"seed {row['seed']}, epsilon {row['epsilon']:g}"
        raise UserError(f"two runs of {row['method']} at {where} ({row['run']}), expected one")
    return runs.pivot(index="seed", columns="epsilon", values=value)


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

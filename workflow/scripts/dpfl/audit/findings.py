"""What the canaries of a run found: a lower bound on epsilon, and checks of noise and sampling.

Both the estimator and the level are fixed before the run. The configuration fixes the level, the
mechanism the estimator. It is the per-step bound where every step is known to be a Gaussian, else
the one-run bound.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dpfl.audit import checks, decorrelated, one_run, per_step
from dpfl.audit.canaries import LONGEST, NOT_AUDITED, Canaries, Terms

CALLED = 0.4  # of the records, those with the highest scores, are called in
PER_STEP, ONE_RUN = "per-step Clopper-Pearson", "one run, top calls"
PLANS = 10  # of holders, each of which takes an accountant's time
MEMBERS = 10  # fewer are drawn too much alike: batches of one size are no independent coins
COMPARED = 20_000  # steps whose noise is compared pairwise, evenly spread over the run


def findings(canaries: Mapping[int | str, Canaries], terms: Terms) -> dict[str, Any]:
    """Return the audit of a run from the canaries of everyone who adds noise.

    The status is `audited`, or `blind` where no canary could be appended. It is `broken` where what
    was seen of noise or sampling has a p below 1e-6.
    """
    watched = [own for own in canaries.values() if own.steps]
    if not watched:
        return NOT_AUDITED
    seen = [own for own in watched if own.seen and own.records + own.tossed]
    p = _checks(watched)
    broken = [name for name, value in p.items() if value < checks.BROKEN_BELOW]
    bound = (_per_step if terms.gaussian else _one_run)(seen, terms) if seen else {}
    return {
        **NOT_AUDITED,
        "status": "broken" if broken else "audited" if seen else "blind",
        "level": terms.level,
        "canaries": sum(own.records for own in watched),
        "blind": [*terms.blind, *_too_late(watched)],
        "checks": p,
        "broken": broken,
        **bound,
    }


def _per_step(seen: Sequence[Canaries], terms: Terms) -> dict[str, Any]:
    """Bound epsilon by what was called at every step, of all holders: they do the same.

    Where their plans differ, that of any may turn out largest: each has its part of the level. Of
    many plans the most exposed ones are looked at, by q^2 sum 1/z^2, which no coin changes.
    """
    pooled: dict[float, np.ndarray] = {}
    for own in seen:
        tallies = decorrelated.tallies(own) if own.judged_at_end else own.tallies
        for z, tally in tallies.items():
            pooled[z] = pooled.get(z, 0) + np.array(tally[1:])
    prices = {_plan(own): _price(own, terms.delta) for own in seen}
    plans = sorted(prices, key=_exposure)[-PLANS:]
    found = []
    for plan in plans:
        tallies = [per_step.Tally(z, count, *map(int, pooled[z])) for z, count in plan[1]]
        given = (tallies, prices[plan], terms.level / len(plans))
        found.append((per_step.lower_bound(*given), per_step.ceiling(*given)))
    epsilon, ceiling = max(found)
    names = ("noise_multiplier", "ins", "misses", "outs", "false_alarms")
    counts = [(z, *map(int, count)) for z, count in sorted(pooled.items())]
    return {
        "estimator": PER_STEP,
        "length": "clipped",
        "epsilon": epsilon,
        "ceiling": ceiling,
        "tallies": [dict(zip(names, count, strict=True)) for count in counts],
    }


def _exposure(plan: tuple[float, tuple[tuple[float, int], ...]]) -> float:
    sample_rate, steps = plan
    return sample_rate**2 * sum(count / z**2 for z, count in steps)


def _plan(own: Canaries) -> tuple[float, tuple[tuple[float, int], ...]]:
    """Return the sample rate of a holder, and its steps at each noise multiplier."""
    return own.sizes[0][2], tuple((z, tally[0]) for z, tally in sorted(own.tallies.items()))


def _price(own: Canaries, delta: float) -> per_step.Price:
    """Return the price of a holder's steps, by how its batches are drawn."""
    if own.turns is None:
        return per_step.poisson(own.sizes[0][2], delta)
    # All steps have one noise.
    return lambda noises: own.turns.price(min(noises)[0], own.steps, int(own.taken.times.max()))


def _too_late(watched: Iterable[Canaries]) -> list[str]:
    late = any(own.made_of and own.steps > LONGEST for own in watched)
    return [f"correlated noise of steps after the first {LONGEST}"] * late


def _one_run(seen: Sequence[Canaries], terms: Terms) -> dict[str, Any]:
    """Bound epsilon by the records of the run with the highest scores, which are called in."""
    scores = np.concatenate([own.scores for own in seen])
    included = np.concatenate([own.included for own in seen])
    called = int(CALLED * len(scores))
    right = one_run.right_calls(scores, included, called)
    given = (called, len(scores), terms.delta, terms.level)
    return {
        "estimator": ONE_RUN,
        "length": seen[0].length,
        "epsilon": one_run.lower_bound(right, *given),
        "ceiling": one_run.ceiling(*given),
        "tallies": [{"called": called, "right": right}],
    }


def _checks(watched: Collection[Canaries]) -> dict[str, float]:
    """Return the p of everything that is known of noise and sampling beforehand."""
    found = {
        name: checks.smallest(each)
        for name, each in (
            ("records", [_records(own) for own in watched if own.turns is None]),
            ("batch sizes", _batch_sizes(own for own in watched if own.turns is None)),
            ("turns", [_turns(own) for own in watched if own.turns]),
        )
        if each
    }
    noise = [decorrelated.silent(own) for own in watched if own.noise]
    if noise:
        rows = np.concatenate(noise)
        spread = np.linspace(0, len(rows) - 1, min(COMPARED, len(rows))).astype(int)
        found["noise"] = checks.repeated_noise(rows[spread])
    residuals = [value for own in watched for value in own.residuals]
    if residuals:
        found["counts"] = checks.count_residuals(np.array(residuals))
    return found


def _records(own: Canaries) -> float:
    return checks.binomial_counts(own.counts, own.steps, own.sizes[0][2])


def _batch_sizes(watched: Iterable[Canaries]) -> list[float]:
    """Return p of Poisson batch sizes, for each population and sample rate."""
    by_kind: dict[tuple[int, float], list[int]] = {}
    for batch, population, sample_rate in (size for own in watched for size in own.sizes):
        by_kind.setdefault((population, sample_rate), []).append(batch)
    return [checks.binomial_counts(np.array(own), *kind) for kind, own in by_kind.items()]


def _turns(own: Canaries) -> float:
    """Return p of how often examples were drawn; 0 where one was too often, or too soon again."""
    turns, taken = own.turns, own.taken
    if taken.gap < turns.gap:
        return 0.0
    if turns.often is not None:
        return float(taken.times.max() <= turns.often)
    if len(taken.times) < MEMBERS:
        return 1.0
    rate = turns.groups * own.sizes[0][2]
    return checks.binomial_counts(taken.whole, own.steps // turns.groups, rate)

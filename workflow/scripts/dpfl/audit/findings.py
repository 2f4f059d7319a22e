"""What the canaries of a run found: a lower bound on epsilon, and checks of noise and sampling.

Both the estimator and the level are fixed before the run. The configuration fixes the level, the
mechanism the estimator. It is the per-step bound where every step is known to be a Gaussian, else
the one-run bound.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from dpfl.audit import checks, one_run, per_step
from dpfl.audit.canaries import NOT_AUDITED, SILENT, Canaries, Terms

CALLED = 0.4  # of the records, those with the highest scores, are called in
PER_STEP, ONE_RUN = "per-step Clopper-Pearson", "one run, top calls"
PLANS = 10  # of holders, each of which takes an accountant's time
COMPARED = 20_000  # steps whose noise is compared pairwise, evenly spread over the run


def findings(canaries: Mapping[int | str, Canaries], terms: Terms) -> dict[str, Any]:
    """Return the audit of a run from the canaries of everyone who adds noise.

    The status is `audited`, or `blind` where no canary could be appended. It is `broken` where what
    was seen of noise or sampling has a p below 1e-6.
    """
    watched = [own for own in canaries.values() if own.steps]
    if not watched:
        return NOT_AUDITED
    seen = [own for own in watched if own.seen]
    p = _checks(watched)
    broken = [name for name, value in p.items() if value < checks.BROKEN_BELOW]
    bound = (_per_step if terms.gaussian else _one_run)(seen, terms) if seen else {}
    return {
        **NOT_AUDITED,
        "status": "broken" if broken else "audited" if seen else "blind",
        "level": terms.level,
        "canaries": sum(own.records for own in watched),
        "blind": list(terms.blind),
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
        for z, tally in own.tallies.items():
            pooled[z] = pooled.get(z, 0) + np.array(tally[1:])
    plans = sorted({_plan(own) for own in seen}, key=_exposure)[-PLANS:]
    found = []
    for sample_rate, steps in plans:
        tallies = [per_step.Tally(z, count, *map(int, pooled[z])) for z, count in steps]
        given = (sample_rate, terms.delta, terms.level / len(plans))
        bounds = (f(tallies, *given) for f in (per_step.lower_bound, per_step.ceiling))
        found.append(tuple(bounds))
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
    by_kind: dict[tuple[int, float], list[int]] = {}
    for batch, population, sample_rate in (size for own in watched for size in own.sizes):
        by_kind.setdefault((population, sample_rate), []).append(batch)
    found = {
        "records": checks.smallest(
            [checks.binomial_counts(own.counts, own.steps, own.sizes[0][2]) for own in watched]
        ),
        "batch sizes": checks.smallest(
            [checks.binomial_counts(np.array(own), *kind) for kind, own in by_kind.items()]
        ),
    }
    noise = [row for own in watched for row in own.noise]
    if noise:
        spread = np.linspace(0, len(noise) - 1, min(COMPARED, len(noise))).astype(int)
        rows = np.array(noise).reshape(-1, SILENT)[spread]
        found["noise"] = checks.repeated_noise(rows)
    residuals = [value for own in watched for value in own.residuals]
    if residuals:
        found["counts"] = checks.count_residuals(np.array(residuals))
    return found

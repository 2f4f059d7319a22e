"""What a figure found, in one sentence that is computed from its runs."""

import numpy as np
import pandas as pd

from dpfl.figures import style
from dpfl.seeds import outcomes, pairing, verdicts


def gap(ours: str, theirs: str, measured: verdicts.Interval, where: str) -> str:
    """Tell a difference of two, in points, and whether its sign is open.

    The interval is that of the pair by itself. Those of verdicts, which weigh a pair among others,
    are at least as wide, so that none contradicts this one. They stand in the figure `differences`.
    """
    if not measured.n:
        return f"{ours} against {theirs} {where}: no seed trained with both"
    opened = ", not told apart" * bool(measured.low <= 0 <= measured.high)
    seeds = style.seeds_text([measured.n])
    return f"{ours} against {theirs} {where}: {points(measured.mean)}{opened}, {seeds}"


def points(difference: float) -> str:
    """Return a difference of accuracies, such as `+1.0 point`."""
    number = f"{difference:+z.1f}"
    return f"{number} point{'s' * (number[1:] != '1.0')}"


def leading(runs: pd.DataFrame, margin: float, focus: str | None = None) -> str:
    """Tell how far the method in focus, or else the best one, is from the best of the others.

    `runs` are those of `results.frame` with a column `series`; the largest ε decides. The margin,
    in points, decides at which look.
    """
    finite = runs[np.isfinite(runs["epsilon"])]
    used = finite if len(finite) else runs
    epsilon = used["epsilon"].max()
    at = used[used["epsilon"] == epsilon]
    where = style.at(epsilon)
    means = outcomes.of_trained(at).groupby("series")["accuracy"].mean()
    means = means.sort_values(ascending=False, kind="stable")
    if means.empty:
        return f"No run trained {where}"
    if len(means) == 1:
        return _alone(at, means.index[0], where)
    own = [name for name in means.index if focus in set(at.loc[at["series"] == name, "method"])]
    first = own[0] if own else means.index[0]
    second = means.index.drop(first)[0]
    sides = [at[at["series"] == name] for name in (first, second)]
    rank = "the next best" if first == means.index[0] else "the best"
    found = pairing.alone(*sides, epsilon, verdicts.Ordering(margin))
    return gap(first, f"{second}, {rank},", found.interval, where)


def _alone(runs: pd.DataFrame, name: str, where: str) -> str:
    """Tell the accuracy of the only series."""
    found = outcomes.outcome(runs[runs["series"] == name])
    lost = f", {found.n - found.trained} more failed" if found.trained < found.n else ""
    return f"{name}: {found.mean:.1f} % {where}, {style.seeds_text([found.trained])}{lost}"

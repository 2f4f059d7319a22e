"""The part of the accuracy axis that is worth showing: where most means are.

One interval of three seeds can be wider than all accuracies there are. The frame cuts intervals;
means far below all others stand at its edge, with an arrow and their value.
"""

import pandas as pd

FAR = 4.0
"""So many times the distance of the quartiles (at least a point) below the lower one, a mean leaves
the frame."""


def floor(means: pd.Series) -> float:
    """Return the mean below which the others could not be told apart any more."""
    lower, upper = means.dropna().quantile([0.25, 0.75])
    return lower - FAR * max(upper - lower, 1.0)


def limits(means: pd.Series, drawn: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of the axis, in percent, within what is drawn."""
    means = means.dropna()
    if means.empty:
        return 0.0, 100.0
    bottom, top = means[means >= floor(means)].min(), means.max()
    room = max(2, 0.3 * (top - bottom))  # an interval of two seeds can be wider than all the rest
    return max(drawn[0], bottom - room), min(drawn[1], top + room, 101)

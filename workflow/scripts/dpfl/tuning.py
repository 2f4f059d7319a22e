"""Which rate of a grid is chosen: for training, and for the tables that show the choice."""

from collections.abc import Sequence


def best(rates: Sequence[float], accuracies: Sequence[float]) -> int:
    """Return the index of the highest validation accuracy; of equal ones that of the lowest rate.

    Accuracies are means over the seeds of a trial, all finite.
    """
    return max(range(len(rates)), key=lambda i: (accuracies[i], -rates[i]))

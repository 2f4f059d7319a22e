"""Accuracies as named lines, in SVG that follows the colours of its page."""

from collections.abc import Callable, Mapping
from itertools import accumulate

import numpy as np
from markupsafe import Markup

from dpfl.report import markup

LEFT, TOP, WIDTH, HEIGHT, LETTERS = 36, 20, 320, 200, 15
"""Pixels: where the axes begin, how long they are, and the height of a name."""
TICKS = 6
"""The most values that are written on the lower axis: of more, the ends."""


def draw(lines: Mapping[str, np.ndarray], title: str, at: Callable = np.asarray) -> Markup:
    """Return lines of points: x, accuracy, and the ends of its interval, nan without one.

    `at` places what stands on the lower axis. Names stand at the ends of lines, the best first.
    """
    every = np.concatenate([*lines.values()])
    low, high = np.floor(np.nanmin(every[:, 1:])), np.floor(np.nanmax(every[:, 1:])) + 1
    x, left, right = np.unique(every[:, 0]), at(every[:, 0].min()), at(every[:, 0].max())

    def across(place: float) -> float:
        return LEFT + WIDTH * (at(place) - left) / ((right - left) or 1)

    def up(accuracy: float) -> float:
        return TOP + HEIGHT * (high - accuracy) / (high - low)

    ranked = sorted(lines.items(), key=lambda line: -line[1][-1, 1])
    ends = accumulate((up(own[-1, 1]) for _, own in ranked), lambda a, b: max(a + LETTERS, b))
    shown = [(*line, end) for line, end in zip(ranked, ends, strict=True)]
    ticks = x if len(x) <= TICKS else x[[0, -1]], (low, (low + high) / 2, high)
    return markup.part("chart", title, shown, *ticks, across, up)

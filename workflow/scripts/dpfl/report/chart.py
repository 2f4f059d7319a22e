"""Accuracies as named lines, in SVG that follows the colours of its page."""

from collections.abc import Callable, Mapping
from itertools import accumulate

import numpy as np
from markupsafe import Markup

from dpfl.report import markup

LETTERS = 0.075
"""The height of a name, as a share of that of the axis."""
TICKS = 6
"""The most values that are written on the lower axis: of more, the ends."""


def draw(lines: Mapping[str, np.ndarray], title: str, at: Callable = np.asarray) -> Markup:
    """Return lines of points: x, accuracy, and the ends of its interval, nan without one.

    `at` places what stands on the lower axis. Names stand at the ends of lines, the best first.
    """
    every = np.concatenate([*lines.values()])
    low, high = np.floor(np.nanmin(every[:, 1:])), np.floor(np.nanmax(every[:, 1:])) + 1
    x, left, right = np.unique(every[:, 0]), at(every[:, 0].min()), at(every[:, 0].max())
    x = x if len(x) <= TICKS else x[[0, -1]]

    def shares(points: np.ndarray) -> np.ndarray:
        across = (at(points[:, :1]) - left) / ((right - left) or 1)
        return np.hstack([across, (high - points[:, 1:]) / (high - low)])

    placed = {name: shares(own) for name, own in lines.items()}
    ranked = sorted(placed.items(), key=lambda line: line[1][-1, 1])
    ends = accumulate((own[-1, 1] for _, own in ranked), lambda a, b: max(a + LETTERS, b))
    template = markup.environment().get_template("chart.html.jinja")
    return Markup(
        template.render(
            title=title,
            lines=[(*line, end) for line, end in zip(ranked, ends, strict=True)],
            across=[(tick, (at(tick) - left) / ((right - left) or 1)) for tick in x],
            up=[(low + share * (high - low), 1 - share) for share in (0, 0.5, 1)],
        )
    )

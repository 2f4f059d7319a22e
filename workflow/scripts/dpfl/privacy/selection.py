"""What choosing the best of several trials would cost, if it were paid for.

The price is for a number of trials K that is random, of a law fixed in advance. Nothing but the
best trial may be released (Papernot and Steinke 2022, arXiv 2110.03620, theorems 2 and 6). The
trials of a tuning are a fixed number. Later ones depend on earlier ones, and the table shows all.
So their choice is not covered. The price is what this much trying would cost at the least, done so.

A trial's score is part of its output there, and has to be private as well. Here it is accuracy on
held-out examples, without noise. The price is that of the training examples, where those held out
are public.
"""

import math
from functools import cache
from typing import Any

from dp_accounting.dp_event import RepeatAndSelectDpEvent

from dpfl.privacy import events, renyi

SHAPES = (0.0, 1.0, math.inf)
"""Of the law of K: logarithmic, geometric, Poisson; the cheapest counts, none looks at the data."""

Segments = tuple[tuple[float, int], ...]


def epsilon(calibration: dict[str, Any], trials: int) -> float | None:
    """Return the epsilon of the best of K runs of a calibration, K being `trials` on average.

    None if noise was chosen while training, so that a run is no event known beforehand.
    """
    clients = [client for client in calibration["clients"] if client["noise_multipliers"]]
    if any("filter" in client for client in clients):
        return None
    plans = {(client["sample_rate"], _segments(client), _released(client)) for client in clients}
    return max((_price(*one, trials, calibration["delta"]) for one in plans), default=0.0)


@cache
def _price(
    sample_rate: float,
    segments: Segments,
    released: tuple[float, ...],
    trials: int,
    delta: float,
) -> float:
    event = events.varying(sample_rate, segments, released)
    repeated = (RepeatAndSelectDpEvent(event, trials, shape) for shape in SHAPES)
    return min(float(renyi.composed(one).get_epsilon(delta)) for one in repeated)


def _segments(client: dict[str, Any]) -> Segments:
    """Return noise and steps of the rounds of a client, as far as they are paid."""
    each, paid = client["steps_per_round"], client["paid_steps"]
    rounds = enumerate(client["noise_multipliers"])
    taken = ((noise, min(each, paid - each * number)) for number, noise in rounds)
    return tuple((noise, steps) for noise, steps in taken if steps > 0)


def _released(client: dict[str, Any]) -> tuple[float, ...]:
    """Return the noise of what every trial releases before its first step."""
    return tuple(release["noise_multiplier"] for release in client.get("releases", ()))

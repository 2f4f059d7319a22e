"""The Renyi accountant of dp-accounting, without a line for every order that does not converge.

Such an order has an infinite divergence, so the minimum over orders leaves it out.
"""

import logging
import math
from collections.abc import Sequence

import numpy as np
from dp_accounting import DpEvent
from dp_accounting.rdp import RdpAccountant

LEAST = 16.0**-12  # of a divergence: the library's sums resolve nothing smaller

logging.getLogger("absl").addFilter(lambda record: "failed to converge" not in str(record.msg))


def composed(event: DpEvent, orders: Sequence[float] | None = None) -> RdpAccountant:
    """Return the accountant of these orders, by default the library's, after an event."""
    return RdpAccountant(orders).compose(event)


def divergences(event: DpEvent, orders: Sequence[float]) -> np.ndarray:
    """Return the Renyi divergence of each order; what cannot be told from 0 is rounded up."""
    return np.maximum(composed(event, orders).rdp, LEAST)


def divergence(event: DpEvent, order: float) -> float:
    """Return the Renyi divergence of one order, as above."""
    return float(divergences(event, [order])[0])


def conversion(order: float, delta: float) -> float:
    """Return epsilon less divergence at one order (Canonne, Kamath and Steinke 2020, prop. 12)."""
    return math.log1p(-1 / order) - math.log(order * delta) / (order - 1)

"""The Renyi accountant of dp-accounting, without a line for every order that does not converge.

Such an order has an infinite divergence, so the minimum over orders leaves it out.
"""

import logging
import math
from collections.abc import Sequence

from dp_accounting import DpEvent, SelfComposedDpEvent
from dp_accounting.rdp import RdpAccountant

TINY = 1e-300  # small enough that the library's conversion never rounds an epsilon down to 0
MOST = 16**12  # repetitions: floats resolve no smaller divergence than its inverse

logging.getLogger("absl").addFilter(lambda record: "failed to converge" not in str(record.msg))


def composed(event: DpEvent, orders: Sequence[float] | None = None) -> RdpAccountant:
    """Return the accountant of these orders, by default the library's, after an event."""
    return RdpAccountant(orders).compose(event)


def divergence(event: DpEvent, order: float) -> float:
    """Return the Renyi divergence of one order, which the library shows as part of an epsilon.

    At one order, epsilon = divergence + conversion: two numbers of repetitions tell them apart.
    They are so many that the difference is no small one of large numbers. What is too small to be
    told from 0 is rounded up.
    """
    count = 1
    while count <= MOST:
        single, double = (_repeated(event, n, order) for n in (count, 2 * count))
        if math.isinf(double):
            return _repeated(event, 1, order)
        if double - single >= 1:
            return (double - single) / count
        count *= 16
    return 1 / MOST


def conversion(order: float, delta: float) -> float:
    """Return epsilon less divergence at one order (Canonne, Kamath and Steinke 2020, prop. 12)."""
    return math.log1p(-1 / order) - math.log(order * delta) / (order - 1)


def _repeated(event: DpEvent, count: int, order: float) -> float:
    return float(composed(SelfComposedDpEvent(event, count), [order]).get_epsilon(TINY))

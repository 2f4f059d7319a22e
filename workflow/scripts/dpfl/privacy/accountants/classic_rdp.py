"""Renyi differential privacy as papers used it: few orders, and the conversion of Mironov (2017).

epsilon = min over a of rdp(a) + ln(1/delta)/(a - 1), proposition 3; later conversions are smaller.
"""

import math

from dp_accounting import DpEvent

from dpfl.privacy.accountants import _renyi

ORDERS = (*(1 + tenth / 10 for tenth in range(1, 100)), *range(12, 64))
TINY = 1e-300  # small enough that the library's conversion never rounds an epsilon down to 0


def epsilon(event: DpEvent, delta: float, draft: bool = False) -> float:
    """Return the epsilon of an event; a draft costs the same."""
    return min(_rdp(event, order) + math.log(1 / delta) / (order - 1) for order in ORDERS)


def _rdp(event: DpEvent, order: float) -> float:
    """Return the Renyi divergence of one order: the library's epsilon without its conversion.

    That is epsilon = rdp + ln(1 - 1/a) - ln(a delta)/(a - 1) (Canonne, Kamath and Steinke 2020).
    """
    converted = _renyi.composed(event, [order]).get_epsilon(TINY)
    found = converted - math.log1p(-1 / order) + math.log(order * TINY) / (order - 1)
    return max(0.0, found)  # a divergence; the library answers 0 where rounding makes it less

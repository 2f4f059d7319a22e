"""Renyi differential privacy as papers used it: few orders, and the conversion of Mironov (2017).

epsilon = min over a of rdp(a) + ln(1/delta)/(a - 1), proposition 3; later conversions are smaller.
"""

import math

import numpy as np
from dp_accounting import DpEvent

from dpfl.privacy import renyi

ORDERS = (*(1 + tenth / 10 for tenth in range(1, 100)), *range(12, 64))


def epsilon(event: DpEvent, delta: float, draft: bool = False) -> float:
    """Return the epsilon of an event; a draft costs the same."""
    return converted(renyi.divergences(event, ORDERS), delta)


def converted(divergences: np.ndarray, delta: float) -> float:
    """Return the epsilon of divergences at ORDERS."""
    return float(np.min(divergences + math.log(1 / delta) / (np.array(ORDERS) - 1)))

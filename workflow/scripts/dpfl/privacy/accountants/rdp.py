"""Renyi differential privacy (dp-accounting), shown beside the truth.

Gaussians without sampling use orders up to 4096, which cost nothing there. All other events use
dp-accounting's default orders up to 1024, of which integers above 63 are thin.
"""

from dp_accounting import DpEvent

from dpfl.privacy import events, renyi

FINE_ORDERS = (*(1 + tenth / 10 for tenth in range(1, 100)), *range(11, 4097))


def epsilon(event: DpEvent, delta: float, draft: bool = False) -> float:
    """Return the epsilon of an event; a draft costs the same."""
    orders = None if events.precision(event) is None else FINE_ORDERS
    return float(renyi.composed(event, orders).get_epsilon(delta))

"""The Renyi accountant of dp-accounting, without a line for every order that does not converge.

Such an order has an infinite divergence, so the minimum over orders leaves it out.
"""

import logging
from collections.abc import Sequence

from dp_accounting import DpEvent
from dp_accounting.rdp import RdpAccountant

logging.getLogger("absl").addFilter(lambda record: "failed to converge" not in str(record.msg))


def composed(event: DpEvent, orders: Sequence[float] | None = None) -> RdpAccountant:
    """Return the accountant of these orders, by default the library's, after an event."""
    return RdpAccountant(orders).compose(event)

"""Renyi differential privacy (dp-accounting, its default orders), shown beside the truth."""

from dp_accounting import DpEvent
from dp_accounting.rdp import RdpAccountant


def epsilon(event: DpEvent, delta: float, draft: bool = False) -> float:
    """Return the epsilon of an event; a draft costs the same."""
    return float(RdpAccountant().compose(event).get_epsilon(delta))

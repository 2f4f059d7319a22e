"""Every step draws a fresh batch, each example with probability q.

Replace one: as dp-accounting prices it, by the distribution of losses between the mixtures
(1 - q) N(0, z^2) + q N(+-1, z^2).
"""

from dpfl.samplings import sampled as event

__all__ = ["ADJACENCIES", "event"]

ADJACENCIES = ("add-or-remove-one", "replace-one")

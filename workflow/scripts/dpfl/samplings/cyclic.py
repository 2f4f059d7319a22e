"""Every epoch goes through the same batches in the same order, which is public.

An example takes part in one step an epoch, as many steps apart as an epoch has. With noise that is
drawn anew in every step the price is that of `shuffled`.
"""

from dpfl.samplings.shuffled import ADJACENCIES, event

__all__ = ["ADJACENCIES", "event"]

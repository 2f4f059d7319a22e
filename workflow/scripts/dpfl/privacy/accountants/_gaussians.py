"""Compositions of Gaussians without sampling, which are one Gaussian."""

from dp_accounting import ComposedDpEvent, DpEvent, GaussianDpEvent, SelfComposedDpEvent


def precision(event: DpEvent) -> float | None:
    """Return the sum of 1/z^2 over an event's Gaussians, or None if it holds anything else."""
    match event:
        case GaussianDpEvent(noise_multiplier=z) if z > 0:
            return z**-2
        case SelfComposedDpEvent(event=inner, count=count):
            found = precision(inner)
            return None if found is None else count * found
        case ComposedDpEvent(events=parts):
            found = [precision(part) for part in parts]
            return None if None in found else sum(found)
    return None

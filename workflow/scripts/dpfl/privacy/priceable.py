"""What the privacy calculator prices, and what it refuses at once instead of filling the memory.

Accounting is imported in the functions: plans compare with these limits, and it takes a second.
"""

import math

from dpfl.base.errors import UserError

LARGEST = 1000.0  # beyond it nothing is private, and the grids of losses outgrow the memory
LEAST_NOISE, MOST_NOISE = 1e-3, 1e6  # beyond: above LARGEST, and below what floats resolve
MOST_STEPS = 10**7  # more would take minutes where the rate is tiny
LEAST_RATE, LEAST_DELTA = 1e-9, 1e-12  # below: what distributions of losses do not resolve


def require_priceable(q: float, z: float, steps: int, delta: float) -> None:
    """Raise UserError for an argument out of range, and where epsilon may be above LARGEST.

    The upper bound of rdp, which costs nothing, decides that. No noise is priced: at infinity.
    """
    from dpfl.privacy import accounting, events

    _require_in_range(q, z, steps, delta, least=0)
    if z == 0 or steps == 0:
        return
    inside = LEAST_NOISE <= z <= MOST_NOISE
    events.require("noise_multiplier", z, inside, f"0 or in [{LEAST_NOISE:g}, {MOST_NOISE:g}]")
    bound = accounting.epsilon_of(events.poisson_gaussian(q, z, steps), delta, "rdp")
    if bound > LARGEST:
        raise UserError(
            f"noise_multiplier is {z}: epsilon may be {bound:.3g}, expected at most {LARGEST:g}"
        )


def require_reachable(q: float, steps: int, epsilon: float, delta: float) -> None:
    """Raise UserError for an argument out of range, and a target that every noise meets."""
    from dpfl.privacy import events

    _require_in_range(q, 0.0, steps, delta, least=1)
    events.require("epsilon", epsilon, 0 < epsilon <= LARGEST, f"in (0, {LARGEST:g}]")
    chance = -math.expm1(steps * math.log1p(-q)) if q < 1 else 1.0
    bound = f"< {chance:.3g}, the chance that an example is used at all"
    events.require("delta", delta, delta < chance, bound)


def _require_in_range(q: float, z: float, steps: int, delta: float, least: int) -> None:
    from dpfl.privacy import accounting, events

    accounting.epsilon(q, z, 0, delta)
    events.require("sample_rate", q, q >= LEAST_RATE, f"in [{LEAST_RATE:g}, 1]")
    events.require("delta", delta, delta >= LEAST_DELTA, f"in [{LEAST_DELTA:g}, 1)")
    events.require_count("steps", steps, least)
    events.require("steps", steps, steps <= MOST_STEPS, f"<= {MOST_STEPS:,}")

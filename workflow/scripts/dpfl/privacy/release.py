"""What a mechanism's steps release, as accounts ask for it.

Everything that is released of one batch is one event: Gaussians of multipliers z_j are together one
Gaussian of multiplier z, 1/z^2 = sum 1/z_j^2. (Whitened, one example moves their means by 1/z_j
each, so all together by the root of the sum of squares.)
"""

import math
from collections.abc import Iterable

from dpfl.base.errors import UserError
from dpfl.contracts.protocols import ClientMechanism, Mechanism
from dpfl.contracts.release import Release, Unproven, joint

ROUNDING = 1e-9  # relative, of a joint multiplier that was first divided and is put together again


def of_step(
    mechanism: Mechanism | ClientMechanism, noise_multiplier: float, expected: float
) -> Release | Unproven:
    """Return what a mechanism releases of one batch or cohort of this expected size.

    Nothing is proven with a clipping rule that has no proof, whatever the mechanism says.
    """
    own = mechanism.release(noise_multiplier, expected)
    rules = dict.fromkeys(reason for rule in mechanism.clippings for reason in rule.unproven)
    return Unproven((*getattr(own, "reasons", ()), *rules)) if rules else own


def is_gaussian(released: Release | Unproven) -> bool:
    """Tell whether every step is known to be one Gaussian, of whatever noise."""
    return isinstance(released, Release) or released.gaussian


def remaining(noise_multiplier: float, others: Iterable[float]) -> float:
    """Return the multiplier that makes a release, together with others, one of `noise_multiplier`.

    Raises UserError if the others alone cost as much.
    """
    taken = joint(others)
    if taken <= noise_multiplier != 0:
        raise UserError(
            f"clipping: the noise on its counts amounts to a multiplier of {taken:g}; it must be "
            f"more than {noise_multiplier:g}, the noise multiplier of the whole step"
        )
    return noise_multiplier / math.sqrt(1 - (noise_multiplier / taken) ** 2)


def require_covered(release: Release | Unproven, noise_multiplier: float) -> None:
    """Raise UserError if a proven release has less noise than what is charged for it."""
    if isinstance(release, Release):
        found = release.noise_multiplier
        if found < noise_multiplier * (1 - ROUNDING):
            raise UserError(
                f"the mechanism releases noise of multiplier {found:.9g}, less than the "
                f"{noise_multiplier:.9g} that is charged"
            )

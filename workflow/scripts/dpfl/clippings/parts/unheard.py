"""A clipping rule that canaries do not move: they have no vote, and their norms are not seen."""

import copy
import math

from torch import Tensor

from dpfl.contracts.protocols import ClippingRule
from dpfl.draws.noise import Normal, none


class Crowd:
    """How many canaries are in the batch of a step, below its examples: rows in all, and theirs."""

    rows, canaries = 0, 0


class Unheard:
    """A rule as a mechanism sees it, which leaves the crowd's canaries out of what moves it.

    `residuals` gets the noise on every count that the rule releases, in units of what it claims.
    """

    def __init__(self, rule: ClippingRule, crowd: Crowd, residuals: list[float]):
        self._rule, self._crowd, self._residuals = rule, crowd, residuals
        self._heard: float | None = None  # the canaries' part in the votes

    @property
    def clip_norm(self) -> float:
        """Return C."""
        return self._rule.clip_norm

    @property
    def unproven(self) -> tuple[str, ...]:
        """Return why nothing is proven with the rule."""
        return self._rule.unproven

    def bound(self, norms: Tensor, whole: Tensor) -> float:
        """Return C for the examples' norms alone."""
        if len(norms) != self._crowd.rows:  # a part of the batch: nobody knows whose
            return self._rule.bound(norms, whole)
        examples = len(norms) - self._crowd.canaries
        bound = self._rule.bound(norms[:examples], whole[:examples])
        others = norms[examples:]
        self._heard = float((others <= bound).sum()) - len(others) / 2
        return bound

    def count_multiplier(self, noise_multiplier: float, expected: float) -> float:
        """Return the multiplier of the noise on the count."""
        return self._rule.count_multiplier(noise_multiplier, expected)

    def after(
        self, votes: float, *, noise_multiplier: float, expected: float, normal: Normal
    ) -> None:
        """Move C by the examples' votes; where canaries are not told apart, they are too long."""
        heard = -self._crowd.canaries / 2 if self._heard is None else self._heard
        self._heard = None
        released = {"noise_multiplier": noise_multiplier, "expected": expected}
        before = copy.copy(self._rule)
        self._rule.after(votes - heard, **released, normal=normal)
        spread = self._rule.count_multiplier(noise_multiplier, expected) / 2
        if math.isfinite(spread) and spread > 0:
            self._note(before, votes - heard, released, spread)

    def _note(self, before: ClippingRule, votes: float, released: dict, spread: float) -> None:
        """Note the noise of the count: what moved C beyond the votes, by what one spread moves it.

        Nothing is told where C may have met a limit of the rule, which cuts the noise off.
        """

        def moved(by: float) -> float:
            rule = copy.copy(before)
            rule.after(votes + by * spread, **released, normal=none)
            return math.log(rule.clip_norm)

        still, far = moved(0), 8.0
        one = (moved(far) - moved(-far)) / (2 * far)
        if one and math.isclose(moved(far) - still, far * one, rel_tol=1e-6):
            self._residuals.append((math.log(self._rule.clip_norm) - still) / one)

    def state(self) -> dict[str, float]:
        """Return what a checkpoint keeps of the rule."""
        return self._rule.state()

    def restore(self, state: dict[str, float]) -> None:
        """Continue the rule from what a checkpoint kept."""
        self._rule.restore(state)

"""fsdp-adaptive: C is the mean norm of the batch itself, outliers left out: no proof.

Table 1 of Zhou and Qian 2022 (doi 10.11999/JEIT210276). An example counts if its gradient's norm
lies within three standard deviations of the mean.
"""

from torch import Tensor

from dpfl.contracts.bounds import bounded

SETTINGS = {"clip_norm": "number > 0"}
REASONS = (
    "the clipping bound is a mean over the private batch, released without noise of its own",
    "which examples count as outliers is read off the private batch",
)

_DEVIATIONS = 3.0


class BatchMean:
    """A bound C that is computed from the very norms it bounds; an empty batch keeps the last."""

    unproven = REASONS

    def __init__(self, clip_norm: float):
        self.clip_norm = clip_norm

    def bound(self, norms: Tensor, whole: Tensor) -> float:
        """Return the mean of the norms [L] of those examples whose whole norms are no outliers."""
        counted = norms[inliers(whole)]
        if len(counted) and counted.any():
            self.clip_norm = float(counted.mean())
        return self.clip_norm

    def count_multiplier(self, noise_multiplier: float, expected: float) -> float:
        """Return infinity: nothing is counted."""
        return float("inf")

    def after(self, votes: float, **_release: object) -> None:
        """Nothing is counted, nothing moves."""

    def state(self) -> dict[str, float]:
        """Return the last bound, for a checkpoint."""
        return {"clip_norm": self.clip_norm}

    def restore(self, state: dict[str, float]) -> None:
        """Continue with the bound of a checkpoint."""
        self.clip_norm = state["clip_norm"]


def inliers(norms: Tensor) -> Tensor:
    """Tell which norms [L] lie within three standard deviations of their mean (step 1)."""
    if not len(norms):
        return norms.bool()
    return (norms - norms.mean()).abs() <= _DEVIATIONS * norms.std(correction=0)


@bounded(SETTINGS)
def build(clip_norm: float) -> BatchMean:
    """Return the rule, `clip_norm` its bound until a batch has examples."""
    return BatchMean(float(clip_norm))

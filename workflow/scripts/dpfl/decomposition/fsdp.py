"""What the printed versions of FSDP share: Funk-SVD of a batch, and why none of it has a proof.

Zhou and Qian 2022 (doi 10.11999/JEIT210276), tables 1 and 2. Their noise covariances, I_kxk for V
and I_pxp for Phi, make V_i a vector of k and Phi_i one of p entries. So the matrix that is
decomposed is the batch G [L, D], with H shared (reading `rows`, assumed). Reading `matrix` takes
every g_i as a square matrix of its own.
"""

from dataclasses import dataclass

from torch import Tensor

from dpfl.base.errors import UserError
from dpfl.contracts.release import Unproven
from dpfl.decomposition.factors import SOLVERS, per_example
from dpfl.gradients.step import Gradients, Step
from dpfl.relevance import noise_scale

UNCLIPPED = "V and Phi are not clipped before noise is added: one example moves them without bound"
ROW_SPACE = "H, the row space of the private batch, is used without noise"
TWO_AS_ONE = (
    "V and Phi are both released at sigma, which together cost as much as one release at "
    "sigma / sqrt(2)"
)
CLIPPED_LATE = "clipping after noise lets the direction of an outlier through without noise"
NO_NOISE = "an empty batch releases no noise, and the noise of a batch grows with its size"


@dataclass(frozen=True)
class Settings:
    """Rank k, solver and reading of the decomposition; UserError for two that do not fit."""

    rank: int
    solver: str = "gram"
    reading: str = "rows"

    def __post_init__(self):
        if self.reading == "matrix" and self.solver != "gram":
            raise UserError("mechanism: reading matrix takes solver gram alone")


@dataclass(frozen=True)
class Parts:
    """V_i H + Phi_i = g_i for a batch: V [L, k], H = mix G, and the norms |V_i|, |Phi_i| [L]."""

    v: Tensor
    mix: Tensor
    v_norms: Tensor
    phi_norms: Tensor


def decompose(gradients: Gradients, settings: Settings) -> Parts:
    """Decompose the rows of a batch from its Gram matrix alone: nothing of size [L, D]."""
    gram = gradients.gram()
    found = SOLVERS[settings.solver](gram, settings.rank)
    v, mix = found.v.to(gram.dtype), found.mix.to(gram.dtype)
    # |g - V H|^2 = |g|^2 - 2 <g, V H> + |V H|^2, with <g_i, H_a> = (mix K)_ai
    inner = mix @ gram
    squares = gram.diagonal() - 2 * (v * inner.t()).sum(1) + ((v @ (inner @ mix.t())) * v).sum(1)
    return Parts(v, mix, v.norm(dim=1), squares.clamp(min=0).sqrt())


@dataclass(frozen=True)
class Written:
    """The same with Phi [L, D] written out, for versions that add noise to every example.

    In reading `rows` V is [L, k] with one H [k, D] for all. In `matrix` it is [L, p, k] with an H_i
    [k, p] each.
    """

    v: Tensor
    h: Tensor
    phi: Tensor

    def rebuild(self, v: Tensor, phi: Tensor) -> Tensor:
        """Return V H + Phi [L, D]."""
        return _product(v, self.h, phi.shape[1]).add_(phi)


def write(rows: Tensor, gram_matrix: Tensor, settings: Settings) -> Written:
    """Decompose gradients that are written out, rows [L, D], of this Gram matrix [L, L]."""
    if settings.reading == "matrix":
        v, h = per_example(rows, settings.rank)
    else:
        found = SOLVERS[settings.solver](gram_matrix, settings.rank)
        v, h = found.v, found.mix @ rows
    return Written(v, h, rows - _product(v, h, rows.shape[1]))


def noisy(
    parts: Written, step: Step, v_spread: float, phi_spread: float | Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return V and Phi, each with noise of its own for every example, and the rebuilt [L, D]."""
    v = _drawn(step, parts.v).mul_(v_spread).add_(parts.v)
    phi = _drawn(step, parts.phi).mul_(phi_spread).add_(parts.phi)
    return v, phi, parts.rebuild(v, phi)


def lengths(vectors: Tensor) -> Tensor:
    """Return the norms [L] of vectors, or matrices, [L, ...]."""
    return vectors.flatten(1).norm(dim=1)


def clipped_mean(rows: Tensor, clip_norm: float, step: Step) -> Tensor:
    """Return sum_i g_i min(1, C / |g_i|) / B of rows [L, D] (table 2, step 12)."""
    return ((clip_norm / lengths(rows)).clamp(max=1) @ rows) / step.expected_batch


def of_every_example(relevance: object | None) -> Unproven:
    """Return the reasons of the versions that add noise to every example."""
    reasons = (UNCLIPPED, CLIPPED_LATE, ROW_SPACE, TWO_AS_ONE, NO_NOISE)
    return Unproven((*reasons, *(noise_scale.UNPROVEN if relevance else ())))


def _product(v: Tensor, h: Tensor, size: int) -> Tensor:
    return (v @ h).flatten(1)[:, :size]


def _drawn(step: Step, like: Tensor) -> Tensor:
    return step.normal(like.numel()).view(like.shape).to(like)

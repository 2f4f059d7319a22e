"""The objects that training calls: what every one of a kind answers, whichever file built it.

An object satisfies its Protocol by having what it lists. What the files declare and how they build
these objects is in dpfl.contracts.plugin_files.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from torch import Tensor

    from dpfl.contracts.affine import Affine
    from dpfl.contracts.federation import Cohort
    from dpfl.contracts.release import Release, Unproven
    from dpfl.draws.noise import Normal
    from dpfl.gradients.step import Step


@runtime_checkable
class ClippingRule(Protocol):
    """The bound C of a clipped sum, and how it moves.

    Votes are the sum of 1[norm <= C] - 1/2 over the clipped vectors, `expected` their expected
    number. `unproven` says why nothing can be certified with this rule; () with a proof.
    """

    clip_norm: float
    unproven: tuple[str, ...]

    def bound(self, norms: "Tensor", whole: "Tensor") -> float:
        """Return C for vectors of these norms [L].

        `whole` [L] are those of the gradients that they are part of, or the same.
        """

    def count_multiplier(self, noise_multiplier: float, expected: float) -> float:
        """Return the multiplier of the noise on what is released beside the sum; infinity for none.

        The step as a whole has the noise multiplier.
        """

    def after(
        self, votes: float, *, noise_multiplier: float, expected: float, normal: "Normal"
    ) -> None:
        """Move C for the next release."""

    def state(self) -> dict[str, float]:
        """Return what a checkpoint keeps; {} for a C that never moves."""

    def restore(self, state: dict[str, float]) -> None:
        """Continue from what a checkpoint kept."""


@runtime_checkable
class Mechanism(Protocol):
    """A private gradient estimator; every client has an object of its own.

    `clippings` are its clipping rules, whose bounds are noted and outlive a round; () if it has
    none. One that keeps more than bounds between steps also offers forget(), called after a
    client's last step of a round. Whatever it keeps must not outlive that. One that only
    post-processes what another releases, as a dataclass, calls it `inner`: audits watch it there.
    """

    clippings: Sequence[ClippingRule]

    def release(self, noise_multiplier: float, expected_batch: float) -> "Release | Unproven":
        """Return a Release of at least that multiplier for a step, or why none is proven.

        What the clipping rules violate is added to the reasons.
        """

    def estimate(self, step: "Step") -> "Tensor":
        """Return the mean gradient, flat [D], of one Poisson batch, which may be empty."""


@runtime_checkable
class ClientMechanism(Protocol):
    """The same for a file with UNIT = "client", which protects whole clients."""

    clippings: Sequence[ClippingRule]

    def release(self, noise_multiplier: float, expected_clients: float) -> "Release | Unproven":
        """Return what a round releases."""

    def aggregate(
        self,
        updates: "Iterable[Tensor]",
        cohort: "Cohort",
        *,
        noise_multiplier: float,
        normal: "Normal",
    ) -> "Tensor":
        """Return the mean update, flat [D], of one Poisson sample of clients, which may be empty.

        Updates are taken one at a time.
        """


@runtime_checkable
class Optimizer(Protocol):
    """Any torch.optim.Optimizer. All parameters are one flat tensor.

    One that also offers `coordinate_rates() -> (rates [D], low, high)` has them recorded round by
    round. With `noise_scale()` as well, its rates are predicted. `noise_scale()` is sqrt of its
    second moment where gradients are white noise of unit variance.

    One whose step takes several gradients says how many in `gradients`. Each call of step() takes
    one of them. It offers `settle()`, which undoes what a step that is not whole has begun.

    One that offers `tell_noise(noise)` declares NEEDS_NOISE. It is told before every step what is
    public about the noise of its gradient. That is a dpfl.contracts.release.PublicNoise: z, C and B
    of that very step. It holds for a step whose noise is z C in every coordinate. C owes nothing to
    the step's batch. Without privacy z is 0.
    """

    param_groups: list[dict[str, Any]]

    def step(self) -> Any:
        """Take one step."""

    def state_dict(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from what a checkpoint kept."""


MeanOf = Callable[[str, "Callable[[Tensor], Tensor]", float], "Tensor"]
"""mean_of(name, rows, radius): the released mean [d] of rows(x) [L, d], each clipped to a radius
that is a constant; `rows` treats every example by itself."""


@runtime_checkable
class Statistics(Protocol):
    """What is measured of all training examples before the first step."""

    def measure(self, mean_of: MeanOf, shape: tuple[int, ...]) -> "Affine":
        """Return a map of inputs of this shape, made of what `mean_of` releases and no more."""

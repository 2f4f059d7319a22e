"""What a plug-in file must define, and what it may declare: a Protocol for every kind of file.

Constants in capitals are read from the source, without importing it: they must be literals. One
with a value here is optional, and that is its default. Every other constant of a plug-in is private
and begins with an underscore, so that a misspelt one is an error before the first job.
Nothing here is imported to run: a file satisfies its Protocol by having what it lists.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor, nn

    from dpfl.noise import Normal
    from dpfl.privacy.release import Release, Unproven
    from dpfl.privacy.schedule import Budget, Schedule, Work
    from dpfl.standardised import Affine
    from dpfl.step import Step
    from dpfl.tuning import Point

Settings = dict[str, str]
Amount = float | dict[Literal["constant", "inputs", "channels", "pixels"], float]
"""A number, or one for each of the numbers of an input, its channels (the first dimension) and its
pixels (the product of the others), all added up."""


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
    client's last step of a round: whatever it keeps must not outlive it. One that only
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
        *,
        like: "Tensor",
        noise_multiplier: float,
        expected_clients: float,
        normal: "Normal",
    ) -> "Tensor":
        """Return the mean update, flat [D], of one Poisson sample of clients, which may be empty.

        Updates are taken one at a time; `like` are the server's weights.
        """


@runtime_checkable
class Optimizer(Protocol):
    """Any torch.optim.Optimizer. All parameters are one flat tensor.

    One that also offers `coordinate_rates() -> (rates [D], low, high)` has them recorded round by
    round; with `noise_scale()` as well, sqrt of its second moment where gradients are white noise
    of unit variance, its rates are predicted.

    One that offers `tell_noise(noise)` is told before every step what is public about the noise of
    its gradient (dpfl.training.steps.PublicNoise: z, C and B of that very step), and declares
    NEEDS_NOISE. It holds for a step whose noise is z C in every coordinate, with a C that owes
    nothing to the step's batch; without privacy z is 0.
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


class MechanismFile(Protocol):
    """A file in mechanisms/; `clipping` are the method's clipping rule and its settings."""

    UNIT: ClassVar[Literal["example", "client"]] = "example"
    """Whom it protects: one example of a client, or a whole client."""
    CLIPPING_RULES: ClassVar[tuple[str, ...]] = ("fixed",)
    """The rules of clippings/ that it takes."""
    SETTINGS: ClassVar[Settings] = {}
    """The bounds of its settings (dpfl.bounds)."""
    NEEDS_PUBLIC: ClassVar[bool | dict[str, Any]] = False
    """Whether it uses public examples: always, or with this value of a setting."""
    REFUSES: ClassVar[tuple[tuple[dict[str, Any], str], ...]] = ()
    """Settings that do not fit together, each with the reason; stopped before the first job."""
    NOISE_IS_Z_C: ClassVar[bool] = False
    """Every coordinate of the noisy sum has noise z C, from which learning rates are predicted."""
    OWN_GRADIENTS: ClassVar[bool] = False
    """It does not ask the step for gradients, so that nobody can append coordinates to them."""
    BLIND: ClassVar[tuple[str, ...]] = ()
    """What appended coordinates cannot show of what it releases: printed with every audit."""
    COST: ClassVar[float | tuple[float, ...]] = 1.0
    """A step's cost as a multiple of dpsgd's (MNIST CNN, batch 250, rank 50), or its coefficients
    by powers of the rank: for the estimate of a plan."""
    MEMORY: ClassVar[dict[Literal["rank", "batch"], float]] = {}
    """Bytes held for every parameter and each of as many rows: for the same estimate."""

    build: Callable[..., Mechanism | ClientMechanism]
    """build(clipping: dict, **settings)"""


class ClippingFile(Protocol):
    """A file in clippings/."""

    SETTINGS: ClassVar[Settings] = {}
    REASONS: ClassVar[tuple[str, ...]] = ()
    """Why nothing is proven with this rule, whatever the mechanism."""

    build: Callable[..., ClippingRule]
    """build(clip_norm: float, **settings)"""


class OptimizerFile(Protocol):
    """A file in optimizers/."""

    SETTINGS: ClassVar[Settings] = {}
    NEEDS_NOISE: ClassVar[bool] = False
    """It must be told the noise of every step: only methods where that is z C may use it."""

    build: Callable[..., Optimizer]
    """build(params, lr: float, **settings)"""


class BudgetFile(Protocol):
    """A file in privacy/budgets/: how noise and steps follow from what all may cost."""

    SETTINGS: ClassVar[Settings] = {}

    def schedule(self, work: "Work", budget: "Budget", **settings: Any) -> "Schedule":
        """Return the noise of every round and the number of steps that are paid."""


class PartitionFile(Protocol):
    """A file in partitions/: a way to divide examples among clients."""

    SETTINGS: ClassVar[Settings] = {}
    DIVIDES: ClassVar[Literal["targets", "owners"]] = "targets"
    """What `assign` is given for each example: its target, or its natural owner."""

    def assign(
        self, targets: "np.ndarray", clients: int, rng: "np.random.Generator", **settings: Any
    ) -> "np.ndarray":
        """Return a client for every example; settings are keyword-only."""


class StatisticsFile(Protocol):
    """A file in statistics/: what is released of the training examples before the first step."""

    SETTINGS: ClassVar[Settings] = {}
    RELEASES: ClassVar[tuple[str, ...]] = ()
    """The names of the releases, each a Gaussian of the noise multiplier of the settings."""

    build: Callable[..., Statistics]
    """build(noise_multiplier: float, **settings)"""


class ModelFile(Protocol):
    """A file in models/."""

    SECONDS: ClassVar[Amount] = 1.0e-4
    """CPU seconds of an example in private training, measured at batch 64."""
    PARAMETERS: ClassVar[Amount] = 600_000
    """How many there are, or a bound from above."""
    INPUTS: ClassVar[tuple[tuple[int | None, ...], ...]] = ()
    """The shapes of inputs that it takes, None for any number; () for all shapes."""
    START: ClassVar[Literal["uniform", "zero"]] = "uniform"
    """Its first weights: uniform on +-1/sqrt(fan in), or zero."""

    build: "Callable[..., nn.Module]"
    """build(), or build(shape: tuple[int, ...]) for a network that is made for one shape"""


class ClaimFile(Protocol):
    """A file in claims/: a kind of claim. Its docstring fixes the rules of its verdicts."""

    REQUIRED: ClassVar[tuple[str, ...]] = ()
    """The keys that a claim of this kind must have."""
    OPTIONAL: ClassVar[tuple[str, ...]] = ()
    ONE_OF: ClassVar[tuple[str, ...]] = ()
    """Keys of which it has exactly one."""
    LISTS: ClassVar[tuple[str, ...]] = ()
    """The keys that hold lists."""
    CHOICES: ClassVar[dict[str, tuple[str, ...]]] = {}
    """What a key may be."""
    NEEDS: ClassVar[dict[str, dict[str, tuple[str, ...]]]] = {}
    """What a choice of a key needs beside it."""
    EXAMPLE: ClassVar[dict[str, Any]] = {}
    """The keys of one claim on methods a, b and c, by which the suite of all kinds tries it."""

    judge: Callable[..., Any]
    """judge(claim: dict, evidence: dpfl.claims.Evidence) -> rows, the claim as a whole first"""
    words: Callable[..., str]
    """words(row) -> one sentence"""


class TuningFile(Protocol):
    """A file in tuning/: a rule that chooses the values of hyper-parameters.

    One with STAGES also offers propose(tried, stage) -> the values of a stage's slots, as many as
    it has: of the points tried so far and a dpfl.tuning.Stage, never less than two points.
    """

    STAGES: ClassVar[tuple[dict[Literal["slots", "more_seeds", "each_setting"], int], ...]] = ()
    """What follows the grid of the study: `slots` of every stage; `more_seeds`, new ones of every
    slot instead of the grid's; `each_setting`, the stage comes once for each that is tuned."""

    def choose(self, tried: "Sequence[Point]") -> int:
        """Return the index of the chosen point."""


FILES: Mapping[str, type] = {
    "mechanisms": MechanismFile,
    "clippings": ClippingFile,
    "optimizers": OptimizerFile,
    "privacy/budgets": BudgetFile,
    "partitions": PartitionFile,
    "statistics": StatisticsFile,
    "models": ModelFile,
    "claims": ClaimFile,
    "tuning": TuningFile,
}
"""The Protocol of a package's files, by package; other packages are not checked."""

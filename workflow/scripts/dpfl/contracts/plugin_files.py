"""What a plug-in file must define, and what it may declare: a Protocol for every kind of file.

Constants in capitals are read from the source, without importing it: they must be literals. One
with a value here is optional, and that is its default. Every other constant of a plug-in is private
and begins with an underscore. So a misspelt one is an error before the first job. A file satisfies
its Protocol by having what it lists; dpfl.plugins reads the defaults here, and
dpfl.plugins.declarations the types.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from dpfl.contracts.protocols import ClientMechanism, ClippingRule, Mechanism, Optimizer, Statistics

if TYPE_CHECKING:
    import numpy as np
    from torch import nn

    from dpfl.contracts.federation import Federation
    from dpfl.contracts.points import Point
    from dpfl.contracts.schedule import Budget, Schedule, Work

Settings = dict[str, str]
Amount = float | dict[Literal["constant", "inputs", "channels", "pixels"], float]
"""A number, or one for each of the numbers of an input, its channels (the first dimension) and its
pixels (the product of the others), all added up."""


class MechanismFile(Protocol):
    """A file in mechanisms/; `clipping` are the method's clipping rule and its settings."""

    UNIT: ClassVar[Literal["example", "client"]] = "example"
    """Whom it protects: one example of a client, or a whole client."""
    CLIPPING_RULES: ClassVar[tuple[str, ...]] = ("fixed",)
    """The rules of clippings/ that it takes."""
    SETTINGS: ClassVar[Settings] = {}
    """The bounds of its settings (dpfl.contracts.bounds)."""
    NEEDS_PUBLIC: ClassVar[bool | dict[str, Any]] = False
    """Whether it uses public examples: always, or with this value of a setting."""
    REFUSES: ClassVar[tuple[tuple[dict[str, Any], str], ...]] = ()
    """Settings that do not fit together, each with the reason; stopped before the first job."""
    NOISE_IS_Z_C: ClassVar[bool] = False
    """Every coordinate of the noisy sum has noise z C, from which learning rates are predicted."""
    CORRELATION: ClassVar[tuple[float, ...]] = (1.0,)
    """How the noise of a step is made of draws: so much of this step's, of those of the step
    before, and so on. A step that only has its own says nothing."""
    SHARED_NOISE: ClassVar[bool] = False
    """All holders of examples draw the same noise in their steps of one number: no proof."""
    READ_IN: ClassVar[tuple[str, ...]] = ()
    """The published code that it is as: repository, commit, and file with lines."""
    OWN_GRADIENTS: ClassVar[bool] = False
    """It does not ask the step for gradients, so that nobody can append coordinates to them.

    With a proof it also declares NOISE_IS_Z_C: then its noise can be compared with its bound."""
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
    COLUMNS: ClassVar[tuple[str, ...]] = ()
    """What it adds to a table of cells: keys of `belief` in the summary of a run."""
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
    """A file in clients/partitions/: a way to divide examples among clients."""

    SETTINGS: ClassVar[Settings] = {}
    DIVIDES: ClassVar[Literal["targets", "owners"]] = "targets"
    """What `assign` is given for each example: its target, or its natural owner."""
    REPEATS: ClassVar[bool] = False
    """An example may lie with several clients: only whole clients can be protected."""

    def assign(
        self, targets: "np.ndarray", clients: int, rng: "np.random.Generator", **settings: Any
    ) -> "np.ndarray":
        """Return a client for every example; settings are keyword-only."""


class FederationFile(Protocol):
    """A file in federations/: what a round does beyond private steps and their average."""

    UNITS: ClassVar[tuple[Literal["example", "client"], ...]] = ("example", "client")
    """The units of privacy that it is for; stopped before the first job for any other."""
    PERSONAL: ClassVar[bool] = False
    """Clients keep layers of their own, and are evaluated with them."""
    SETTINGS: ClassVar[Settings] = {}

    build: "Callable[..., Federation]"
    """build(setting: Setting, **settings)"""


class SamplingFile(Protocol):
    """A file in samplings/: a way to draw batches, or cohorts, and what it costs."""

    ADJACENCIES: ClassVar[tuple[str, ...]] = ()
    """The relations under which it has a price, that of certificates first."""
    BEFOREHAND: ClassVar[bool] = False
    """It is drawn in public before training, so that participations are counted."""
    BANDED: ClassVar[bool] = False
    """It is for noise of a whole run that is banded, and for no other."""
    CORRELATES: ClassVar[bool] = False
    """It has a price for noise of a whole run."""

    event: Callable[..., Any]
    """event(plan: dpfl.samplings.Plan)"""


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
    """A file in judging/kinds/: a kind of claim. Its docstring fixes the rules of its verdicts."""

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
    """judge(claim: dict, evidence: dpfl.judging.evidence.Evidence) -> rows, the whole one first"""


class TuningFile(Protocol):
    """A file in tuning/: a rule that chooses the values of hyper-parameters.

    One with STAGES also offers propose(tried, stage) -> the values of a stage's slots, as many as
    it has. It is given the points tried so far, never less than two, and a
    dpfl.contracts.points.Stage.
    """

    STAGES: ClassVar[
        tuple[dict[Literal["slots", "more_seeds", "each_setting"], int | bool], ...]
    ] = ()
    """What follows the grid of the study: `slots` of every stage; `more_seeds`, new ones of every
    slot instead of the grid's; `each_setting`, the stage comes once for each that is tuned."""

    def choose(self, tried: "Sequence[Point]") -> int:
        """Return the index of the chosen point."""


FILES: Mapping[str, type] = {
    "mechanisms": MechanismFile,
    "clippings": ClippingFile,
    "optimizers": OptimizerFile,
    "privacy/budgets": BudgetFile,
    "clients/partitions": PartitionFile,
    "federations": FederationFile,
    "samplings": SamplingFile,
    "statistics": StatisticsFile,
    "models": ModelFile,
    "judging/kinds": ClaimFile,
    "tuning": TuningFile,
}
"""The Protocol of a package's files, by package; other packages are not checked."""

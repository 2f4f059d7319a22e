"""Which client holds which training example, and which examples are held out for validation.

An assignment is an int32 array [N]: the client of each training example, -1 for validation, -2 for
public. Where examples are dealt out several times it is [copies, N]. The schemes are files in
partitions/ here, found by name.
"""

import math
from typing import Any

import numpy as np

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.plugins import declarations

VALIDATION = -1
PUBLIC = -2


def assign(
    targets: np.ndarray,
    scheme: str,
    clients: int,
    rng: np.random.Generator,
    *,
    owners: np.ndarray | None = None,
    validation_fraction: float = 0.0,
    public_examples: int = 0,
    min_examples: int = 1,
    **settings: Any,
) -> np.ndarray:
    """Assign every example, of targets [N], to one of the clients or to validation: int32 [N].

    With a scheme that deals them out several times it is [copies, N].

    The validation examples are held out first, uniformly at random, then those that are declared
    public. No client holds them, no accountant protects them. `owners` [N] are the natural clients
    of a data set that has some. `settings` are those of the scheme; None stands for one that is not
    given. Raises UserError for a setting out of bounds and for a client with fewer than
    `min_examples`. Also for a scheme by owners without any.
    """
    _check_counts(validation_fraction, public_examples, min_examples)
    settings = {name: value for name, value in settings.items() if value is not None}
    split = plugins.load("clients/partitions", scheme).assign
    for name, unknown in declarations.wrong_settings("clients/partitions", scheme, settings):
        told = f"takes no {name} (= {settings[name]})" if unknown else f"needs {name}"
        raise UserError(f"partition {scheme!r} {told}")
    divided = {"targets": targets, "owners": owners}[divides(scheme)]
    if divided is None:
        raise UserError(f"partition {scheme!r} needs natural clients, and the data set has none")

    assignment = np.full(len(targets), VALIDATION, dtype=np.int32)
    validation = held_out(len(targets), validation_fraction)
    order = rng.permutation(len(targets))
    assignment[order[validation : validation + public_examples]] = PUBLIC
    rest = np.sort(order[validation + public_examples :])
    if not 1 <= clients <= len(rest):
        raise UserError(f"clients = {clients}: must lie in 1..{len(rest)}, the number of examples")
    dealt = split(divided[rest], clients, rng, **settings)
    if dealt.ndim > 1:
        assignment = np.tile(assignment, (len(dealt), 1))
    assignment[..., rest] = dealt
    _check_sizes(scheme, np.bincount(dealt.ravel(), minlength=clients), min_examples)
    return assignment


def divides(scheme: str) -> str:
    """Return what a scheme divides examples by: their `targets`, or their natural `owners`."""
    return plugins.constant("clients/partitions", scheme, "DIVIDES", "targets")


def held_out(examples: int, validation_fraction: float) -> int:
    """Return how many of the examples are held out for validation, floor(N f)."""
    # 0.29 * 100 is 28.999999999999996 in floating point.
    return math.floor(examples * validation_fraction + 1e-9)


def _check_counts(validation_fraction: float, public_examples: int, min_examples: int) -> None:
    if not 0 <= validation_fraction < 1:
        raise UserError(f"validation_fraction = {validation_fraction}: must lie in [0, 1)")
    if public_examples < 0:
        raise UserError(f"public_examples = {public_examples}: must be at least 0")
    if min_examples < 1:
        raise UserError(f"min_examples = {min_examples}: must be at least 1")


def _check_sizes(scheme: str, sizes: np.ndarray, min_examples: int) -> None:
    client = int(sizes.argmin())
    if sizes[client] < min_examples:
        raise UserError(
            f"client {client} gets {sizes[client]} examples, fewer than min_examples = "
            f"{min_examples} (partition {scheme!r}, {len(sizes)} clients): use fewer clients, a "
            "less skewed partition or another seed"
        )


class Members:
    """The ascending indices of each client's examples, by its number, in slices of one array."""

    def __init__(self, assignment: np.ndarray):
        dealt, examples = assignment.ravel(), assignment.shape[-1]
        order = np.argsort(dealt, kind="stable")
        self._order = order % examples
        self._starts = np.searchsorted(dealt[order], np.arange(assignment.max() + 2))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def __getitem__(self, client: int) -> np.ndarray:
        if not 0 <= client < len(self):
            raise IndexError(f"client is {client}, must be in [0, {len(self) - 1}]")
        return self._order[self._starts[client] : self._starts[client + 1]]


def clients_of(assignment: np.ndarray) -> Members:
    """Return each client's examples, in client order; none is looked up before it is asked for."""
    return Members(assignment)


def validation_of(assignment: np.ndarray) -> np.ndarray:
    """Return the ascending indices of the validation examples."""
    return np.flatnonzero(np.atleast_2d(assignment)[0] == VALIDATION)


def public_of(assignment: np.ndarray) -> np.ndarray:
    """Return the ascending indices of the public examples."""
    return np.flatnonzero(np.atleast_2d(assignment)[0] == PUBLIC)


def training_of(assignment: np.ndarray) -> np.ndarray:
    """Return the ascending indices of the examples that clients hold."""
    return np.flatnonzero(np.atleast_2d(assignment)[0] >= 0)


def label_counts(assignment: np.ndarray, targets: np.ndarray, classes: int) -> np.ndarray:
    """Count the labels of every client: [clients, classes]."""
    held = assignment >= 0
    labels = np.broadcast_to(targets, assignment.shape)[held]
    cells = assignment[held].astype(np.int64) * classes + labels
    shape = (assignment.max() + 1, classes)
    return np.bincount(cells, minlength=math.prod(shape)).reshape(shape)

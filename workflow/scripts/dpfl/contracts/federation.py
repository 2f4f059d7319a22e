"""What the rule of a federation does in a round, beyond private steps and their average.

Vectors are flat [D], in the order of the trained parameters. Where examples are protected, all of
them are made of released gradients, so that a rule costs no privacy. Where whole clients are, what
a client keeps stays with it. The server learns no more than the released mean of what clients send.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from torch import Tensor

DEFAULT = "fedavg"
"""The rule of a federation that names none; the settings of its runs name none either."""
States = dict[str, dict[str, "Tensor"]]
"""What outlives a round, by whose it is: `server`, or `client-3`."""


@dataclass(frozen=True)
class Setting:
    """What a rule is built for: M clients, of whom `cohort` are expected in a round.

    `released_only` says that nobody but the client sees what it sends. `parts` are the places of
    every parameter in a vector, by name. `rng` gives the public random numbers of a round. `reach`
    is how many local steps all clients take, times their rate; None where that is not known.
    """

    clients: int
    cohort: float
    released_only: bool
    parts: Mapping[str, slice]
    rng: "Callable[[int], np.random.Generator]"
    reach: float | None = None


@dataclass(frozen=True)
class Cohort:
    """Who takes part in a round: so many are `expected`; `like` are the server's weights [D].

    `parts` are the places of every parameter in them, and `sizes` how many examples each client
    has, in the order of their updates; () where all are alike.
    """

    like: "Tensor"
    expected: float
    parts: Sequence[slice] = ()
    sizes: Sequence[int] = ()


@dataclass(frozen=True)
class Visit:
    """A client in a round, from 1 on, with the server's weights [D]."""

    round: int
    client: int
    server: "Tensor"


def no_term(visit: Visit, weights: "Tensor") -> None:
    """Add nothing."""


@dataclass(frozen=True)
class Federation:
    """A rule as functions; left out, each is that of FedAvg (McMahan et al. 2017, 1602.05629)."""

    start: "Callable[[Visit], Tensor]" = lambda visit: visit.server
    """Return the weights that a client begins with."""
    term: "Callable[[Visit, Tensor], Tensor | None]" = no_term
    """Return what is added to the gradient at these weights after clipping and noise, if any."""
    end: "Callable[[Visit, Tensor, int, float], Tensor]" = lambda visit, weights, steps, rate: (
        weights
    )
    """Take the weights of a client after so many steps at a rate; return what it sends."""
    combine: "Callable[[int, Tensor, Tensor], Tensor]" = lambda number, server, mean: mean
    """Return the server's weights after a round, from those before and the mean that was sent."""
    state: "Callable[[], States]" = dict
    """Return what a checkpoint keeps."""
    restore: "Callable[[States], None]" = lambda states: None
    """Continue from what a checkpoint kept."""
    apart: bool = False
    """Whether the server uses nothing that a client keeps, and clients nothing that it keeps."""

    @property
    def splits(self) -> bool:
        """Tell whether server and clients can be on machines of their own."""
        return self.apart or self.state is dict


FEDAVG = Federation()
"""The rule that adds nothing."""

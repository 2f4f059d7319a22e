"""What plans of finished runs would cost in epsilon, and the levels to draw lines of it at."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpfl import plugins
from dpfl.clients import assignment, participation
from dpfl.privacy import accounting

STEPS = (1, 1.5, 2, 3, 5, 7)
MOST_LEVELS = 6


@dataclass(frozen=True)
class PlannedSteps:
    """The Poisson rate and all planned steps of whoever adds noise, and its mean multiplier."""

    sample_rate: float
    steps: int
    noise_multiplier: float | None

    def epsilon(self, noise_multiplier: float, delta: float) -> float:
        """Return what all planned steps would cost at this noise, by privacy loss distributions."""
        return accounting.epsilon(self.sample_rate, noise_multiplier, self.steps, delta)


def plan_of(summary: dict) -> PlannedSteps:
    """Return the plan of a run: that of its first client, given an equal share of the examples.

    Where whole clients are protected it is the server's, one step a round.
    """
    settings = summary["settings"]
    federation, clients = settings["federation"], settings["partition"]["clients"]
    multipliers = next(filter(None, summary["noise_multipliers"]["clients"].values()), [])
    noise = float(np.mean(multipliers)) if multipliers else None
    if settings["unit"] == "client":
        cohort = federation["clients_per_round"] or clients
        return PlannedSteps(cohort / clients, federation["rounds"], noise)
    examples = _examples(settings) // clients
    steps = participation.local_steps(
        examples, federation["batch_size"], federation["local_epochs"], federation["local_steps"]
    )
    rounds = len(multipliers) or federation["rounds"]
    return PlannedSteps(federation["batch_size"] / examples, steps * rounds, noise)


def _examples(settings: dict) -> int:
    """Return how many examples a run's clients share."""
    total = plugins.load("data", settings["dataset"]).TRAIN_EXAMPLES
    split = settings["partition"]
    held_out = assignment.held_out(total, split["validation_fraction"])
    return total - held_out - split.get("public_examples", 0)


def costs(cells: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return the epsilons of plans: rows are the second key's values, columns the first one's.

    `cells` has the two keys, `plan` and `delta`. A plan is priced at its own noise where that is
    one of the keys, otherwise at the noise of the middle cell, or of the one next to it where the
    study leaves that out. Cells that are left out have no price, nan.
    """
    middle = cells["plan"].iloc[_middle(cells[keys].to_numpy(dtype=float))]
    varied = "noise_multiplier" in keys
    priced = [
        cell["plan"].epsilon(
            cell["noise_multiplier"] if varied else middle.noise_multiplier, cell["delta"]
        )
        for _, cell in cells.iterrows()
    ]
    return cells.assign(cost=priced).pivot(index=keys[1], columns=keys[0], values="cost")


def _middle(places: np.ndarray) -> int:
    """Return the row of [cells, 2] whose ranks are nearest to the middle ones."""
    ranks = [np.unique(own, return_inverse=True)[1] for own in places.T]
    middle = [len(np.unique(own)) // 2 for own in places.T]
    away = sum(np.abs(rank - at) for rank, at in zip(ranks, middle, strict=True))
    return int(np.argmin(away))


def levels(low: float, high: float, budget: float) -> list[float]:
    """Return at least one number between two epsilons: a few round ones, and the budget."""
    edge = (high / low) ** 0.03  # a line that cuts off a corner says nothing
    exponents = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    steps = [float(f"{step}e{exponent}") for exponent in exponents for step in STEPS]
    inside = [level for level in steps if low * edge < level < high / edge]
    apart = inside[:: -(-len(inside) // MOST_LEVELS)] if inside else []
    found = {*apart, *([budget] if low * edge < budget < high / edge else [])}
    return sorted(found) or [float(f"{(low * high) ** 0.5:.3g}")]

"""Noise for every client of a federation, before anything is trained.

Clients hold disjoint examples, so the run costs what its most exposed client costs. Participation
is public and drawn beforehand: it earns no amplification, it only sets the number of steps.
"""

from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np

from dpfl import plugins, streams
from dpfl.errors import UserError
from dpfl.participation import draw, local_steps, rounds_of
from dpfl.privacy import events
from dpfl.privacy.accounting import spent
from dpfl.privacy.schedule import Schedule

UNIT = "example"
CERTIFICATE = "pld"  # prices what was bought, whichever accountant chose the noise


@dataclass(frozen=True)
class Federation:
    """How often clients train: rounds, who takes part, local steps or epochs per round."""

    batch_size: int
    rounds: int
    clients_per_round: int | None = None
    local_epochs: float | None = None
    local_steps: int | None = None


@dataclass(frozen=True)
class Settings:
    """The budget of one calibration, how it is spread, and the federation that spends it."""

    epsilon: float
    delta: float
    accountant: str
    budget: dict[str, Any]
    federation: Federation
    participation_key: tuple[str | int, ...]
    sampling: str = "poisson"

    @classmethod
    def read(cls, values: dict[str, Any]) -> "Settings":
        """Build settings from JSON; UserError for a missing or an unknown key."""
        try:
            federation = Federation(**values["federation"])
            key = tuple(values["participation_key"])
            return cls(**{**values, "federation": federation, "participation_key": key})
        except KeyError as error:
            raise UserError(f"settings lack the key {error}") from error
        except TypeError as error:
            raise UserError(f"settings: {error}") from error


def calibrate(settings: Settings, assignment: np.ndarray) -> dict[str, Any]:
    """Return the calibration of every client in an assignment (client of each example, or -1).

    Raises UserError naming the client if delta is not below 1/examples or a batch exceeds them.
    """
    events.require_poisson(settings.sampling)
    federation = settings.federation
    sizes = np.bincount(assignment[assignment >= 0]).tolist()
    rng = streams.rng(*settings.participation_key)
    drawn = draw(len(sizes), federation.clients_per_round, federation.rounds, rng)
    planned = [
        _planned(settings, client, examples, rounds)
        for client, (examples, rounds) in enumerate(
            zip(sizes, rounds_of(drawn, len(sizes)), strict=True)
        )
    ]
    priced = cache(partial(_priced, settings))
    clients = [
        {**plan, **priced(plan["sample_rate"], plan["steps_per_round"], len(plan["rounds"]))}
        for plan in planned
    ]
    return {
        "epsilon": settings.epsilon,
        "delta": settings.delta,
        "accountant": CERTIFICATE,
        "calibrated_with": settings.accountant,
        "adjacency": events.ADD_OR_REMOVE_ONE,
        "unit": UNIT,
        "sampling": settings.sampling,
        "eps_certified": max(client["epsilon"] for client in clients),
        "clients": clients,
    }


def _planned(settings: Settings, client: int, examples: int, rounds: list[int]) -> dict[str, Any]:
    """Return what a client is going to do."""
    federation = settings.federation
    if examples * settings.delta >= 1:
        raise UserError(
            f"delta is {settings.delta}, must be < 1/{examples} (examples of client {client})"
        )
    steps = local_steps(
        examples, federation.batch_size, federation.local_epochs, federation.local_steps, client
    )
    return {
        "client": client,
        "examples": examples,
        "sample_rate": federation.batch_size / examples,
        "steps_per_round": steps,
        "rounds": rounds,
        "steps": steps * len(rounds),
    }


def _priced(
    settings: Settings, sample_rate: float, steps_per_round: int, participations: int
) -> dict[str, Any]:
    """Return noise, paid steps and the epsilon after each participation."""
    if not participations:
        return {"paid_steps": 0, "noise_multiplier": None, "epsilon": 0.0, "spent": []}
    schedule = _scheduled(settings, sample_rate, steps_per_round * participations)
    planned = [steps_per_round * number for number in range(1, participations + 1)]
    paid = [min(steps, schedule.paid_steps) for steps in planned]
    curve = spent(sample_rate, schedule.noise_multiplier, paid, settings.delta)
    return {
        "paid_steps": schedule.paid_steps,
        "noise_multiplier": schedule.noise_multiplier,
        "epsilon": curve[-1],
        "spent": curve,
    }


def _scheduled(settings: Settings, sample_rate: float, steps: int) -> Schedule:
    """Ask the budget strategy, a plug-in with settings of its own."""
    own = dict(settings.budget)
    strategy = plugins.load("privacy/budgets", own.pop("strategy"))
    budget = (settings.epsilon, settings.delta, settings.accountant)
    return strategy.schedule(sample_rate, steps, *budget, **own)

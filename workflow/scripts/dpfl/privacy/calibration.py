"""Noise for every client of a federation, before anything is trained.

Unit `example`: clients hold disjoint examples. So the run costs what its most exposed client costs.
Participation is public and drawn beforehand: it earns no amplification, it only sets the number of
steps. Unit `client` (DP-FedAvg, McMahan et al. 2018): the server alone adds noise, one step a
round. The Poisson sample of clients stays secret, and therefore does earn amplification.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cache as memoize
from functools import partial
from typing import Any

import numpy as np

from dpfl.base.errors import UserError
from dpfl.clients.participation import cohort, draw, local_steps, rounds_of
from dpfl.contracts.schedule import SERVER, Budget, Work
from dpfl.draws import streams
from dpfl.privacy import events
from dpfl.privacy.accounting import CERTIFICATE, epsilon_of_run
from dpfl.privacy.cache import NoiseCache
from dpfl.privacy.priced_schedule import priced_schedule

FILTER = "rdp-filter"  # prices what was chosen while training
POISSON, UNIFORM = "poisson", "uniform"
Pricer = Callable[..., dict[str, Any]]
"""dpfl.samplings.calibrated, which knows every other sampling."""


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
    unit: str = "example"
    sampling: str = POISSON
    charged: str = ""
    """What the noise is found for, where a method charges another sampling than it draws."""
    factorization: dict[str, Any] | None = None
    """How the noise of steps is correlated, if it is: dpfl.factorizations."""
    releases: tuple[tuple[str, float], ...] = ()
    """What every client that takes part releases before its first step, of all its examples: names
    and noise multipliers."""

    @classmethod
    def read(cls, values: dict[str, Any]) -> "Settings":
        """Build settings from JSON; UserError for a missing or an unknown key."""
        try:
            federation = Federation(**values["federation"])
            key = tuple(values["participation_key"])
            releases = tuple((name, z) for name, z in values.get("releases", ()))
            own = {"federation": federation, "participation_key": key, "releases": releases}
            own["charged"] = values.get("charged") or values.get("sampling", POISSON)
            return cls(**{**values, **own})
        except KeyError as error:
            raise UserError(f"settings lack the key {error}") from error
        except TypeError as error:
            raise UserError(f"settings: {error}") from error

    @property
    def is_poisson(self) -> bool:
        """Tell whether batches are drawn by Poisson, and charged so."""
        return {self.sampling, self.charged} <= {POISSON, ""} and not self.factorization

    def asked(self) -> dict[str, Any]:
        """Return the settings as JSON, by which a run sees whether they are its own."""
        releases = [list(release) for release in self.releases]
        key = list(self.participation_key)
        own = {**asdict(self), "participation_key": key, "releases": releases}
        if self.charged in (self.sampling, ""):
            del own["charged"]
        if self.factorization is None:
            del own["factorization"]
        return own


def calibrate(
    settings: Settings,
    assignment: np.ndarray,
    cache: NoiseCache | None = None,
    pricer: Pricer | None = None,
) -> dict[str, Any]:
    """Return the calibration of everyone who adds noise, from a dpfl.clients.assignment.

    `pricer` is asked where batches are drawn, or charged, otherwise than by Poisson. Raises
    UserError if delta is not below 1/examples of a client, or 1/clients where that is the unit.
    Also if a batch exceeds a client's examples, naming the client.
    """
    if pricer is None:
        events.require_poisson(settings.sampling)
    if settings.releases and settings.unit != "example":
        raise UserError(
            f"statistics are released with noise for one example, unit is {settings.unit}"
        )
    if assignment.ndim > 1 and settings.unit == "example":
        raise UserError("examples lie with several clients, unit is example: expected client")
    sizes = np.bincount(assignment[assignment >= 0]).tolist()
    plans = PLANNERS[settings.unit](settings, sizes)
    if settings.is_poisson:
        priced = memoize(partial(_priced, settings, cache or NoiseCache(None)))
    else:
        known = {"factorization": settings.factorization}
        known["participations"] = _participations(settings, len(sizes))
        priced = memoize(partial(_priced_otherwise, settings, partial(pricer, **known)))
    clients = [
        {**plan, **priced(plan["sample_rate"], plan["steps_per_round"], len(plan["rounds"]))}
        for plan in plans
    ]
    filtered = any("filter" in client for client in clients)
    return {
        "settings": settings.asked(),
        "epsilon": settings.epsilon,
        "delta": settings.delta,
        "accountant": FILTER if filtered else CERTIFICATE,
        "calibrated_with": settings.accountant,
        "adjacency": events.ADD_OR_REMOVE_ONE,
        **_named(clients, "accountant", "calibrated_with", "adjacency"),
        "unit": settings.unit,
        "sampling": settings.sampling,
        "eps_certified": max(client["epsilon"] for client in clients),
        "clients": clients,
    }


def _named(clients: list[dict[str, Any]], *keys: str) -> dict[str, str]:
    """Take what other samplings tell of the whole calibration out of the clients' records."""
    return max(({k: own.pop(k) for k in keys if k in own} for own in clients), key=len)


def _examples(settings: Settings, sizes: list[int]) -> list[dict[str, Any]]:
    """Plan every client's own steps: each protects its examples."""
    federation = settings.federation
    rng = streams.rng(*settings.participation_key)
    drawn = draw(len(sizes), federation.clients_per_round, federation.rounds, rng)
    plans, work = [], (federation.batch_size, federation.local_epochs, federation.local_steps)
    for client, rounds in enumerate(rounds_of(drawn, len(sizes))):
        examples = sizes[client]
        _require_delta(settings.delta, examples, f"examples of client {client}")
        steps = local_steps(examples, *work, client)
        rate = federation.batch_size / examples
        plans.append(_plan(client, examples, rate, steps, rounds))
    return plans


def _clients(settings: Settings, sizes: list[int]) -> list[dict[str, Any]]:
    """Plan the server's steps, one a round: it protects whole clients."""
    federation, clients = settings.federation, len(sizes)
    _require_delta(settings.delta, clients, "clients")
    rate = cohort(clients, federation.clients_per_round) / clients
    return [_plan(SERVER, None, rate, 1, list(range(1, federation.rounds + 1)))]


def _require_delta(delta: float, size: int, noun: str) -> None:
    if size * delta >= 1:
        raise UserError(f"delta is {delta}, must be < 1/{size} ({noun})")


def _plan(
    client: int | str, examples: int | None, sample_rate: float, each: int, rounds: list[int]
) -> dict[str, Any]:
    """Return what a client, or the server, is going to do: `each` steps in every round of its."""
    return {
        "client": client,
        "examples": examples,
        "sample_rate": sample_rate,
        "steps_per_round": each,
        "rounds": rounds,
        "steps": each * len(rounds),
    }


def _nothing() -> dict[str, Any]:
    """Return what a client costs that never takes part."""
    return {"paid_steps": 0, "noise_multipliers": [], "epsilon": 0.0, "spent": []}


def _priced(
    settings: Settings, cache: NoiseCache, sample_rate: float, steps_per_round: int, rounds: int
) -> dict[str, Any]:
    """Return noise, paid steps and the epsilon after each round taken part in."""
    if not rounds:
        return _nothing()
    released = tuple(z for _, z in settings.releases)
    work = Work(sample_rate, steps_per_round, rounds, released)
    budget = Budget(settings.epsilon, settings.delta, settings.accountant)
    own = dict(settings.budget)
    schedule, curve = priced_schedule(own.pop("strategy"), own, work, budget, cache)
    record = {
        "paid_steps": schedule.paid_steps,
        "noise_multipliers": list(schedule.noise_multipliers),
        "epsilon": curve[-1] if curve else settings.epsilon,
        "spent": curve,
    }
    if released:
        record["releases"] = [{"name": n, "noise_multiplier": z} for n, z in settings.releases]
        record["released"] = epsilon_of_run(CERTIFICATE, 1.0, (), released, settings.delta)
    return {**record, "filter": schedule.filter} if schedule.filter else record


def _participations(settings: Settings, clients: int) -> int:
    """Return in how many rounds one client takes part at most, as was drawn in public."""
    federation, rng = settings.federation, streams.rng(*settings.participation_key)
    drawn = draw(clients, federation.clients_per_round, federation.rounds, rng)
    return max(map(len, rounds_of(drawn, clients)))


def _priced_otherwise(
    settings: Settings, pricer: Pricer, sample_rate: float, steps_per_round: int, rounds: int
) -> dict[str, Any]:
    """Return the same for batches that are not Poisson; UserError for an unequal budget."""
    if not rounds:
        return _nothing()
    if settings.budget != {"strategy": UNIFORM} or settings.releases:
        raise UserError(
            f"sampling {settings.sampling} takes budget {UNIFORM} and no statistics, "
            f"found {settings.budget['strategy']}"
        )
    work = Work(sample_rate, steps_per_round, rounds)
    budget = Budget(settings.epsilon, settings.delta, settings.accountant)
    found = pricer(settings.sampling, settings.charged, work, budget)
    return {
        "paid_steps": work.steps,
        "noise_multipliers": [found["noise"]] * rounds,
        "epsilon": found["spent"][-1],
        "calibrated_with": found["accountant"],
        **{key: found[key] for key in ("plan", "spent", "accountant", "adjacency")},
    }


PLANNERS = {"example": _examples, "client": _clients}

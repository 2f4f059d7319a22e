"""How batches are drawn, a file for each way: what it costs, and under which adjacency.

Each file defines ADJACENCIES, the relations under which it has a price, and event(plan). Where
training can draw it, draw(turn) returns the members of a batch. Where it has a price for correlated
noise, correlated(plan, factorization) returns the plan with that noise. An event has the noise of
one clipped row of length C; `priced` knows how far an adjacency moves a sum. Where an example's own
steps are others than those of the plan, for_one(plan) returns them. Where no attacker is known who
reaches the price, attained(plan, delta) returns an epsilon that one reaches.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from dp_accounting import DpEvent, NeighboringRelation, PrivacyAccountant, get_epsilon_gaussian
from scipy.optimize import brentq

from dpfl import factorizations, plugins
from dpfl.base.errors import UserError
from dpfl.contracts.schedule import Budget, Work
from dpfl.privacy import accounting, events
from dpfl.privacy.priceable import require_priceable, require_reachable

ADD_OR_REMOVE_ONE, ZERO_OUT, REPLACE_ONE = events.ADD_OR_REMOVE_ONE, "zero-out", "replace-one"
RELATIONS = {
    ADD_OR_REMOVE_ONE: (NeighboringRelation.ADD_OR_REMOVE_ONE, 1),
    ZERO_OUT: (NeighboringRelation.REPLACE_SPECIAL, 1),
    REPLACE_ONE: (NeighboringRelation.REPLACE_ONE, 2),
}
"""By adjacency: dp-accounting's name for it, and by how many C it moves a sum of rows."""

STEP, WIDEST = 0.5, 13.0  # of the search for noise, in log z
CLOSE = 1e-4  # how far below its target, relatively, an epsilon may stay


@dataclass(frozen=True)
class Plan:
    """Steps that each release the noisy sum of a batch of clipped rows.

    `sample_rate` is the batch size over the number of examples. The noise has standard deviation
    noise_multiplier C in every coordinate. `participations` are the steps that one example takes
    part in at most, where that is not known from the sampling. Where the noise of steps is
    correlated, noise_multiplier is of its fresh draws, and `sensitivity` is that of the whole run,
    or of one step where a group of examples takes its turn in every `groups`-th, in C, zero-out.
    """

    sample_rate: float
    noise_multiplier: float
    steps: int
    participations: int | None = None
    sensitivity: float | None = None
    groups: int | None = None


class Price(NamedTuple):
    """An epsilon, and the accountant that it is of."""

    accountant: str
    epsilon: float


def adjacencies(sampling: str) -> tuple[str, ...]:
    """Return the adjacencies under which a sampling has a price; UserError if it is unknown."""
    return plugins.load("samplings", sampling).ADJACENCIES


def event_of(sampling: str, plan: Plan) -> DpEvent:
    """Return what a plan releases; UserError for correlated noise where that has no price."""
    module = plugins.load("samplings", sampling)
    if plan.sensitivity is not None:
        _require_correlated(sampling)
    return module.event(plan)


def correlated(sampling: str, plan: Plan, name: str, settings: Mapping[str, Any]) -> Plan:
    """Return a plan with the noise of a factorization, whose settings are texts or numbers.

    Raises UserError for an unknown name or setting, one out of bounds, and a sampling that has no
    price for correlated noise.
    """
    _require_correlated(sampling)
    noise = factorizations.Factorization(name, settings)
    return plugins.load("samplings", sampling).correlated(plan, noise)


def batches_of_an_epoch(plan: Plan) -> int:
    """Return how many whole batches an epoch has."""
    return math.floor((1 + 1e-12) / plan.sample_rate)


def priced(sampling: str, plan: Plan, adjacency: str, delta: float) -> Price:
    """Return what a plan costs under an adjacency of its sampling.

    Add or remove one: the certificate of training. Gaussians without sampling: exact. All else: the
    tighter of dp-accounting's accountants. Raises UserError for a plan that is out of bounds.
    """
    accounting.require_in_range(plan.sample_rate, delta)
    event = event_of(sampling, plan)
    relation, moved = RELATIONS[adjacency]
    if adjacency == ADD_OR_REMOVE_ONE:
        return Price(accounting.CERTIFICATE, accounting.epsilon_of(event, delta))
    if precision := events.precision(event):
        return Price("gaussian", float(get_epsilon_gaussian(precision**-0.5 / moved, delta)))
    name, make = next((n, m) for n, m in _accountants().items() if m(relation).supports(event))
    return Price(name, float(make(relation).compose(event).get_epsilon(delta)))


def noise_multiplier(
    sampling: str, plan: Plan, adjacency: str, epsilon: float, delta: float
) -> float:
    """Return the least noise with which a plan costs at most epsilon, whatever its own noise is.

    Raises UserError if there is none within the bounds of the search.
    """

    def excess(log_z: float) -> float:
        at = replace(plan, noise_multiplier=math.exp(log_z))
        try:
            _require_priceable(sampling, at, delta)
        except UserError:  # far too little noise, which would fill the memory
            return epsilon
        found = priced(sampling, at, adjacency, delta).epsilon
        return min(found, 2 * epsilon) - (1 - CLOSE / 2) * epsilon

    event_of(sampling, replace(plan, noise_multiplier=1.0))  # or it is refused
    near = 0.0
    step = STEP if excess(near) > 0 else -STEP
    while step * excess(near + step) > 0:
        near += step
        if abs(near) > WIDEST:
            raise UserError(f"epsilon is {epsilon:g}: no noise has it under {adjacency}")
    root = brentq(excess, *sorted((near, near + step)), xtol=CLOSE / 100)
    return math.exp(root + CLOSE / 100)


def costs(sampling: str, plan: Plan, delta: float) -> list[dict[str, Any]]:
    """Return a row per adjacency of a sampling: what a plan costs, and by which accountant.

    Raises UserError for an argument out of range and an unknown sampling.
    """
    _require_priceable(sampling, plan, delta)
    return [_row(sampling, plan, adjacency, delta) for adjacency in adjacencies(sampling)]


def noises(
    sampling: str, plans: Sequence[Plan], targets: Sequence[float], delta: float
) -> list[dict[str, Any]]:
    """Return such a row per plan, target and adjacency, with the least noise that meets it.

    Raises UserError also for a target out of reach.
    """
    rows = []
    for plan, target in product(plans, targets):
        require_reachable(plan.sample_rate, plan.steps, target, delta)
        for adjacency in adjacencies(sampling):
            noise = noise_multiplier(sampling, plan, adjacency, target, delta)
            rows.append(_row(sampling, replace(plan, noise_multiplier=noise), adjacency, delta))
            rows[-1]["target"] = target
    return rows


def calibrated(
    drawn: str,
    charged: str,
    work: Work,
    budget: Budget,
    participations: int | None = None,
    factorization: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return one noise for a run, and what it has spent after each round.

    The noise keeps what is `charged` within the budget. What is spent is the price of what is
    `drawn`, under its first adjacency. With a `factorization` the run is one release: all of it is
    spent from the first step on.
    """
    if factorization and drawn != charged:
        raise UserError(f"sampling {drawn}, charged as {charged}: not with a factorization")
    counted = {s: plugins.constant("samplings", s, "BEFOREHAND") for s in (drawn, charged)}
    asked = Plan(work.sample_rate, 1.0, work.steps, participations if counted[charged] else None)
    if factorization:
        own = dict(factorization)
        asked = correlated(charged, asked, own.pop("uses"), own)
    known = (adjacencies(charged)[0], budget.epsilon, budget.delta)
    noise = noise_multiplier(charged, asked, *known)
    adjacency = adjacencies(drawn)[0]
    ends = range(work.steps_per_round, work.steps + 1, work.steps_per_round)
    plans = [
        Plan(work.sample_rate, noise, end, min(end, participations) if counted[drawn] else None)
        for end in ends
    ]
    if factorization:  # all of it is one release
        plans = [replace(asked, noise_multiplier=noise)]
    prices = [priced(drawn, plan, adjacency, budget.delta) for plan in plans]
    spent = prices * (work.rounds // len(prices))
    return {
        "noise": noise,
        "plan": vars(plans[-1]),
        "spent": [price.epsilon for price in spent],
        "accountant": spent[-1].accountant,
        "adjacency": adjacency,
    }


def attained(sampling: str, plan: Plan, delta: float) -> float:
    """Return what an attacker can reach who knows all that the price does, such as the orders."""
    module = plugins.load("samplings", sampling)
    if hasattr(module, "attained"):
        return module.attained(plan, delta)
    return priced(sampling, plan, module.ADJACENCIES[0], delta).epsilon


def turns(sampling: str, plan: Plan) -> int | None:
    """Return in how many steps one takes part at most; None where that is drawn anew."""
    if plan.groups or events.precision(event_of(sampling, plan)) is None:
        return None
    return plan.participations or participations(plan)


def sampled(plan: Plan) -> DpEvent:
    """Return the Gaussians of fresh Poisson batches; UserError for participations, which vary."""
    if plan.participations is not None:
        raise UserError(f"participations is {plan.participations}: batches are drawn anew")
    return events.poisson_gaussian(plan.sample_rate, plan.noise_multiplier, plan.steps)


def participations(plan: Plan) -> int:
    """Return in how many steps an example takes part, once an epoch of whole batches.

    Raises UserError if fewer are given than that.
    """
    epoch = batches_of_an_epoch(plan)
    least = -(-plan.steps // epoch)
    given = least if plan.participations is None else plan.participations
    within = f"in [{least}, {plan.steps}], of {plan.steps} steps and {epoch} batches an epoch"
    events.require("participations", given, least <= given <= plan.steps, within)
    return given


def _row(sampling: str, plan: Plan, adjacency: str, delta: float) -> dict[str, Any]:
    cost = priced(sampling, plan, adjacency, delta)
    return {**vars(plan), "adjacency": adjacency, **cost._asdict()}


def _require_correlated(sampling: str) -> None:
    """Raise UserError for a sampling that has no price for correlated noise."""
    if not hasattr(plugins.load("samplings", sampling), "correlated"):
        raise UserError(f"sampling {sampling}: correlated noise needs batches in a fixed order")


def _require_priceable(sampling: str, plan: Plan, delta: float) -> None:
    """Raise UserError where a sampled plan may cost too much; closed forms price everything."""
    if events.precision(event_of(sampling, plan)) is None:
        own = getattr(plugins.load("samplings", sampling), "for_one", lambda same: same)(plan)
        require_priceable(own.sample_rate, own.noise_multiplier, own.steps, delta)


def _accountants() -> dict[str, Callable[[NeighboringRelation], PrivacyAccountant]]:
    """Return dp-accounting's accountants, the tighter one first."""
    from dp_accounting.pld import PLDAccountant
    from dp_accounting.rdp import RdpAccountant

    return {"pld": PLDAccountant, "rdp": lambda relation: RdpAccountant(None, relation)}

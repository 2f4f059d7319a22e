"""Privacy arithmetic without training: what steps cost, what a budget buys, how it is spent.

Rows of plain numbers; workflow/scripts/privacy.py prints them. The unit is one example, added or
removed; every step draws a fresh Poisson batch.
"""

import math
import time
from collections.abc import Callable, Iterable
from functools import partial
from itertools import product
from typing import Any

import dp_accounting

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.clients.participation import local_steps
from dpfl.contracts.schedule import Budget, Work
from dpfl.plugins import declarations
from dpfl.privacy import accounting, events
from dpfl.privacy.accounting import CERTIFICATE
from dpfl.privacy.cache import NoiseCache, fits
from dpfl.privacy.priceable import LARGEST, MOST_STEPS, require_priceable, require_reachable
from dpfl.privacy.priced_schedule import priced_schedule

ACCOUNTANTS = "privacy/accountants"
BUDGETS = "privacy/budgets"
MOST_ROUNDS = 10_000  # of a table with a row for each

Row = dict[str, Any]


def accountants() -> list[str]:
    """Return the names of all accountants, the one that certifies first."""
    return sorted(plugins.names(ACCOUNTANTS), key=lambda name: (name != CERTIFICATE, name))


def steps_of(examples: int, batch_size: int, epochs: float, delta: float) -> tuple[float, int]:
    """Return the sample rate and the steps of training so long, as a client of a federation does.

    Raises UserError unless batch_size <= examples, epochs > 0 and delta < 1/examples.
    """
    events.require("epochs", epochs, 0 < epochs <= MOST_STEPS, f"in (0, {MOST_STEPS:,}]")
    steps = local_steps(examples, batch_size, local_epochs=epochs)
    events.require("delta", delta, delta * examples < 1, f"< 1/{examples} (examples)")
    return batch_size / examples, steps


def epsilons(
    sample_rate: float,
    noise_multiplier: float,
    steps: int,
    delta: float,
    names: Iterable[str] | None = None,
) -> list[Row]:
    """Return a row per accountant: accountant, epsilon, CPU seconds, and a reason without epsilon.

    Raises UserError for an argument out of range and an unknown accountant.
    """
    price = partial(accounting.epsilon, sample_rate, noise_multiplier, steps, delta)
    chosen = list(names or accountants())
    for name in chosen:
        plugins.load(ACCOUNTANTS, name)  # importing it is no part of its seconds
    require_priceable(sample_rate, noise_multiplier, steps, delta)
    rows = []
    for name in chosen:
        start, found, reason = time.process_time(), None, None
        try:
            found = price(name)
        except UserError as error:
            event = events.poisson_gaussian(sample_rate, noise_multiplier, steps)
            reason = f"not applicable: {str(error).replace(str(event), 'these steps')}"
        seconds = time.process_time() - start
        rows.append({"accountant": name, "epsilon": found, "seconds": seconds, "reason": reason})
    return rows


def noise_table(
    sample_rates: list[float],
    step_counts: list[int],
    targets: list[float],
    delta: float,
    accountant: str,
    cache: NoiseCache,
) -> list[Row]:
    """Return a row for every combination: its noise, and the epsilon of that on the fine grid.

    Raises UserError for an argument out of range or a target that the accountant cannot reach.
    """
    cells = list(product(sample_rates, step_counts, targets))
    for sample_rate, steps, target in cells:
        require_reachable(sample_rate, steps, target, delta)
    plugins.path_of(ACCOUNTANTS, accountant)
    return [_noise(*cell, delta, accountant, cache) for cell in cells]


def rounds(
    sample_rate: float,
    noise_multiplier: float,
    epsilon: float,
    delta: float,
    steps_per_round: int = 1,
) -> list[Row]:
    """Return two rows, rounds, steps and epsilon: the most within the budget, and one more.

    Raises UserError for an argument out of range.
    """
    events.require("noise_multiplier", noise_multiplier, noise_multiplier > 0, "> 0")
    events.require("epsilon", epsilon, 0 < epsilon <= LARGEST, f"in (0, {LARGEST:g}]")
    events.require_count("steps_per_round", steps_per_round, 1)
    require_priceable(sample_rate, noise_multiplier, steps_per_round, delta)

    def price(count: int) -> float:
        return accounting.epsilon(sample_rate, noise_multiplier, steps_per_round * count, delta)

    def draft(count: int) -> float:
        segments = ((noise_multiplier, steps_per_round * count),)
        return accounting.epsilon_of_run(CERTIFICATE, sample_rate, segments, (), delta, draft=True)

    limit = MOST_STEPS // steps_per_round
    spread = math.expm1(min(noise_multiplier**-2, 700))
    mu = 1 / dp_accounting.get_sigma_gaussian(epsilon, delta)  # of the limit of many steps
    guess = min((mu / sample_rate) ** 2 / spread / steps_per_round, limit)
    near = _most(draft, epsilon, max(1, round(guess)), limit)
    most = _most(price, epsilon, max(1, near), limit)
    return [
        {
            "rounds": count,
            "steps": steps_per_round * count,
            "epsilon": price(count),
            "within_budget": count == most,
        }
        for count in (most, most + 1)
    ]


def schedule(
    work: Work, budget: Budget, strategy: str, settings: dict[str, str], cache: NoiseCache
) -> tuple[list[Row], dict[str, Any] | None]:
    """Return a row per round: steps, noise multiplier, epsilon spent; and the filter, if any.

    Where a filter decides the noise while training, there is only the row of the first round.
    Raises UserError for an argument out of range and a setting that the strategy does not take.
    """
    events.require_count("rounds", work.rounds, 1)
    events.require("rounds", work.rounds, work.rounds <= MOST_ROUNDS, f"<= {MOST_ROUNDS:,}")
    events.require_count("steps_per_round", work.steps_per_round, 1)
    require_reachable(work.sample_rate, work.steps, budget.epsilon, budget.delta)
    plugins.path_of(ACCOUNTANTS, budget.accountant)
    own = _own_settings(strategy, settings)
    given = own.get("noise_multiplier", math.nan)
    if given > 0:
        require_priceable(work.sample_rate, given, work.steps, budget.delta)
    plan, curve = priced_schedule(strategy, own, work, budget, cache)
    if plan.filter:
        first = {"round": 1, "steps": work.steps_per_round, "epsilon": None}
        return [first | {"noise_multiplier": plan.noise_multipliers[0]}], plan.filter
    rounds_of_plan = enumerate(zip(plan.segments(work), curve, strict=True), start=1)
    return [
        {"round": number, "steps": steps, "noise_multiplier": z if steps else None, "epsilon": cost}
        for number, ((z, steps), cost) in rounds_of_plan
    ], None


def _noise(
    sample_rate: float, steps: int, target: float, delta: float, accountant: str, cache: NoiseCache
) -> Row:
    """Price one combination."""
    noise = cache.noise_multiplier(sample_rate, steps, target, delta, accountant)
    found = accounting.epsilon(sample_rate, noise, steps, delta, accountant)
    if not fits(found, target):
        raise UserError(f"epsilon is {target}: {accountant} never gets as low at delta {delta}")
    return {
        "sample_rate": sample_rate,
        "steps": steps,
        "target": target,
        "noise_multiplier": noise,
        "epsilon": found,
        "certified": accounting.epsilon(sample_rate, noise, steps, delta, CERTIFICATE),
    }


def _most(price: Callable[[int], float], budget: float, count: int, limit: int) -> int:
    """Return the largest count whose price fits, by secants in a bracket from a first guess."""
    low, high, attempt = 0, None, 0
    while high != low + 1:
        cost, attempt = price(count), attempt + 1
        low, high = (count, high) if cost <= budget else (low, count)
        if low >= limit:
            raise UserError(f"epsilon is {budget}, which buys more than {MOST_STEPS:,} steps")
        factor = min(4.0, max(0.25, (budget / cost) ** 1.5)) if cost else 4.0
        aimed = round(count * factor)
        if attempt % 4 == 0:  # should the secants creep
            aimed = 2 * low if high is None else (low + high) // 2
        count = max(low + 1, min(aimed, limit if high is None else high - 1))
    return low


def _own_settings(strategy: str, settings: dict[str, str]) -> dict[str, Any]:
    """Return a strategy's settings as its signature wants them."""
    for name, near in declarations.wrong_settings(BUDGETS, strategy, settings):
        if near:
            raise UserError(f"no setting {name!r} of {strategy}; {near}")
        raise UserError(f"setting {name!r} of {strategy} is missing; give --setting {name}=...")
    kinds = plugins.load(BUDGETS, strategy).schedule.__annotations__
    return {name: _typed(name, text, kinds[name]) for name, text in settings.items()}


def _typed(name: str, text: str, kind: Any) -> Any:
    """Return a setting's text as the number that it must be, or as it is."""
    if kind not in (int, float):
        return text
    try:
        return kind(text)
    except ValueError as error:
        raise UserError(f"setting {name} is {text!r}, expected a number") from error

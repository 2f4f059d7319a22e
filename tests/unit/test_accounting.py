"""The accountant against closed forms, independent accountants and printed numbers."""

import math
from itertools import pairwise

import pytest
from closed_forms import gaussian_delta, sampled_delta
from dp_accounting import (
    GaussianDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
    get_sigma_gaussian,
)
from dp_accounting.pld import PLDAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused, refuses

from dpfl.contracts.schedule import Budget, Work
from dpfl.privacy import events, search
from dpfl.privacy.accountants import pld
from dpfl.privacy.accounting import epsilon, spent
from dpfl.privacy.search import affordable_steps, noise_multiplier

DELTA = 1e-5

# methods: 20 rounds of one local epoch over K clients of 60,000 / K examples, batches of 64
TABLE = [
    (1, 18740, {2: 0.672, 4: 0.566, 8: 0.479}),
    (5, 3740, {2: 0.945, 4: 0.720, 8: 0.582}),
    (10, 1860, {2: 1.173, 4: 0.834, 8: 0.650}),
    (50, 360, {2: 2.213, 4: 1.354, 8: 0.923}),
    (100, 180, {2: 3.042, 4: 1.782, 8: 1.140}),
]


@pytest.mark.parametrize(("z", "steps"), [(0.7, 1), (2.0, 1), (5.0, 30), (48.448, 500)])
def test_full_batches_are_the_exact_gaussian(z, steps):
    eps, mu = epsilon(1.0, z, steps, DELTA), math.sqrt(steps) / z
    assert gaussian_delta(eps + 1e-9, mu) <= DELTA < gaussian_delta(eps - 2e-4, mu)


@pytest.mark.parametrize(("q", "z"), [(0.01, 0.4), (0.1, 0.8), (0.5, 1.0), (0.9, 3.0)])
def test_one_sampled_step_is_exact(q, z):
    eps = epsilon(q, z, 1, DELTA)
    assert sampled_delta(eps + 1e-9, 1 / z, q) <= DELTA < sampled_delta(eps - 2e-4, 1 / z, q)


@pytest.mark.parametrize(("epochs", "printed"), [(25, 1.470), (50, 2.135)])
def test_printed_epsilons_of_sampled_batches(epochs, printed):
    """Printed from the coarser grid, which overstates the epsilon by 0.4 % here."""
    event = events.poisson_gaussian(250 / 60_000, 1.1, epochs * 240)
    draft, fine = pld.epsilon(event, DELTA, draft=True), pld.epsilon(event, DELTA)
    assert draft == pytest.approx(printed, abs=5e-4)
    assert 0.995 * draft < fine < draft


@pytest.mark.parametrize(("clients", "steps", "row"), TABLE)
def test_printed_noise_multipliers(clients, steps, row):
    """The grid that the table was searched on finds every printed digit."""
    for target, printed in row.items():
        prices = [
            pld.epsilon(events.poisson_gaussian(64 * clients / 60_000, z, steps), DELTA, draft=True)
            for z in (printed - 5e-4, printed + 5e-4)
        ]
        assert prices[1] <= target <= prices[0]


def test_a_printed_noise_multiplier_is_found():
    """Within one unit of the third decimal: the search ends on the finer grid."""
    assert noise_multiplier(640 / 60_000, 1860, 2, DELTA) == pytest.approx(1.173, abs=1e-3)


@pytest.mark.parametrize(("q", "z", "steps"), [(0.01, 1.0, 500), (0.1, 2.0, 50)])
def test_accountants_agree(q, z, steps):
    exact, rdp, prv = (epsilon(q, z, steps, DELTA, name) for name in ("pld", "rdp", "prv"))
    assert exact < rdp < 1.4 * exact
    assert prv == pytest.approx(exact, abs=0.02)  # Opacus adds its error bound of 0.01


@pytest.mark.parametrize(("q", "target"), [(1.0, 1e-6), (1.0, 900.0), (5e-4, 50.0), (0.2, 1e-3)])
def test_noise_of_one_step_at_extreme_budgets(q, target):
    """One step's delta is q times that of a Gaussian at log(1 + (e^epsilon - 1)/q)."""
    whole = target + math.log(-math.expm1(-target) / q + math.exp(-target))
    exact = get_sigma_gaussian(whole, DELTA / q)
    assert exact <= noise_multiplier(q, 1, target, DELTA) <= 1.001 * exact


@pytest.mark.parametrize(("q", "steps", "target"), [(0.001, 10_000, 1e-4), (0.01, 1000, 1e-3)])
def test_noise_of_many_steps_at_tiny_budgets(q, steps, target):
    """The central limit: a Gaussian of q sqrt(T (exp(1/z^2) - 1)), one on one with z if large."""
    limit = q * math.sqrt(steps) * get_sigma_gaussian(target, DELTA)
    assert noise_multiplier(q, steps, target, DELTA) == pytest.approx(limit, rel=0.06)


@pytest.mark.parametrize("accountant", ["rdp", "prv"])
def test_calibrates_with_other_accountants(accountant):
    z = noise_multiplier(0.05, 60, 2.0, DELTA, accountant)
    assert 2 * (1 - 1e-3) <= epsilon(0.05, z, 60, DELTA, accountant) <= 2
    assert epsilon(0.05, z, 60, DELTA) <= 2


@settings(max_examples=10, deadline=None)
@given(
    q=st.floats(0.005, 1),
    steps=st.integers(1, 200),
    target=st.floats(0.2, 3),
    delta=st.sampled_from([1e-6, 1e-5, 1e-3]),
)
def test_calibrated_noise_is_never_above_the_target(q, steps, target, delta):
    z = noise_multiplier(q, steps, target, delta)
    assert (1 - 1e-3) * target <= epsilon(q, z, steps, delta) <= target


@pytest.mark.parametrize(("q", "steps", "target"), [(1e-3, 1000, 0.05), (0.9, 1, 12.0)])
def test_calibrates_where_the_coarse_grid_misleads(q, steps, target):
    z = noise_multiplier(q, steps, target, DELTA)
    assert (1 - 1e-3) * target <= epsilon(q, z, steps, DELTA) <= target


@pytest.mark.parametrize("jump", [-0.3, 0.1, 0.217, 0.5, 0.8])
def test_search_ends_on_the_safe_side_of_a_jump(jump):
    def price(log_z: float, draft: bool = False) -> float:
        return math.exp(-log_z) * (1.5 if log_z < jump else 0.5)

    target = math.exp(-jump)
    log_z = search._search(price, target, start=0.0)
    assert price(log_z) <= target
    assert jump <= log_z <= jump + 1e-4


@settings(max_examples=6, deadline=None)
@given(
    q=st.floats(0.01, 0.5), z=st.floats(1.5, 4), steps=st.integers(1, 40), more=st.floats(1.1, 2)
)
def test_epsilon_is_monotone(q, z, steps, more):
    def price(q, z, steps, delta=DELTA):
        return pld.epsilon(events.poisson_gaussian(q, z, steps), delta, draft=True)

    eps = price(q, z, steps)
    assert price(q, z * more, steps) < eps < price(q * more, z, steps)
    assert price(q, z, steps, DELTA * more) < eps < price(q, z, steps + 1)


def test_no_step_is_free_and_no_noise_is_not():
    assert epsilon(0.1, 1.0, 0, DELTA) == epsilon(0.1, 0.0, 0, DELTA) == 0
    assert epsilon(0.1, 0.0, 1, DELTA) == math.inf


@pytest.mark.parametrize("q", [0.05, 1.0])
def test_curve_is_the_epsilon_of_every_count(q):
    counts = [0, 7, 14, 14, 21, 25]
    steps = [(3.0, b - a) for a, b in pairwise([0, *counts])]
    curve = spent(q, steps, DELTA)
    assert curve == sorted(curve)
    assert curve[-1] == epsilon(q, 3.0, counts[-1], DELTA)
    assert curve == pytest.approx([epsilon(q, 3.0, n, DELTA) for n in counts], abs=1e-4)


def test_long_curve_bounds_epsilon_from_above():
    curve = spent(0.05, [(2.0, 1)] * 250, DELTA)
    assert curve == sorted(curve)
    for steps in (1, 125, 250):
        exact = epsilon(0.05, 2.0, steps, DELTA)
        assert exact <= curve[steps - 1] <= 1.01 * exact


def test_curves_without_steps_or_noise():
    assert spent(0.05, [], DELTA) == []
    assert spent(0.05, [(2.0, 0), (2.0, 0)], DELTA) == [0, 0]
    refuses(r"noise_multiplier is 0\.0, must be > 0", spent, 0.05, [(0.0, 3)], DELTA)


def test_curve_of_changing_noise_is_dp_accountings_own():
    """Against the library's accountant on the same composed event, in any order."""
    noise = [1.5, 2.5, 4.0]
    curve = spent(0.05, [(z, 4) for z in noise], DELTA)
    for last in range(1, 4):
        accountant = PLDAccountant()
        for z in noise[:last]:
            step = PoissonSampledDpEvent(0.05, GaussianDpEvent(z))
            accountant.compose(SelfComposedDpEvent(step, 4))
        assert curve[last - 1] == pytest.approx(accountant.get_epsilon(DELTA), abs=2e-4)


def affordable(q, z, budget, limit):
    return affordable_steps(Work(q, 1, limit), ((z, limit),), Budget(budget, DELTA))


@pytest.mark.parametrize(("q", "z", "budget"), [(0.05, 2.0, 1.0), (0.2, 2.0, 2.0), (1.0, 9.0, 1.0)])
def test_affordable_steps_are_the_last_that_fit(q, z, budget):
    steps = affordable(q, z, budget, 200)
    assert 0 < steps < 200
    assert epsilon(q, z, steps, DELTA) <= budget < epsilon(q, z, steps + 1, DELTA)


def test_affordable_steps_at_their_ends():
    one_step = epsilon(0.1, 1.0, 1, DELTA)
    assert affordable(0.1, 1.0, 0.99 * one_step, 50) == 0
    assert affordable(0.1, 1.0, one_step, 50) >= 1
    assert affordable(0.1, 1.0, 100.0, 50) == 50
    assert affordable(0.1, 1.0, 100.0, 0) == 0


test_mistakes_are_named_with_their_bound = refused(
    (lambda: epsilon(0.0, 1.0, 1, DELTA), r"sample_rate is 0.0, must be in \(0, 1\]"),
    (lambda: epsilon(1.5, 1.0, 1, DELTA), r"sample_rate is 1.5"),
    (lambda: epsilon(0.1, -1.0, 1, DELTA), r"noise_multiplier is -1.0, must be >= 0"),
    (lambda: epsilon(0.1, math.nan, 1, DELTA), r"noise_multiplier is nan"),
    (lambda: epsilon(0.1, 1.0, 1.5, DELTA), r"steps is 1.5, must be a whole number"),
    (lambda: epsilon(0.1, 1.0, 1, 1.0), r"delta is 1.0, must be in \(0, 1\)"),
    (lambda: epsilon(0.1, 1.0, 1, DELTA, "rpd"), r"'rpd'.*did you mean 'rdp'"),
    (lambda: noise_multiplier(0.1, 0, 1.0, DELTA), r"steps is 0"),
    (lambda: noise_multiplier(0.1, 1, 0.0, DELTA), r"epsilon is 0.0, must be > 0"),
    (lambda: noise_multiplier(0.1, 1, math.inf, DELTA), r"epsilon is inf"),
    (lambda: spent(0.1, [(1.0, -2)], DELTA), r"steps is -2, must be a whole number >= 0"),
    (lambda: affordable(0.1, 0.0, 1.0, 5), r"noise_multiplier is 0.0"),
    (lambda: events.poisson_gaussian(0.1, 0.0, 1), r"noise_multiplier is 0.0, must be > 0"),
)

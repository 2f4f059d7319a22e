"""Budget strategies: shares fixed in advance, and the filter of the adaptive one."""

import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import torch
from dp_accounting.rdp import RdpAccountant
from hypothesis import given, settings
from hypothesis import strategies as st
from opacus.accountants.analysis.rdp import compute_rdp
from refusals import refuses

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.contracts.schedule import Budget, Work
from dpfl.privacy import accounting, events
from dpfl.privacy.accounting import epsilon_of, spent
from dpfl.privacy.calibration import Settings, calibrate
from dpfl.privacy.filter import Filter

DELTA = 1e-5
FIXED = ["decay", "growth"]
pytestmark = pytest.mark.usefixtures("coarse")
RULE = {"save": 0.5, "spend": 2.0, "agreement": 0.0}


def schedule(name, work, budget, **own):
    return plugins.load("privacy/budgets", name).schedule(work, budget, **own)


def test_a_label_gives_every_step_the_noise_of_the_whole_epsilon():
    found = schedule("label", Work(0.1, 3, 4), Budget(0.5, DELTA))
    sigma = math.sqrt(2 * math.log(1.25 / DELTA)) / 0.5  # Dwork and Roth 2014, theorem A.1
    assert found.noise_multipliers == pytest.approx([sigma] * 4)
    assert found.paid_steps == 12


@pytest.mark.parametrize("theorem", ["basic", "advanced"])
def test_shares_by_a_theorem_make_the_whole_by_it_and_cost_less_by_an_accountant(theorem):
    work, budget = Work(0.02, 3, 60), Budget(2.0, DELTA)
    found = schedule("by-theorem", work, budget, theorem=theorem)
    z = found.noise_multipliers[0]
    assert found.paid_steps == work.steps
    assert found.noise_multipliers == (z,) * 60
    own = DELTA / 60 if theorem == "basic" else DELTA / 120
    share = epsilon_of(events.varying(0.02, [(z, 3)]), own)
    if theorem == "basic":
        whole = 60 * share
    else:  # Dwork, Rothblum and Vadhan 2010
        first = share * math.sqrt(2 * 60 * math.log(2 / DELTA))
        whole = first + 60 * share * (math.exp(share) - 1)
    assert 1.98 <= whole <= 2.0
    assert spent(0.02, found.segments(work), DELTA)[-1] < 0.5


def test_a_theorem_shares_nothing_with_what_is_released_before():
    with pytest.raises(UserError, match="released"):
        schedule("by-theorem", Work(0.1, 2, 4, (8.0,)), Budget(2.0, DELTA), theorem="basic")


@cache
def adaptive(epsilon=2.0, rounds=6, **changed):
    return schedule("adaptive", Work(0.1, 3, rounds), Budget(epsilon, DELTA), **{**RULE, **changed})


def ledger_of(found, rounds, steps=3):
    record = {"client": 0, "steps_per_round": steps, "rounds": list(range(rounds))}
    return Filter({"clients": [{**record, "filter": found.filter}]})


@settings(max_examples=8, deadline=None)
@given(
    name=st.sampled_from(FIXED),
    shape=st.sampled_from(["geometric", "linear"]),
    ratio=st.floats(1, 20),
    rounds=st.integers(1, 5),
    epsilon=st.floats(0.3, 10),
)
def test_fixed_shares_meet_the_budget_at_most_and_within_a_percent(
    name, shape, ratio, rounds, epsilon
):
    work = Work(0.1, 2, rounds)
    found = schedule(name, work, Budget(epsilon, DELTA), shape=shape, ratio=ratio)
    segments = [(z, 2) for z in found.noise_multipliers]
    assert found.paid_steps == work.steps
    assert 0.99 * epsilon <= epsilon_of(events.varying(0.1, segments), DELTA) <= epsilon
    assert spent(0.1, segments, DELTA)[-1] <= epsilon
    weights = [1 / z**2 for z in found.noise_multipliers]
    assert weights == sorted(weights, reverse=name == "decay")
    assert max(weights) / min(weights) == pytest.approx(ratio if rounds > 1 else 1)


def test_shapes_of_the_shares():
    for shape, gaps in (("geometric", "ratio"), ("linear", "difference")):
        found = schedule("decay", Work(0.1, 2, 5), Budget(2.0, DELTA), shape=shape, ratio=16)
        weights = [1 / z**2 for z in found.noise_multipliers]
        steps = [a / b if gaps == "ratio" else a - b for a, b in pairwise(weights)]
        assert steps == pytest.approx([steps[0]] * 4)
        assert weights == sorted(weights, reverse=True)


@pytest.mark.parametrize(
    "name, own, message",
    [
        ("decay", {"shape": "linear", "ratio": 0.5}, r"ratio is 0.5; it must be .* \[1, 1000000\]"),
        ("growth", {"shape": "cosine", "ratio": 2}, "shape is 'cosine'; it must be geometric"),
        ("adaptive", {**RULE, "save": 0}, r"save is 0; it must be a number in \(0, 1\]"),
        ("adaptive", {**RULE, "spend": 0.5}, "spend is 0.5; it must be a finite number"),
        ("adaptive", {**RULE, "agreement": 2}, "agreement is 2; it must be a number in"),
    ],
)
def test_settings_out_of_range_are_named(name, own, message):
    refuses(message, lambda: schedule(name, Work(0.1, 2, 4), Budget(2.0, DELTA), **own))


def test_the_filter_prices_a_step_as_opacus_does():
    rule = adaptive().filter
    for noise, cost in rule["levels"][:: len(rule["levels"]) // 6]:
        (exact,) = compute_rdp(q=0.1, noise_multiplier=noise, steps=1, orders=[rule["order"]])
        assert cost == pytest.approx(float(exact), rel=1e-6)


def test_the_bound_of_the_filter_is_the_budget_at_its_order():
    """By Proposition 12 of Canonne, Kamath and Steinke (2020, arXiv 2004.00010)."""
    rule = adaptive(epsilon=2.0).filter
    a = rule["order"]
    offset = math.log1p(-1 / a) - math.log(DELTA * a) / (a - 1)
    assert rule["offset"] == pytest.approx(offset)
    assert rule["budget"] == pytest.approx(2.0 - offset) and rule["budget"] < 2.0 - offset


@settings(max_examples=25, deadline=None)
@given(
    rounds=st.sampled_from([1, 2, 6]),
    epsilon=st.sampled_from([0.5, 8.0]),
    seed=st.integers(0, 10**6),
    spend=st.sampled_from([1.0, 6.0]),
)
def test_no_run_of_updates_takes_the_adaptive_budget_beyond_its_epsilon(
    rounds, epsilon, seed, spend
):
    """Whatever was released, an independent accountant finds the realised noise within budget."""
    found = adaptive(epsilon, rounds, spend=spend)
    ledger, generator = ledger_of(found, rounds), torch.Generator().manual_seed(seed)
    accountant = RdpAccountant(orders=[found.filter["order"]])
    for _ in range(2 * rounds):  # twice as many rounds as were planned
        paid, noise = ledger.affordable(0, 3), ledger.noise_multiplier(0)
        for _ in range(paid):
            ledger.charge(0, 1, noise)
        if paid:
            accountant.compose(events.poisson_gaussian(0.1, noise, paid))
        if paid < 3:
            refuses("client 0 would grow by", ledger.charge, 0, 1, noise)
        ledger.observe(torch.randn(5, generator=generator))
    assert accountant.get_epsilon(DELTA) <= epsilon
    assert ledger.epsilon_spent() == pytest.approx(accountant.get_epsilon(DELTA), rel=1e-6)


@pytest.mark.parametrize("agree", [True, False])
def test_progress_saves_and_stagnation_spends(agree):
    ledger, update = ledger_of(adaptive(rounds=4), 4), torch.ones(3)
    first = ledger.noise_multiplier(0)
    ledger.charge(0, 3, first)
    ledger.observe(update)
    assert ledger.noise_multiplier(0) == pytest.approx(first, rel=0.05)  # one update tells nothing
    ledger.observe(update if agree else -update)
    second = ledger.noise_multiplier(0)
    assert second > 1.05 * first if agree else second < 0.95 * first


def test_the_last_round_gets_what_is_left():
    ledger, update = ledger_of(adaptive(rounds=4), 4), torch.ones(3)
    for _ in range(4):
        ledger.charge(0, 3, ledger.noise_multiplier(0))
        ledger.observe(update)
    assert 0.97 * 2.0 < ledger.epsilon_spent() <= 2.0


def test_a_level_that_was_never_priced_is_refused():
    with pytest.raises(UserError, match="must be a level that was priced"):
        ledger_of(adaptive(), 6).charge(0, 1, 1.2345)


def test_the_filter_resumes_from_its_state():
    found = adaptive(rounds=6)
    ledger, resumed = ledger_of(found, 6), ledger_of(found, 6)
    for sign in (1, 1, -1):
        ledger.charge(0, 3, ledger.noise_multiplier(0))
        ledger.observe(sign * torch.ones(3))
    resumed.restore(ledger.state())
    for each in (ledger, resumed):
        each.observe(torch.ones(3))
    assert resumed.noise_multiplier(0) == ledger.noise_multiplier(0)
    assert resumed.epsilon_spent() == ledger.epsilon_spent() > 0


ASKED = {
    "epsilon": 2.0,
    "delta": 1e-3,
    "accountant": "pld",
    "federation": {"batch_size": 10, "rounds": 7, "clients_per_round": 5, "local_steps": 2},
    "participation_key": ["x"],
}


def test_a_calibration_says_which_accountant_certifies_it():
    one = {"federation": {**ASKED["federation"], "rounds": 3, "clients_per_round": None}}
    alone = np.zeros(100, dtype=np.int32)
    own = {"strategy": "adaptive", **RULE}
    found = calibrate(Settings.read({**ASKED, **one, "budget": own}), alone)
    assert found["accountant"] == "rdp-filter" and found["eps_certified"] == 2.0
    plain = {"strategy": "decay", "shape": "linear", "ratio": 2}
    found = calibrate(Settings.read({**ASKED, **one, "budget": plain}), alone)
    assert found["accountant"] == "pld" and found["eps_certified"] <= 2.0


def test_client_level_plans_one_step_of_the_server_a_round():
    budget = {"strategy": "constant", "noise_multiplier": 5.0}
    asked = {**ASKED, "unit": "client", "budget": budget}
    assignment = np.repeat(np.arange(50, dtype=np.int32), 3)
    found = calibrate(Settings.read(asked), assignment)
    (server,) = found["clients"]
    assert found["unit"] == "client" and server["client"] == "server"
    assert (server["sample_rate"], server["steps"], server["paid_steps"]) == (0.1, 7, 7)
    assert server["epsilon"] == accounting.epsilon(0.1, 5.0, 7, 1e-3)
    with pytest.raises(UserError, match=r"delta is 0.02, must be < 1/50 \(clients\)"):
        calibrate(Settings.read({**asked, "delta": 0.02}), assignment)

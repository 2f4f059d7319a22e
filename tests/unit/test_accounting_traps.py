"""Known traps of the accounting libraries, and that no price of ours falls into one.

Traps tested elsewhere: shuffling enters no calibration (test_budget_ledger), an empty batch
releases its noise and counts as a step (test_federated).
"""

import math

import pytest
from dp_accounting import (
    ComposedDpEvent,
    GaussianDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
    get_epsilon_gaussian,
)
from dp_accounting.pld import PLDAccountant
from dp_accounting.pld import privacy_loss_distribution as pld
from dp_accounting.rdp import RdpAccountant
from refusals import refuses

from dpfl import plugins
from dpfl.privacy.accounting import epsilon, epsilon_of
from dpfl.privacy.events import poisson_gaussian

DELTA = 1e-5
ACCOUNTANTS = plugins.names("privacy/accountants")
SAMPLED = [name for name in ACCOUNTANTS if name != "gaussian"]
RATE, NOISE, STEPS = 0.01, 0.65, 1000


def price(name: str, sample_rate: float, noise: float, steps: int) -> float:
    return epsilon(sample_rate, noise, steps, DELTA, name)


@pytest.fixture(scope="module")
def least() -> float:
    """A lower bound on the epsilon of STEPS sampled steps: losses rounded down, not up."""
    step = pld.from_gaussian_mechanism(
        NOISE,
        sampling_prob=RATE,
        pessimistic_estimate=False,
        use_connect_dots=False,
        value_discretization_interval=1e-4,
    )
    return step.self_compose(STEPS).get_epsilon_for_delta(DELTA)


@pytest.mark.parametrize("name", ACCOUNTANTS)
def test_every_price_is_of_an_example_added_or_removed(name):
    exact = get_epsilon_gaussian(5.0, DELTA)
    assert exact - 1e-6 < price(name, 1.0, 5.0, 1) < 0.7 * get_epsilon_gaussian(5.0 / 2, DELTA)


@pytest.mark.parametrize("name", ["pld", "rdp", "classic-rdp"])
def test_separately_sampled_releases_of_one_batch_would_be_under_reported(name):
    """Two sums of one batch, each with noise z, are one Gaussian with z / sqrt 2."""
    joint = price(name, 0.01, 1.0 / math.sqrt(2), 100)
    separate = price(name, 0.01, 1.0, 2 * 100)
    assert separate < 0.9 * joint


def test_the_library_agrees_on_the_joint_price():
    pair = ComposedDpEvent([GaussianDpEvent(1.0), GaussianDpEvent(1.0)])
    event = SelfComposedDpEvent(PoissonSampledDpEvent(0.01, pair), 500)
    theirs = RdpAccountant().compose(event).get_epsilon(DELTA)
    assert theirs == pytest.approx(price("rdp", 0.01, 1.0 / math.sqrt(2), 500))


@pytest.mark.parametrize(("name", "told"), [("pld", "joint multiplier"), ("prv", "PRV cannot")])
def test_an_event_of_several_sampled_releases_of_one_batch_is_refused(name, told):
    """Priced jointly or not at all."""
    pair = ComposedDpEvent([GaussianDpEvent(1.0), GaussianDpEvent(1.0)])
    event = PoissonSampledDpEvent(0.01, pair)
    assert not PLDAccountant().supports(event)
    refuses(told, lambda: epsilon_of(SelfComposedDpEvent(event, 500), DELTA, name))


@pytest.mark.parametrize("name", SAMPLED)
def test_no_accountant_here_under_reports_there(name, least):
    assert price(name, RATE, NOISE, STEPS) >= least


def test_orders_that_do_not_converge_are_dropped():
    """The library prices them at infinity, so the minimum over orders stays an upper bound."""
    event = poisson_gaussian(0.5, 2.0, 10)
    assert RdpAccountant([1.5]).compose(event).get_epsilon(DELTA) == math.inf
    truth = price("pld", 0.5, 2.0, 10)
    for name in ("rdp", "classic-rdp"):
        assert truth < price(name, 0.5, 2.0, 10) < 2 * truth


def test_runs_that_share_their_batches_do_not_compose():
    """J sums of one batch, each with noise z, are one Gaussian at the multiplier z / sqrt(J)."""
    q, z, steps, runs = 64 / 6000, 1.173, 1860, 9
    together = epsilon(q, z / runs**0.5, steps, runs * DELTA)
    assert together > 1.5 * runs * epsilon(q, z, steps, DELTA)

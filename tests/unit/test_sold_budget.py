"""The analysis of what tramer2021 calls epsilon 3, beside formulas written down again."""

import math

import pytest
from closed_forms import gaussian_delta
from dp_accounting.pld import privacy_loss_distribution as pld
from test_privacy_loss import classic

from dpfl.papers import folder
from dpfl.plugins import analyses

DELTA = 1e-5
SETTINGS = folder.load("tramer2021").content["analyses"]["budget"]["settings"]
ANALYSIS = analyses.load("tramer2021", "budget")


@pytest.fixture(scope="module")
def table():
    return ANALYSIS.tables(SETTINGS)[""]


def row_of(table, dataset):
    (found,) = table[(table["dataset"] == dataset) & table["model"].str.endswith("linear")].to_dict(
        "records"
    )
    return found


def test_the_epochs_make_the_claim_by_the_authors_accounting(table):
    """Their orders and conversion, rdp + log(1 / delta) / (order - 1), with the statistics."""
    row = row_of(table, "cifar10")
    steps, statistics = 50000 // 8192 * row["epochs"], 2 / (2 * 8**2)
    found = classic(8192 / 50000, 5.67, steps, also=statistics)
    assert row["classic_rdp"] == pytest.approx(found, rel=1e-6)
    assert abs(found - 3) < 0.01
    assert row["epochs"] == 60


def test_by_pld_it_is_a_fifth_less(table):
    row = row_of(table, "fashion-mnist")
    one = pld.from_gaussian_mechanism(
        4.05, sampling_prob=8192 / 60000, value_discretization_interval=1e-4
    )
    found = one.self_compose(60000 // 8192 * row["epochs"]).get_epsilon_for_delta(DELTA)
    assert row["pld"] == pytest.approx(found, rel=1e-6)
    assert row_of(table, "cifar10")["pld"] == pytest.approx(2.38, abs=0.005)
    assert (table["pld"] < 2.4).all() and (table["classic_rdp"].round(1) == 3.0).all()


def test_of_shuffled_batches_an_epoch_is_one_gaussian(table):
    row = row_of(table, "mnist")
    mu = math.sqrt(row["epochs"] / 3.04**2 + 2 / 8**2)
    assert gaussian_delta(row["shuffled"], mu) == pytest.approx(DELTA, rel=1e-4)

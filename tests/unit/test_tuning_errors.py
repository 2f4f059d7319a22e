"""The shipped rule of tuning seldom makes two equally good methods look different."""

import numpy as np
import pytest
import tuning_simulation as simulation


@pytest.fixture(scope="module")
def simulated():
    return {rule: simulation.errors(rule) for rule in simulation.RULES}


@pytest.mark.parametrize("pairing", simulation.DIFFERENCE_SD)
def test_two_equal_methods_are_seldom_told_apart_by_more_than_half_the_margin(simulated, pairing):
    for rule in (simulation.SHIPPED, simulation.RULES[-1]):
        assert simulated[rule][f"holds, {pairing}"] <= 0.05


def test_noisier_trials_and_steeper_curves_leave_false_claims_rare(monkeypatch):
    """Trials as on Fashion-MNIST, and curves that fall off above the peak, where training fails."""
    rule = simulation.RULES[-1]

    def falling(cls, rng, low, high):
        left, right = rng.uniform([0.3, 3], [0.8, 20]) / np.log(simulation.AWAY) ** 2
        return cls(np.exp(rng.uniform(np.log(low), np.log(high))), left, right)

    for trial_sd, sd, cost in ((1.0, 0.48, (0.6, 1.4)), (0.8, 0.4, None)):
        monkeypatch.setattr(simulation, "TRIAL_SD", trial_sd)
        monkeypatch.setattr(simulation, "DIFFERENCE_SD", {"paired": sd})
        if cost:
            monkeypatch.setattr(simulation, "COST", cost)
        else:
            monkeypatch.setattr(simulation.Curve, "drawn", classmethod(falling))
        found = simulation.errors(rule, 1000)
        assert found["holds, paired"] <= 0.05 < found["above 0, paired"]


@pytest.mark.parametrize("pairing", simulation.DIFFERENCE_SD)
def test_a_coarse_grid_alone_would_fail(simulated, pairing):
    coarse, shipped = simulated[simulation.RULES[0]], simulated[simulation.SHIPPED]
    assert coarse[f"holds, {pairing}"] > 0.1
    assert coarse[f"above 0, {pairing}"] > 3 * shipped[f"above 0, {pairing}"]


def test_a_curve_loses_what_its_sides_say():
    curve = simulation.Curve(peak=1.0, left=1.0, right=2.0)
    assert curve.loss(1.0) == 0
    assert curve.loss(1 / 1.8) == pytest.approx(0.3455, abs=1e-3)  # ln(1.8)^2
    assert curve.loss(1.8) == pytest.approx(2 * 0.3455, abs=1e-3)


def test_the_documented_table_is_that_of_the_simulation(root, simulated):
    assert simulation.table(simulated) in (root / "docs" / "statistics.md").read_text(
        encoding="utf-8"
    )

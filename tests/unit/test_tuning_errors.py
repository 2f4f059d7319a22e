"""The shipped rule of tuning seldom makes two equally good methods look different."""

import pytest
import tuning_simulation as simulation


@pytest.fixture(scope="module")
def shipped():
    return simulation.errors(simulation.SHIPPED)


@pytest.mark.parametrize("pairing", simulation.DIFFERENCE_SD)
def test_two_equal_methods_are_seldom_told_apart_by_more_than_half_the_margin(shipped, pairing):
    assert shipped[f"replicated, {pairing}"] <= 0.05


@pytest.mark.parametrize("pairing", simulation.DIFFERENCE_SD)
def test_a_coarse_grid_alone_would_fail(shipped, pairing):
    coarse = simulation.errors(simulation.RULES[0])
    assert coarse[f"replicated, {pairing}"] > 0.1
    assert coarse[f"above 0, {pairing}"] > 3 * shipped[f"above 0, {pairing}"]


def test_a_curve_loses_what_its_sides_say():
    curve = simulation.Curve(peak=1.0, left=1.0, right=2.0)
    assert curve.loss(1.0) == 0
    assert curve.loss(1 / 1.8) == pytest.approx(0.3455, abs=1e-3)  # ln(1.8)^2
    assert curve.loss(1.8) == pytest.approx(2 * 0.3455, abs=1e-3)


def test_the_documented_table_is_that_of_the_simulation(root):
    assert simulation.table() in (root / "docs" / "tuning.md").read_text(encoding="utf-8")

"""What paying for the choice among trials would cost, against the theorems written out."""

import math

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from dpfl.privacy import selection

DELTA = 1e-5


def calibration(noise: list[float], steps: int = 1, rate: float = 1.0, **client) -> dict:
    """One client with the noise of its rounds."""
    planned = {"sample_rate": rate, "steps_per_round": steps, "noise_multipliers": noise}
    planned |= {"paid_steps": steps * len(noise)} | client
    return {"delta": DELTA, "clients": [planned]}


def converted(renyi, delta: float = DELTA) -> float:
    """Return the least epsilon of a curve of Renyi divergences (Canonne et al. 2020, prop. 12)."""

    def at(log_order):
        order = 1 + math.exp(log_order)
        return renyi(order) + math.log1p(-1 / order) - math.log(order * delta) / (order - 1)

    return minimize_scalar(at, bounds=(-3, 6), method="bounded").fun


def geometric(sigma: float, mean: float) -> float:
    """Theorem 2 of Papernot and Steinke with eta = 1, for Gaussians of divergence a / 2 sigma^2.

    eps + 2 (1 - 1/b) eps_b + 2 log(1/gamma) / b + log(mean) / (a - 1), gamma = 1 / mean.
    """
    orders = np.exp(np.linspace(-3, 6, 20_000)) + 1
    rest = 2 * ((1 - 1 / orders) * orders / (2 * sigma**2) + math.log(mean) / orders)
    least = rest.min()
    return converted(lambda a: a / (2 * sigma**2) + least + math.log(mean) / (a - 1))


def poisson(sigma: float, mean: float) -> float:
    """Theorem 6: eps + mean delta' + log(mean) / (a - 1), with (log(1 + 1/(a-1)), delta')-DP."""
    orders = np.exp(np.linspace(-3, 6, 2_000)) + 1

    def delta_at(epsilon):
        log = (orders - 1) * (orders / (2 * sigma**2) - epsilon + np.log1p(-1 / orders)) - np.log(
            orders
        )
        return min(1.0, math.exp(log.min()))

    def renyi(a):
        return (
            a / (2 * sigma**2) + mean * delta_at(math.log1p(1 / (a - 1))) + math.log(mean) / (a - 1)
        )

    return converted(renyi)


@pytest.mark.parametrize(("sigma", "mean"), [(2.0, 5), (5.0, 19), (20.0, 19)])
def test_the_price_is_the_least_of_the_theorems(sigma, mean):
    found = selection.epsilon(calibration([sigma]), mean)
    least = min(geometric(sigma, mean), poisson(sigma, mean))
    assert found <= least * 1.02  # the logarithmic law may be cheaper still, orders are a grid
    assert found >= 0.7 * least


def test_one_trial_costs_what_the_run_costs_or_more():
    sigma = 5.0
    alone = converted(lambda a: a / (2 * sigma**2))
    one, many = (selection.epsilon(calibration([sigma]), n) for n in (1, 19))
    assert alone * 0.99 <= one < many


def test_steps_and_rounds_compose():
    # 4 rounds of 25 steps at sigma 10 are one Gaussian of sigma 1.
    assert selection.epsilon(calibration([10.0] * 4, steps=25), 8) == pytest.approx(
        selection.epsilon(calibration([1.0]), 8), rel=1e-6
    )


def test_steps_that_are_not_paid_are_not_priced():
    paid = selection.epsilon(calibration([2.0, 2.0, 2.0], steps=2, paid_steps=3), 8)
    assert paid == pytest.approx(selection.epsilon(calibration([2.0], steps=3), 8))


def test_the_most_exposed_client_counts():
    two = calibration([5.0])
    two["clients"] += calibration([1.0])["clients"]
    assert selection.epsilon(two, 8) == selection.epsilon(calibration([1.0]), 8)


def test_noise_that_is_chosen_while_training_has_no_price():
    assert selection.epsilon(calibration([2.0], filter={"order": 8}), 8) is None


def test_what_every_trial_releases_before_its_steps_is_priced():
    # Gaussians of 1/4^2 + 1/4^2 = 1/8 of precision beside one of 1/8: together one of sigma 2.
    releases = [{"name": name, "noise_multiplier": 4.0} for name in ("means", "second moments")]
    found = selection.epsilon(calibration([8**0.5], releases=releases), 8)
    assert found == pytest.approx(selection.epsilon(calibration([2.0]), 8), rel=1e-6)

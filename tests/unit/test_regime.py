"""The prediction of whether cadabelief's bounds bind, against simulated noise and the bounds."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from dpfl.adaptive.binding_bounds import regime, residual_scale, unclipped_rate
from dpfl.adaptive.elementwise import bounds
from dpfl.optimizers.adabelief import build as adabelief
from dpfl.optimizers.cadabelief import build as make_cadabelief


def follow_noise(optimizer, theta, deviation, steps, seed=0):
    """Step along white noise of the given standard deviation."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(steps):
        theta.grad = deviation * torch.randn(theta.shape, generator=generator)
        optimizer.step()


@pytest.mark.parametrize("beta1", [0.3, 0.9, 0.97])
def test_unclipped_rate_is_the_one_that_adabelief_reaches_under_noise(beta1):
    alpha, batch, noise_multiplier, clip_norm = 2e-3, 64, 1.3, 0.5
    theta = torch.nn.Parameter(torch.zeros(4000))
    optimizer = adabelief([theta], lr=alpha, betas=(beta1, 0.995))
    follow_noise(optimizer, theta, noise_multiplier * clip_norm / batch, steps=1500)
    measured = optimizer.coordinate_rates()[0].median().item()
    predicted = unclipped_rate(alpha, batch, noise_multiplier, clip_norm, residual_scale(beta1))
    assert measured == pytest.approx(predicted, rel=0.01)


@pytest.mark.parametrize("r, side", [(0.25, "upper"), (0.05, "lower")])
def test_most_coordinates_are_clipped_from_the_predicted_step_on(r, side):
    """Half of the rates are beyond r, so that half are clipped at the step where the bound is r."""
    gamma, theta = 0.005, torch.nn.Parameter(torch.zeros(4000))
    optimizer = make_cadabelief([theta], lr=1e-3, betas=(0.9, 0.999), gamma=gamma)
    deviation = 1e-3 / (residual_scale(0.9) * r)
    predicted = regime(r, 0.1, gamma, steps=10_000)
    assert predicted.name == side
    share = []
    for steps in (predicted.step - 60, 60, 60):
        follow_noise(optimizer, theta, deviation, steps, seed=steps)
        rates, low, high = optimizer.coordinate_rates()
        beyond = rates > high if side == "upper" else rates < low
        share.append(beyond.double().mean().item())
    assert share[0] < share[1] < share[2]
    assert 0.3 < share[1] < 0.7


@given(
    r=st.floats(1e-4, 10),
    final_lr=st.floats(1e-3, 1),
    gamma=st.floats(1e-5, 1),
    steps=st.integers(1, 10**6),
)
def test_the_step_is_the_first_whose_bound_has_passed_r(r, final_lr, gamma, steps):
    found = regime(r, final_lr, gamma, steps)
    side = {"lower": 0, "upper": 1}.get(found.name)
    if side is None:
        low, high = bounds(steps, final_lr, gamma)
        assert low <= r * (1 + 1e-9) and r <= high * (1 + 1e-9)
        return
    toward = 1 if side == 0 else -1
    assert 1 <= found.step <= steps
    assert toward * (bounds(found.step, final_lr, gamma)[side] / r - 1) >= -1e-9
    if found.step > 1:
        assert toward * (bounds(found.step - 1, final_lr, gamma)[side] / r - 1) <= 1e-9


test_refuses_what_it_cannot_predict = refused(
    (lambda: unclipped_rate(1e-3, 64, 0.0, 1.0, 1.0), "noise_multiplier is 0.0; it must be"),
    (lambda: unclipped_rate(1e-3, 64, 1.0, -1.0, 1.0), "clip_norm is -1.0; it must be finite"),
    (lambda: residual_scale(1.0), r"beta1 is 1.0; it must be in"),
    (lambda: regime(math.nan, 0.1, 1e-3, 10), "r is nan; it must be finite and above 0"),
    (lambda: regime(0.1, 0.1, 0, 10), "gamma is 0; it must be finite and above 0"),
)

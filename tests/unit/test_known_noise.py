"""Optimizers that know the noise: DP-AdamBC by itself, what it is told, and where nobody could."""

import math
from functools import partial

import pytest
import tiny
import torch
from refusals import line_of
from test_private import private as any_private
from torch import nn

from dpfl import plugins
from dpfl.contracts.release import PublicNoise
from dpfl.federations.parts.states import STATES
from dpfl.mechanisms import dpsgd
from dpfl.mechanisms.parts.fitting import misfits
from dpfl.optimizers import dp_adambc
from dpfl.training.steps import tell_noise

SETTINGS = {"betas": (0.8, 0.95), "floor": 1e-4}


def message(deviation):
    return PublicNoise(noise_multiplier=deviation, clip_norm=1.0, expected_batch=1.0)


def built(dtype=torch.float64, size=40, **changed):
    theta = nn.Parameter(torch.zeros(size, dtype=dtype))
    return theta, dp_adambc.build([theta], **{"lr": 0.1, **SETTINGS, **changed})


def follow(optimizer, theta, gradients, deviations):
    after = []
    for gradient, deviation in zip(gradients, deviations, strict=True):
        optimizer.tell_noise(message(deviation))
        theta.grad = gradient.to(theta).clone()
        optimizer.step()
        after.append(theta.detach().clone())
    return torch.stack(after)


def gradients(steps=50, size=40, spread=0.05):
    generator = torch.Generator().manual_seed(1)
    mean = torch.logspace(-4, 0, size, dtype=torch.float64)
    return mean + spread * torch.randn(steps, size, generator=generator, dtype=torch.float64)


def written_out(grads, deviations, lr=0.1, betas=(0.8, 0.95), floor=1e-4):
    """Algorithm 2 for one coordinate in plain numbers, phi the weighted mean of the variances."""
    theta = m = v = 0.0
    for t, g in enumerate(grads, start=1):
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g * g
        weights = [betas[1] ** (t - s) for s in range(1, t + 1)]
        terms = (w * d * d for w, d in zip(weights, deviations, strict=False))
        phi = math.fsum(terms) / math.fsum(weights)
        v_hat, m_hat = v / (1 - betas[1] ** t), m / (1 - betas[0] ** t)
        theta -= lr * m_hat / math.sqrt(max(v_hat - phi, floor))
    return theta


@pytest.mark.parametrize("deviations", [[0.05] * 50, [0.2 / (1 + t) for t in range(50)]])
def test_it_is_algorithm_2(deviations):
    grads, (theta, optimizer) = gradients(), built()
    found = follow(optimizer, theta, grads, deviations)[-1]
    expected = [written_out(g, deviations) for g in grads.T.tolist()]
    torch.testing.assert_close(found.tolist(), expected, rtol=1e-9, atol=0)


def test_both_sides_of_the_floor_are_met():
    theta, optimizer = built()
    follow(optimizer, theta, gradients(), [0.05] * 50)
    rates, low, high = optimizer.coordinate_rates()
    at_floor = rates == 0.1 / math.sqrt(1e-4)
    assert at_floor.any() and not at_floor.all() and (low, high) == (0, math.inf)


@pytest.mark.parametrize("telling", [True, False])
def test_without_noise_it_is_adam(telling):
    grads, (theta, ours) = gradients(), built(floor=1e-30)
    other = nn.Parameter(torch.zeros(40, dtype=torch.float64))
    adam = torch.optim.Adam([other], lr=0.1, betas=SETTINGS["betas"], eps=1e-30)
    for gradient in grads:
        theta.grad, other.grad = gradient.clone(), gradient.clone()
        if telling:
            ours.tell_noise(PublicNoise(0.0, math.inf, 64.0))
        ours.step()
        adam.step()
        torch.testing.assert_close(theta, other, rtol=1e-12, atol=1e-14)


def test_the_corrected_moment_estimates_the_square_of_the_mean():
    """g_t = mu + N(0, phi): vhat tends to mu^2 + phi, and vhat - phi to mu^2."""
    generator = torch.Generator().manual_seed(0)
    mean = torch.linspace(0.3, 1.0, 200, dtype=torch.float64)
    noise = torch.randn(4000, 200, generator=generator, dtype=torch.float64)
    theta, optimizer = built(size=200, lr=1.0, betas=(0.9, 0.999), floor=1e-12)
    follow(optimizer, theta, mean + 0.5 * noise, [0.5] * 4000)
    corrected = optimizer.coordinate_rates()[0] ** -2
    v_hat = optimizer.state[theta]["second_moment"] / (1 - 0.999**4000)
    off, biased = (corrected - mean**2).mean(), (v_hat - mean**2).mean()
    assert abs(off) < 0.01 and biased == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_saved_state_continues_to_the_same_bits_under_noise_that_changes(dtype):
    grads, deviations = gradients(), [0.2 / (1 + t) for t in range(50)]
    theta, optimizer = built(dtype)
    whole = follow(optimizer, theta, grads, deviations)
    theta, optimizer = built(dtype)
    follow(optimizer, theta, grads[:20], deviations[:20])
    again = dp_adambc.build([theta])
    again.load_state_dict(optimizer.state_dict())
    assert torch.equal(follow(again, theta, grads[20:], deviations[20:]), whole[20:])


def test_a_server_averages_the_noise_of_its_clients_as_it_does_their_moments():
    theta = nn.Parameter(torch.zeros(3))
    states = STATES["server"](lambda: dp_adambc.build([theta], **SETTINGS))
    for client, deviation in enumerate((0.1, 0.3)):
        optimizer = states.begin(client)
        follow(optimizer, theta, [torch.ones(3)], [deviation])
        states.end(client, optimizer, weight=1.0 + client)
    shared = states.finish_round([0, 1])["server"]["state"][0]
    expected = 0.05 * (0.01 + 2 * 0.09) / 3
    assert shared["noise_moment"].item() == pytest.approx(expected, rel=1e-6)


def test_noise_that_is_not_even_is_one_line():
    _, optimizer = built()
    told = "optimizer DPAdamBC asks for the noise of a step"
    assert told in line_of(tell_noise, optimizer, None)


# --- before the first job -----------------------------------------------------------------------

EVEN = [n for n in plugins.names("mechanisms") if plugins.constant("mechanisms", n, "NOISE_IS_Z_C")]


def parts(estimator, rule="fixed", algorithm="dp-adambc"):
    return {
        "mechanism": {"estimator": estimator},
        "clipping": {"rule": rule},
        "optimizer": {"algorithm": algorithm},
    }


def test_a_mechanism_whose_noise_is_not_even_is_a_misfit():
    for name in plugins.names("mechanisms"):
        (*found,) = misfits(parts(name))
        assert (found == []) == (name in EVEN)
        told = f"dp-adambc, which asks for the noise of a step: that of {name}"
        assert all(told in line for line in found)
        assert not [*misfits(parts(name, algorithm="adam"))]


def test_a_bound_of_the_batch_itself_is_a_misfit():
    assert not [*misfits(parts("dpsgd", "quantile"))]
    (found,) = misfits(parts("dpsgd", "fsdp-adaptive"))
    assert "with clipping rule fsdp-adaptive it is not public" in found


@pytest.mark.parametrize("name", plugins.names("optimizers"))
def test_who_asks_for_the_noise_declares_it(name):
    optimizer = plugins.load("optimizers", name).build([nn.Parameter(torch.ones(2))], 0.1)
    asks = plugins.constant("optimizers", name, "NEEDS_NOISE")
    assert asks == hasattr(optimizer, "tell_noise")


# --- in training --------------------------------------------------------------------------------


private = partial(any_private, optimizer=dp_adambc.build, rate=0.01)


@pytest.fixture
def notes(monkeypatch):
    """All that an optimizer was told."""
    found = []
    real = dp_adambc.DPAdamBC.tell_noise
    monkeypatch.setattr(
        dp_adambc.DPAdamBC, "tell_noise", lambda self, n: (found.append(n), real(self, n))
    )
    return found


@pytest.fixture
def spreads(monkeypatch):
    """The standard deviation of the noise that dpsgd drew in every step, over the batch size."""
    found = []
    real = dpsgd.noisy_sum

    def noisy_sum(total, noise, spread):
        found.append(spread)
        return real(total, noise, spread)

    monkeypatch.setattr(dpsgd, "noisy_sum", noisy_sum)
    return found


@pytest.mark.parametrize(
    "clipping", [0.7, {"uses": "quantile", "clip_norm": 1.0, "quantile": 0.5, "rate": 0.5}]
)
def test_it_is_told_the_noise_of_the_step_itself(notes, spreads, clipping):
    made = private(clipping=clipping)
    spreads.clear()  # those of the probe
    while made.step():
        pass
    assert len(notes) == made.steps == len(spreads)
    for note, spread in zip(notes, spreads, strict=True):
        assert note.standard_deviation == pytest.approx(spread / 20, rel=1e-12)
    moved = len({note.clip_norm for note in notes}) > 1
    assert moved == isinstance(clipping, dict)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"mechanism": {"uses": "fsdp-central", "rank": 2}}, "is not z C in every coordinate"),
        ({"clipping": {"uses": "fsdp-adaptive", "clip_norm": 1.0}}, "it is not public"),
    ],
)
def test_a_network_of_ones_own_is_refused_before_its_first_step(changed, expected):
    assert expected in line_of(private, **changed)
    assert private(optimizer=torch.optim.SGD, **changed).step()


EVENLY = {"dpsgd": 1.0 / 16, "dpsgd-layerwise": 1.0 / 16, "dpsgd-opacus": 1.0 / 16}
ASKS = {"algorithm": "dp-adambc", "rate_key": "lr", "rate": 0.01, "settings": {}}


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("mechanism", [*EVENLY, "nonprivate"])
def test_clients_tell_their_optimizers(tmp_path, notes, mechanism, state):
    changed = {"mechanism": {"estimator": mechanism}, "federation": tiny.federation(state=state)}
    changed["epsilon"] = 50.0 if mechanism in EVENLY else "inf"
    result = tiny.trained(tmp_path, optimizer=ASKS, **changed)
    assert {note.standard_deviation for note in notes} == {EVENLY.get(mechanism, 0.0)}
    assert tiny.weights(result).isfinite().all() and result.rates

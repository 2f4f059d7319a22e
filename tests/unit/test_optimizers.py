"""Every optimizer through one suite; each rule against others' code or worked out by hand."""

import io
import math
from functools import partial

import adabelief_pytorch
import declared
import pytest
import torch
from adabound import AdaBound
from hypothesis import given
from hypothesis import strategies as st
from refusals import line_of, refuses

from dpfl import plugins
from dpfl.adaptive.elementwise import bounds
from dpfl.base.errors import UserError
from dpfl.optimizers.adabelief import build as adabelief
from dpfl.optimizers.adabound import build as adabound
from dpfl.optimizers.adam import build as adam
from dpfl.optimizers.cadabelief import build as make_cadabelief
from dpfl.optimizers.cadabelief_scalar import build as cadabelief_scalar
from dpfl.optimizers.dp_adambc import build as dp_adambc
from dpfl.optimizers.fedopt import build as fedopt
from dpfl.optimizers.sgd_ema import build as sgd_ema

every_optimizer = pytest.mark.parametrize("name", plugins.names("optimizers"))


def build(name, params, lr=0.05, **settings):
    return plugins.load("optimizers", name).build(params, lr=lr, **settings)


one_gradient_a_step = pytest.mark.parametrize(
    "name",
    [
        name
        for name in plugins.names("optimizers")
        if not hasattr(build(name, [torch.nn.Parameter(torch.zeros(1))]), "gradients")
    ],
)
"""All but those whose step needs several, which have tests of their own."""


def parameter(values, dtype=torch.float64):
    return torch.nn.Parameter(torch.as_tensor(values, dtype=dtype).clone())


def gradients(steps=60, size=50, seed=0):
    """Noisy gradients [steps, size] of very different sizes, so that both bounds clip some."""
    generator = torch.Generator().manual_seed(seed)
    scales = torch.logspace(-6, 2, size, dtype=torch.float64)
    noise = torch.randn(steps, size, generator=generator, dtype=torch.float64)
    return scales * (noise + 0.3)


def follow(optimizer, theta, grads):
    """Return theta [steps, D] after every step along `grads`."""
    after = []
    for grad in grads:
        theta.grad = grad.clone()
        optimizer.step()
        assert torch.equal(theta.grad, grad)  # a step leaves the gradient alone
        after.append(theta.detach().clone())
    return torch.stack(after)


def trace(make, grads):
    """Return theta [steps, D] after every step of the optimizer `make([theta])`, from zero."""
    theta = parameter(torch.zeros_like(grads[0]), grads.dtype)
    return follow(make([theta]), theta, grads)


def first_step(make, grad):
    return trace(make, torch.tensor([grad], dtype=torch.float64))[0].tolist()


# --- the contract -------------------------------------------------------------------------------


@every_optimizer
def test_build_passes_every_setting_on(name):
    settings = {
        key: declared.another("optimizers", name, key, p.default)
        for key, p in declared.parameters("optimizers", name).items()
    }
    group = build(name, [parameter([1.0])], **settings).param_groups[0]
    got = {"beta1": group.get("betas", [None])[0]} | group
    assert {key: got[key] for key in settings} == settings


@one_gradient_a_step
def test_minimises_a_quadratic(name):
    theta = parameter([1.0, -2.0, 3.0], torch.float32)
    curvature = torch.tensor([0.1, 0.5, 1.0])
    optimizer = build(name, [theta])

    def loss():
        optimizer.zero_grad()
        value = (curvature * theta.square()).sum() / 2
        value.backward()
        return value

    start = loss().item()
    assert optimizer.step(loss).item() == start  # the closure's loss comes back
    for _ in range(600):
        optimizer.step(loss)
    assert loss().item() < 0.01 * start


@every_optimizer
def test_a_saved_state_continues_to_the_same_bits(name):
    grads, file = gradients(steps=20).float(), io.BytesIO()
    whole = trace(lambda params: build(name, params), grads)
    theta = parameter(torch.zeros_like(grads[0]), torch.float32)
    first = build(name, [theta])
    follow(first, theta, grads[:10])
    torch.save(first.state_dict(), file)
    file.seek(0)

    again = build(name, [theta], lr=1.0)  # the saved rate comes back with the rest
    again.load_state_dict(torch.load(file))
    assert torch.equal(follow(again, theta, grads[10:]), whole[10:])


@one_gradient_a_step
def test_groups_are_apart_and_coordinates_too(name):
    grads = gradients(steps=15, size=6)
    slow, fast = parameter(torch.zeros(2, 2)), parameter(torch.zeros(2))
    optimizer = build(name, [{"params": [slow]}, {"params": [fast], "lr": 0.5}])
    for grad in grads:
        slow.grad, fast.grad = grad[:4].view(2, 2).clone(), grad[4:].clone()
        optimizer.step()
    for lr, expected in ((0.05, slow.flatten()), (0.5, fast)):
        flat = trace(lambda params, lr=lr: build(name, params, lr=lr), grads)[-1]
        part = flat[:4] if lr == 0.05 else flat[4:]
        torch.testing.assert_close(expected.data, part, rtol=1e-12, atol=0)


@one_gradient_a_step
def test_without_a_gradient_nothing_happens(name):
    idle, busy = parameter([1.0]), parameter([1.0])
    optimizer = build(name, [idle, busy])
    for _ in range(3):
        busy.grad = torch.ones_like(busy)
        optimizer.step()
    assert idle.item() == 1 and busy.item() != 1 and not optimizer.state.get(idle)
    idle.grad, busy.grad = torch.ones_like(idle), None
    optimizer.step()
    alone = parameter([1.0])
    alone.grad = torch.ones_like(alone)
    build(name, [alone]).step()
    assert idle.item() == alone.item()  # its own first step, whatever the others have done


@every_optimizer
@pytest.mark.parametrize("lr", [-0.1, math.nan, math.inf, "1e-3", None])
def test_refuses_a_wrong_rate(name, lr):
    with pytest.raises(UserError, match=r"lr is .*; it must be a finite number >= 0"):
        build(name, [parameter([1.0])], lr=lr)


@pytest.mark.parametrize(
    "setting, value", [("betas", (0.9, 1.0)), ("gamma", math.nan), ("order", "clip_first")]
)
def test_refuses_a_wrong_setting_also_in_one_group(setting, value):
    line = line_of(make_cadabelief, [parameter([1.0])], **{setting: value})
    assert f"{setting} is {value!r}; it must be" in line
    refuses(setting, lambda: make_cadabelief([{"params": [parameter([1.0])], setting: value}]))


@pytest.mark.parametrize("kind", [adabelief, make_cadabelief, adabound, cadabelief_scalar, sgd_ema])
def test_refuses_sparse_and_complex_gradients(kind):
    for theta in (torch.zeros(3), torch.zeros(3, dtype=torch.complex64)):
        theta.requires_grad_()
        theta.grad = torch.ones_like(theta) if theta.is_complex() else torch.ones(3).to_sparse()
        refuses("it must be dense and real", kind([theta], lr=0.1).step)
        assert not theta.any()


# --- other people's code ------------------------------------------------------------------------


PLAIN = {"rectify": False, "weight_decouple": False, "print_change_log": False}
their_adabelief = partial(adabelief_pytorch.AdaBelief, **PLAIN)


@pytest.mark.parametrize("ours", [adabelief, partial(make_cadabelief, bounds=False)])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.5, 0.9), (0.0, 0.99)])
def test_adabelief_is_the_reference_code_once_eps_enters_s(ours, betas):
    settings = {"lr": 0.01, "betas": betas, "eps": 1e-8}
    got = trace(lambda params: ours(params, eps_in_second_moment=True, **settings), gradients())
    expected = trace(lambda params: their_adabelief(params, **settings), gradients())
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=0)
    without = trace(lambda params: ours(params, **settings), gradients())
    assert not torch.allclose(without, expected, rtol=1e-2)  # the switch is not idle


@pytest.mark.filterwarnings("ignore:This overload of add")
@pytest.mark.parametrize("lr, gamma", [(1e-3, 1e-3), (0.1, 0.05)])
def test_adabound_is_the_reference_code(lr, gamma):
    settings = {"lr": lr, "betas": (0.9, 0.99), "final_lr": 0.05, "gamma": gamma, "eps": 1e-8}
    got = trace(lambda params: adabound(params, **settings), gradients())
    expected = trace(lambda params: AdaBound(params, **settings), gradients())
    torch.testing.assert_close(got, expected, rtol=1e-10, atol=0)


def test_adam_and_sgd_are_what_their_files_say():
    grads = gradients()
    looped = trace(lambda params: torch.optim.Adam(params, lr=0.01, foreach=False), grads)
    torch.testing.assert_close(trace(lambda params: adam(params, 0.01), grads), looped)
    plain = trace(lambda params: build("sgd", params), grads)
    torch.testing.assert_close(plain, -0.05 * grads.cumsum(0))
    velocity, theta, expected = torch.zeros(50), torch.zeros(50), []
    for grad in grads:
        velocity = 0.7 * velocity + grad
        theta = theta - 0.05 * velocity
        expected.append(theta)
    got = trace(partial(build, "sgd-momentum", momentum=0.7), grads)
    torch.testing.assert_close(got, torch.stack(expected))


def test_adamw_decays_the_weights_and_adam_moves_them():
    """Loshchilov and Hutter, algorithm 2, written out; the decay goes with lr, as in torch."""
    grads, lr, decay = gradients(), 0.05, 0.2
    start = torch.linspace(-1, 1, 50, dtype=torch.float64)
    theta, m, v = start.clone(), torch.zeros(50), torch.zeros(50)
    expected = []
    for t, grad in enumerate(grads, start=1):
        m, v = 0.7 * m + 0.3 * grad, 0.9 * v + 0.1 * grad**2
        step = (m / (1 - 0.7**t)) / ((v / (1 - 0.9**t)).sqrt() + 1e-8)
        theta = theta - lr * (step + decay * theta)
        expected.append(theta)
    ours = parameter(start)
    optimizer = build("dp-adamw", [ours], lr, betas=(0.7, 0.9), weight_decay=decay)
    torch.testing.assert_close(follow(optimizer, ours, grads), torch.stack(expected))
    settings = {"lr": lr, "betas": (0.7, 0.9)}
    torch.testing.assert_close(
        trace(lambda params: build("dp-adamw", params, weight_decay=0.0, **settings), grads),
        trace(lambda params: build("adam", params, **settings), grads),
    )


# --- cadabelief ---------------------------------------------------------------------------------


def transcribed(grads, lr, b1, b2, eps, final_lr, order):
    """Seed 001's algorithm 2 for one coordinate, in plain numbers."""
    theta = m = s = 0.0
    for t, g in enumerate(grads, start=1):
        m = b1 * m + (1 - b1) * g
        s = b2 * s + (1 - b2) * (g - m) ** 2
        low = (1 - 1 / ((1 - b2) * t + 1)) * final_lr
        high = (1 + 1 / ((1 - b2) * t)) * final_lr
        if order == "clip-first":
            m_hat, s_hat = m / (1 - b1**t), s / (1 - b2**t)
            theta -= min(max(lr / (math.sqrt(s_hat) + eps), low), high) * m_hat
        else:
            rate = lr * math.sqrt(1 - b2**t) / (1 - b1**t) / (math.sqrt(s) + eps)
            theta -= min(max(rate, low), high) * m
    return theta


@pytest.mark.parametrize("order", ["clip-first", "adabound"])
@pytest.mark.parametrize("betas", [(0.9, 0.999), (0.6, 0.8)])
@pytest.mark.parametrize("eps", [1e-8, 1e-2])
def test_cadabelief_is_algorithm_2(order, betas, eps):
    grads = gradients(steps=100)
    settings = {"lr": 0.01, "betas": betas, "eps": eps, "final_lr": 0.3, "order": order}
    got = trace(lambda params: make_cadabelief(params, **settings), grads)[-1]
    expected = [transcribed(g, 0.01, *betas, eps, 0.3, order) for g in grads.T.tolist()]
    torch.testing.assert_close(got.tolist(), expected, rtol=1e-10, atol=0)


def test_first_steps_worked_out_by_hand():
    """At t = 1, mhat = g and shat = (.9 g)^2, so that the rate of AdaBelief is lr / (.9 |g|)."""
    # clipped to 9.99e-5, not clipped, clipped to 100.1
    got = first_step(make_cadabelief, [20.0, -1.0, 1e-7])
    assert got == pytest.approx([-20 * 9.99000999e-5, 1e-3 / 0.9, -100.1e-7], rel=1e-6)
    # AdaBound's order divides by the bias of m before it clips: 1111 / .1 is clipped, then times m
    late = first_step(partial(make_cadabelief, order="adabound"), [20.0, -1.0, 1e-7])
    assert late == pytest.approx([-1e-3 / 0.9, 1e-3 / 0.9, -100.1e-8], rel=1e-5)
    assert first_step(lambda p: sgd_ema(p, 0.5), [2.0]) == pytest.approx([-1.0])
    for lr, rate in ((0.05, 0.05), (1e-6, 9.99000999e-5), (1e3, 100.1)):
        assert first_step(partial(cadabelief_scalar, lr=lr), [2.0]) == pytest.approx([-2 * rate])


@given(t=st.integers(1, 10**7), final_lr=st.floats(1e-6, 1e3), gamma=st.floats(1e-6, 1e3))
def test_bounds_close_in_on_the_final_rate(t, final_lr, gamma):
    low, high = bounds(t, final_lr, gamma)
    later_low, later_high = bounds(t + 1, final_lr, gamma)
    assert 0 <= low <= later_low <= final_lr <= later_high <= high
    end = bounds(math.ceil(1e9 / gamma), final_lr, gamma)
    assert end == pytest.approx((final_lr, final_lr), rel=1e-8)


# --- fedopt -------------------------------------------------------------------------------------


SECOND = {  # of gradients 1 and 3 at beta2 .75, by hand
    "adagrad": (1.0, 1.0 + 9.0),
    "adam": (0.25, 0.75 * 0.25 + 0.25 * 9.0),
    "yogi": (0.25, 0.25 + 0.25 * 9.0),
}


@pytest.mark.parametrize(("moment", "second"), SECOND.items())
def test_fedopt_is_algorithm_2_of_reddi_et_al(moment, second):
    found = trace(
        lambda params: fedopt(params, lr=2.0, betas=(0.5, 0.75), tau=0.1, moment=moment),
        torch.tensor([[1.0], [3.0]], dtype=torch.float64),
    )
    one = -2 * 0.5 / (math.sqrt(second[0]) + 0.1)
    two = one - 2 * 1.75 / (math.sqrt(second[1]) + 0.1)
    assert found.flatten().tolist() == pytest.approx([one, two])


def test_a_moment_that_passes_the_square_falls_under_yogi_by_the_square():
    make = partial(fedopt, betas=(0.0, 0.5), tau=1.0, initial=4.0, moment="yogi")
    assert first_step(partial(make, lr=1.0), [1.0]) == [pytest.approx(-1 / (math.sqrt(3.5) + 1))]


def test_fedopt_without_memory_at_a_large_tau_is_sgd_of_rate_lr_over_tau():
    make = partial(fedopt, lr=5e9, betas=(0.0, 0.0), tau=1e10)
    assert first_step(make, [3.0, -4.0]) == pytest.approx([-1.5, 2.0])


# --- the rates that are reported ----------------------------------------------------------------


def test_reported_rates_are_the_ones_that_move_the_parameters():
    grads = gradients(steps=25)
    mean = torch.zeros(50, dtype=torch.float64)
    for grad in grads:
        mean = 0.9 * mean + 0.1 * grad
    for make, unbiased, clipped in (
        (adabelief, True, False),
        (adam, True, False),
        (lambda params: build("dp-adamw", params, weight_decay=0.0), True, False),
        (dp_adambc, True, False),
        (make_cadabelief, True, True),
        (adabound, False, True),
        (lambda params: cadabelief_scalar(params, 1e-9), True, True),
        (lambda params: cadabelief_scalar(params, 1e9), True, True),
    ):
        theta = parameter(torch.zeros(50))
        optimizer = make([theta])
        after = follow(optimizer, theta, grads)
        rates, low, high = optimizer.coordinate_rates()
        assert rates.shape == (50,) and not rates.requires_grad
        assert (low, high) == pytest.approx(bounds(25, 0.1, 1e-3) if clipped else (0, math.inf))
        direction = mean / (1 - 0.9**25) if unbiased else mean
        moved = -(after[-1] - after[-2]) / direction
        torch.testing.assert_close(moved, rates.clamp(low, high), rtol=1e-6, atol=0)


def test_reported_rates_cover_all_parameters_and_need_one_pair_of_bounds():
    first, second = parameter([[1.0, 2.0]]), parameter([3.0])
    optimizer = make_cadabelief([first, second])
    refuses("0 pairs of bounds", optimizer.coordinate_rates)
    for theta, expected in ((first, [1 / 0.9, 1 / 1.8]), (second, [1 / 0.9, 1 / 1.8, 1 / 2.7])):
        theta.grad = theta.detach().clone()
        fresh = make_cadabelief([first, second], lr=1.0)
        fresh.step()
        assert fresh.coordinate_rates()[0].tolist() == pytest.approx(expected)
        first.data, second.data = torch.tensor([[1.0, 2.0]]).double(), torch.tensor([3.0]).double()
    second.grad = None
    fresh.step()
    refuses("2 pairs of bounds", fresh.coordinate_rates)

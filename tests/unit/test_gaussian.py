"""What leaves of a private sum: which numbers are possible, with one example and without it."""

import math

import pytest
import torch
from fixtures_of_steps import drawn, ones, setting, step_of
from scipy import stats
from torch import nn

from dpfl.contracts.federation import Cohort
from dpfl.draws.gaussian import noisy_sum
from dpfl.draws.noise import SOURCES
from dpfl.mechanisms import dp_fedavg, dpsgd, fsdp_certified, p3sgd

CLIP, Z, EXPECTED, N = 0.1, 1.173, 250.0, 200_000
FIXED = {"rule": "fixed", "clip_norm": CLIP}


class Sum:
    """Gradients of which only the clipped sum matters, given beforehand."""

    def __init__(self, total):
        self.total = total

    def clipped_sum(self, clip_norm):
        return [self.total.clone()]


def of_dpsgd(total, normal):
    """Return what DP-SGD releases, in float32, of a clipped sum [n]."""
    nothing = torch.zeros(0)
    given = (nn.Identity(), nothing, nothing, Z, EXPECTED, normal)
    step = step_of(*given, differentiate=lambda *_: (Sum(total), nothing))
    return dpsgd.build(FIXED).estimate(step)


def of_float32(total, normal):
    """The same by the textbook: float32 draws, added to a float32 sum."""
    return total.add(normal(len(total)).float(), alpha=Z * CLIP) / EXPECTED


def impossible(release, released, total, dtype):
    """Return the share of released numbers that no draw of this type makes of a sum [n].

    The draw must lie where the released number puts it, but for rounding: some digits of float32
    each way, which makes more possible than is.
    """
    draw = (released.double() * EXPECTED - total.double()) / (Z * CLIP)
    near, found = draw.to(dtype), torch.zeros_like(released, dtype=torch.bool)
    digit = torch.finfo(torch.float32).eps * (near.abs() if dtype == torch.float32 else 1)
    for digits in range(-12, 13):
        found |= release(total, lambda _, n=digits: near + n * digit / 2) == released
    return 1 - float(found.double().mean())


@pytest.mark.parametrize("source", sorted(SOURCES))
def test_no_number_tells_whether_the_only_example_of_a_coordinate_was_there(source):
    """Mironov 2012: float32 noise on a float32 sum gives many away (the control)."""
    without, with_it = torch.zeros(N), torch.full((N,), CLIP)
    for own, other, given_away in [(without, with_it, 0.2), (with_it, without, 0.02)]:
        normal = SOURCES[source]("attack", given_away).normal
        naive, mended = of_float32(own, normal), of_dpsgd(own, normal)
        assert naive.dtype == mended.dtype == torch.float32
        assert impossible(of_float32, naive, own, torch.float32) == 0
        assert impossible(of_float32, naive, other, torch.float32) > given_away
        assert impossible(of_dpsgd, mended, own, torch.float64) == 0
        assert impossible(of_dpsgd, mended, other, torch.float64) == 0


@pytest.mark.parametrize("spread", [0.7, Z * CLIP, 3e-5, 1e6])
def test_every_point_of_the_grid_within_six_deviations_is_possible_with_and_without(spread):
    grid = 2.0 ** (math.floor(math.log2(spread)) - 20)
    generator = torch.Generator().manual_seed(0)
    points = torch.rand(N, generator=generator, dtype=torch.float64).mul_(12).sub_(6) * spread
    points = (points / grid).round() * grid
    for total in (torch.zeros(N), torch.full((N,), spread / Z), torch.full((N,), 77.7 * spread)):
        draw = (points - total.double()) / spread
        assert torch.equal(noisy_sum(total, draw, spread), points)
        # And by 2^28 and more neighbouring draws: by all that lie within a third of the grid.
        for beside in (-grid / 3 / spread, grid / 3 / spread):
            assert torch.equal(noisy_sum(total, draw + beside, spread), points)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_noise_is_that_of_the_draws_and_of_the_spread(dtype):
    total, spread = torch.linspace(-3, 3, 50_000, dtype=dtype), 0.35
    noise = drawn("spread")(50_000)
    before = total.clone(), noise.clone()
    found = noisy_sum(total, noise, spread)
    assert found.dtype == torch.float64
    assert torch.equal(total, before[0]) and torch.equal(noise, before[1])
    expected = total.double() + spread * noise
    assert (found - expected).abs().max() <= spread * 2**-21
    assert stats.kstest((found - total.double()).numpy() / spread, "norm").pvalue > 1e-4


def test_without_noise_the_sum_is_as_it_was():
    total = torch.rand(50)
    assert torch.equal(noisy_sum(total, ones(50), 0.0), total.double())


def on_grid(released, spread):
    points = released.double() / 2.0 ** (math.floor(math.log2(spread)) - 20)
    return torch.equal(points, points.round())


def test_the_sums_of_every_mechanism_leave_on_the_grid():
    """Divided by a power of two, in float64, the points can still be seen."""
    model, inputs, targets = setting(9)
    given = {"z": Z, "batch": 8.0, "normal": drawn("grid")}
    for build in (dpsgd.build, p3sgd.build):
        mechanism = build(FIXED)
        found = mechanism.estimate(step_of(model, inputs, targets, **given))
        least = min(mechanism.release(Z, 8.0).multipliers)
        assert on_grid(8 * found, least * CLIP) and found.any()
    updates = torch.randn(5, 30, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    cohort, own = Cohort(updates[0], 8.0), {"noise_multiplier": Z, "normal": drawn("grid")}
    found = dp_fedavg.build(FIXED).aggregate(updates, cohort, **own)
    assert on_grid(8 * found, Z * CLIP) and found.any()


def test_both_sums_of_the_certified_decomposition_leave_on_the_grid(monkeypatch):
    model, inputs, targets = setting(9)
    seen = []

    def watched(total, noise, spread):
        released = noisy_sum(total, noise, spread)
        seen.append((released.clone(), spread))
        return released

    monkeypatch.setattr(fsdp_certified, "noisy_sum", watched)
    mechanism = fsdp_certified.build(FIXED, rank=6)
    mechanism.estimate(step_of(model, inputs, targets, z=Z, normal=drawn("grid")))
    assert [len(released) for released, _ in seen] == [75, 6]
    assert all(on_grid(released, spread) for released, spread in seen)

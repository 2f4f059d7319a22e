"""Clipping rules: what noise they leave for the sum, where they move, and what they refuse."""

import json
import math

import declared
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses

from dpfl import plugins
from dpfl.clippings import fixed, fsdp_adaptive, quantile
from dpfl.contracts.release import joint
from dpfl.draws import noise
from dpfl.privacy.release import remaining

ZEROS = lambda size: torch.zeros(size)  # noqa: E731
ONES = lambda size: torch.ones(size)  # noqa: E731


def after(rule, votes, z=1.0, expected=20.0, normal=ZEROS):
    rule.after(votes, noise_multiplier=z, expected=expected, normal=normal)
    return rule.clip_norm


def built(name, **changed):
    own = declared.required("clippings", name) | {"clip_norm": 0.3} | changed
    return plugins.load("clippings", name).build(**own)


@pytest.mark.parametrize("name", plugins.names("clippings"))
def test_every_rule_starts_at_its_clip_norm_and_leaves_noise_to_the_sum(name):
    rule = built(name)
    assert rule.clip_norm == 0.3
    assert remaining(0.0, [rule.count_multiplier(0.0, 10.0)]) == 0.0
    assert remaining(1.5, [rule.count_multiplier(1.5, 10.0)]) >= 1.5


@pytest.mark.parametrize("name", plugins.names("clippings"))
def test_every_rule_continues_from_its_state(name):
    first, second = built(name), built(name)
    after(first, -7.0)
    second.restore(json.loads(json.dumps(first.state())))
    assert after(second, 3.0) == after(first, 3.0)


@settings(deadline=None)
@given(st.lists(st.floats(1e-3, 1e3), min_size=1, max_size=5))
def test_several_gaussians_are_one(multipliers):
    """Whitened, the means move by 1/z_j each: together by the root of the sum of squares."""
    moved = math.hypot(*(1 / z for z in multipliers))
    assert joint(multipliers) == pytest.approx(1 / moved)
    assert joint([*multipliers, math.inf]) == joint(multipliers)
    z = 0.9 * joint(multipliers)
    assert joint([*multipliers, remaining(z, multipliers)]) == pytest.approx(z)


def test_the_batch_mean_needs_no_outliers_and_keeps_its_bound_without_examples():
    rule = fsdp_adaptive.build(0.3)
    norms = torch.tensor([1.0] * 30 + [100.0])
    assert rule.bound(norms, norms) == 1.0
    assert rule.bound(2 * norms, norms) == 2.0
    assert rule.bound(norms[:0], norms[:0]) == 2.0
    assert rule.unproven


def test_a_fixed_bound_leaves_all_the_noise_to_the_sum():
    rule = fixed.build(0.3)
    assert remaining(1.7, [rule.count_multiplier(1.7, 10.0)]) == 1.7
    assert after(rule, -10.0) == 0.3 and rule.state() == {}


@settings(deadline=None)
@given(z=st.floats(0.05, 50), expected=st.floats(0.5, 1e4), ratio=st.none() | st.floats(0.51, 100))
def test_sum_and_count_are_together_one_gaussian(z, expected, ratio):
    rule = quantile.build(0.3, 0.5, count_noise=ratio and ratio * z)
    count_noise = ratio * z if ratio else max(expected / 20, 2.3 * z)
    count = rule.count_multiplier(z, expected)
    assert count == pytest.approx(2 * count_noise)
    of_sum = remaining(z, [count])
    assert of_sum**-2 + (2 * count_noise) ** -2 == pytest.approx(z**-2, rel=1e-9)
    if ratio is None:
        assert z < of_sum < 1.025 * z


@pytest.mark.parametrize("count_noise", [0.5, 0.49])
def test_a_count_that_costs_everything_is_refused(count_noise):
    rule = quantile.build(0.3, 0.5, count_noise=count_noise)
    message = f"noise on its counts amounts to a multiplier of {2 * count_noise:g}; .* more than 1,"
    refuses(message, lambda: remaining(1.0, [rule.count_multiplier(1.0, 10.0)]))


@pytest.mark.parametrize(("votes", "share"), [(10, 1.0), (-10, 0.0), (0, 0.5), (-4, 0.3)])
def test_the_step_is_that_of_the_paper(votes, share):
    found = after(quantile.build(0.3, quantile=0.6, rate=0.2), votes)
    assert found == pytest.approx(0.3 * math.exp(-0.2 * (share - 0.6)))


@pytest.mark.parametrize(
    ("count_noise", "expected", "deviation"), [(None, 200.0, 10.0), (3.0, 20.0, 3.0)]
)
def test_the_count_is_noisy(count_noise, expected, deviation):
    rule = quantile.build(0.3, 0.5, count_noise=count_noise)
    found = after(rule, 0.0, expected=expected, normal=ONES)
    assert found == pytest.approx(0.3 * math.exp(-0.2 * deviation / expected))


@pytest.mark.parametrize(
    ("votes", "bound"), [(1e300, quantile._LOWEST), (-1e300, quantile._HIGHEST)]
)
def test_no_count_moves_the_bound_out_of_sight(votes, bound):
    assert after(quantile.build(0.3, 0.5), votes) == pytest.approx(bound)


@pytest.mark.parametrize("target", [0.2, 0.5, 0.9])
def test_the_bound_converges_to_the_quantile_of_the_norms(target):
    norms = np.random.default_rng(0).lognormal(0.0, 0.5, 100)
    rule = quantile.build(0.01, quantile=target)
    late = []
    for step in range(250):
        votes = np.where(norms <= rule.clip_norm, 0.5, -0.5).sum()
        after(rule, votes, expected=100.0, normal=noise.Seeded("count", step).normal)
        late += [rule.clip_norm] if step >= 100 else []
    low, high = np.quantile(norms, [target - 0.05, target + 0.05])
    assert low < np.mean(late) < high


@pytest.mark.parametrize("votes", [-3.5, 0.0, 40.0])
def test_the_noisy_count_leaves_on_a_grid(votes):
    """Its last digits could tell which votes the noise was added to."""
    rule, counts = quantile.build(1.0, 0.5, rate=1.0), []
    for step in range(20):
        before, normal = rule.clip_norm, noise.Seeded("grid", step).normal
        counts.append(64 * math.log(before / after(rule, votes, expected=64.0, normal=normal)))
    points = [count * 2**10 for count in counts]
    assert points == pytest.approx([round(point) for point in points], abs=1e-6)
    assert len(set(map(round, points))) == 20

"""The noise: standard normal by a test independent of its code, one stream per key."""

import pytest
import torch
from scipy import stats

from dpfl.draws import noise, streams

N = 40_000


every_source = pytest.mark.parametrize("source", noise.SOURCES.values(), ids=noise.SOURCES)


@every_source
def test_draws_are_standard_normal_and_uniform_to_the_last_digit(source):
    """Digits after the 40th binary place, far below what is released: float32 has none of them."""
    normal, uniform = source("key", 1).normal(N).numpy(), source("key", 1).uniform(N)
    assert stats.kstest(normal, "norm").pvalue > 1e-4 and abs(normal.var() - 1) < 0.05
    assert stats.kstest(normal * 2.0**40 % 1, "uniform").pvalue > 1e-4
    assert stats.kstest(uniform, "uniform").pvalue > 1e-4
    assert uniform.min() >= 0 and uniform.max() < 1


@every_source
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_any_number_of_draws(source, size):
    draws = source("key").normal(size)
    assert draws.shape == (size,) and draws.dtype == torch.float64 and draws.isfinite().all()


@every_source
def test_a_key_repeats_its_draws_and_no_other_keys(source):
    assert torch.equal(source("a", 1).normal(9), source("a", 1).normal(9))
    assert not torch.equal(source("a", 1).normal(9), source("a", 2).normal(9))
    assert not (source("a", 1).uniform(9) == source("a", 2).uniform(9)).any()


@every_source
def test_what_is_drawn_later_does_not_depend_on_the_sizes_drawn_before(source):
    short, long = source("a"), source("a")
    short.uniform(2)
    first = short.normal(5), long.normal(9)
    assert torch.equal(first[0], first[1][:5])
    second = short.normal(3), long.normal(3)
    assert torch.equal(*second) and not torch.equal(second[0], first[0][:3])


def test_a_call_has_the_stream_of_its_number():
    draws = noise.Seeded("a", 1)
    for number in range(3):
        expected = streams.rng("a", 1, "normal", number).standard_normal(4)
        assert draws.normal(4).tolist() == expected.tolist()


def test_uniforms_come_from_the_stream_of_the_key_whatever_else_is_drawn():
    draws = noise.Seeded("a")
    draws.normal(7)
    assert draws.uniform(4).tolist() == streams.rng("a").random(4).tolist()


def test_keys_that_agree_in_the_low_32_bits_of_their_seed_differ(monkeypatch):
    """torch's CPU generator would give both the same draws."""
    draws = []
    for seed in (1, 1 + 2**32, 1 + 2**64):
        monkeypatch.setattr(streams, "seed_of", lambda *key, seed=seed: seed)
        draws.append(noise.Seeded("key").normal(9))
    assert not torch.equal(draws[0], draws[1]) and not torch.equal(draws[0], draws[2])


def test_steps_and_clients_do_not_share_noise():
    draws = torch.stack(
        [noise.Seeded("noise", c, t).normal(500) for c in range(20) for t in range(20)]
    )
    correlation = torch.corrcoef(draws)
    correlation.fill_diagonal_(0)
    assert correlation.abs().max() < 0.3  # 7 standard deviations

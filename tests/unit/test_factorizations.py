"""Sensitivities of runs with correlated noise: published values, matrices written out, trees."""

import math

import numpy as np
import pytest
import torch
from dp_accounting import GaussianDpEvent, NeighboringRelation, SingleEpochTreeAggregationDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st
from refusals import line_of

from dpfl.factorizations import Factorization, Run, of_toeplitz, root_of_workload

LAMBDAS = {"0": 4.47214, "0.5": 5.16398, "0.9": 10.2600, "0.95": 14.4031}
BANDS = {"bands": "4", "momentum": "0.9", "decay": "0.9999"}
PUBLISHED = [
    *(("dp-lambda", Run(2000, 20, 100), {"lam": lam}, s) for lam, s in LAMBDAS.items()),
    ("bsr", Run(781, 11, 78), BANDS, 5.96654),
    ("bisr", Run(781, 11, 78), BANDS, 10.61497),
    ("tree", Run(10_000, 100, 100), {"restart": "2000"}, math.sqrt(4 * 926 + 425)),
]


def sensitivity(name, run, settings):
    return Factorization(name, settings).sensitivity(run)


@pytest.mark.parametrize(("name", "run", "settings", "expected"), PUBLISHED)
def test_published_values(name, run, settings, expected):
    """Kalinin et al. print those of BSR and BISR; the tree is an example of DP-FTRL's code."""
    assert sensitivity(name, run, settings) == pytest.approx(expected, rel=1e-5)


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 6), st.sampled_from([0.0, 0.5, 0.9]))
def test_it_is_the_longest_sum_of_columns_that_an_example_can_pick(k, b, more, lam):
    n = (k - 1) * b + 1 + more
    c = np.array([[lam ** (i - j) if i >= j else 0.0 for j in range(n)] for i in range(n)])
    picks = (c[:, start::b][:, :k].sum(1) for start in range(min(b, n)))
    longest = max(float(np.linalg.norm(pick)) for pick in picks)
    assert sensitivity("dp-lambda", Run(n, k, b), {"lam": str(lam)}) == pytest.approx(longest)


def test_steps_as_far_apart_as_there_are_bands_pick_columns_that_do_not_overlap():
    whole, one = (sensitivity("bsr", Run(20, k, 4), {"bands": "4"}) for k in (5, 1))
    assert whole == pytest.approx(math.sqrt(5) * one)
    assert one == pytest.approx(math.hypot(1, 1 / 2, 3 / 8, 5 / 16))


def test_the_root_of_the_workload_squared_is_the_workload():
    root, inverse = (root_of_workload(50, 0.9, 0.99, power) for power in (-0.5, 0.5))
    workload = [(0.99 ** (i + 1) - 0.9 ** (i + 1)) / 0.09 for i in range(50)]
    assert np.convolve(root, root)[:50] == pytest.approx(workload)
    assert np.convolve(root, inverse)[:50] == pytest.approx(np.eye(50)[0], abs=1e-12)


@pytest.mark.parametrize("steps", [1, 7, 8, 100])
def test_a_tree_of_one_epoch_costs_what_dp_accounting_says(steps):
    run, z = Run(steps, 1, steps), 5.0
    theirs = RdpAccountant(None, NeighboringRelation.REPLACE_SPECIAL)
    theirs.compose(SingleEpochTreeAggregationDpEvent(z, [steps]))
    ours = RdpAccountant().compose(GaussianDpEvent(z / sensitivity("tree", run, {})))
    assert ours.get_epsilon(1e-5) == pytest.approx(theirs.get_epsilon(1e-5))


@pytest.mark.parametrize(
    ("name", "settings", "told"),
    [
        ("bsr", {"band": "2"}, "no setting 'band' of bsr; did you mean 'bands'?"),
        ("bsr", {}, "setting bands of bsr is missing"),
        ("bisr", {"bands": "two"}, "setting bands is 'two', expected a number"),
        ("bisr", {"bands": "0"}, "bands is 0; it must be a whole number >= 1"),
        ("bsr", {"bands": "2", "momentum": "1"}, "expected 0 <= momentum < decay <= 1"),
        ("dp-lambda", {"lam": "1"}, "lam is 1.0; it must be a number in [0, 1)"),
        ("tree", {"restart": "7"}, "restart is 7, must be a multiple of 5"),
    ],
)
def test_mistakes_are_one_line(name, settings, told):
    assert told in line_of(sensitivity, name, Run(20, 4, 5), settings)


def test_what_has_no_exact_price_is_refused():
    assert "more than 10 steps hold" in line_of(Run, 10, 4, 4)
    assert "never rise" in line_of(of_toeplitz, np.array([1.0, 0.5, 0.6]), Run(5, 1, 5))


STEPS = 23
STREAMS = {
    "dp-lambda": {"lam": "0.7"},
    "bsr": {"bands": "4", "momentum": "0.5"},
    "bisr": {"bands": "3"},
    "tree": {"restart": "7"},
}


def written_out(name, settings):
    """Return the noise of each step as weights of the fresh draws [STEPS, draws]."""
    drawn = iter(torch.eye(3 * STEPS, dtype=torch.float64))
    stream = Factorization(name, settings).stream()
    return torch.stack([stream.next(lambda: next(drawn)) for _ in range(STEPS)]).numpy()


@pytest.mark.parametrize(("name", "settings"), list(STREAMS.items())[:3])
def test_the_noise_of_steps_is_that_of_the_matrix(name, settings):
    """Its inverse has the columns whose longest sum the sensitivity is."""
    inverse = written_out(name, settings)[:, :STEPS]
    c = np.linalg.inv(inverse)
    assert np.allclose(c, np.tril(c)) and np.allclose(np.diag(c), 1)
    run = Run(STEPS, 3, 8)
    longest = max(np.linalg.norm(c[:, start::8][:, :3].sum(1)) for start in range(8))
    assert sensitivity(name, run, settings) == pytest.approx(longest)


@pytest.mark.parametrize("complete", [0, 1])
def test_a_prefix_of_a_tree_has_the_noise_of_its_nodes(complete):
    """As many nodes as the number of steps has ones; of whole trees before, one or those again."""
    noise = written_out("tree", {"restart": "7", "complete": str(complete)})
    before = 1 if complete else 3  # 7 is 111 in binary
    for steps in range(1, STEPS + 1):
        prefix = noise[:steps].sum(0)
        trees, rest = divmod(steps - 1, 7)
        nodes = trees * before + (rest + 1).bit_count()
        assert sorted(prefix[prefix != 0]) == [1.0] * nodes


@pytest.mark.parametrize(("name", "settings"), STREAMS.items())
def test_noise_continues_from_its_state(name, settings):
    draws = list(torch.randn(3 * STEPS, 5, generator=torch.Generator().manual_seed(0)))
    whole, first, second = (Factorization(name, settings).stream() for _ in range(3))
    given, again = iter(draws), iter(draws)
    expected = [whole.next(lambda: next(given)) for _ in range(STEPS)]
    made = [first.next(lambda: next(again)) for _ in range(9)]
    second.restore(first.state())
    made += [second.next(lambda: next(again)) for _ in range(STEPS - 9)]
    assert torch.equal(torch.stack(made), torch.stack(expected))

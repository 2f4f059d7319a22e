"""The factorisation of gradients against the singular value decomposition of G written out."""

import math

import pytest
import torch
from example_gradients import each_cross_entropy, shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from dpfl.decomposition.factors import SOLVERS, funk, gram, per_example, square
from dpfl.gradients import PerExampleGradients

SIZES = (8.0, 5.0, 3.0, 2.0, 1.2, 0.7, 0.4, 0.2)


def orthonormal(rows, columns, generator):
    normal = torch.randn(rows, columns, dtype=torch.float64, generator=generator)
    return torch.linalg.qr(normal)[0]


def matrix(length, width, sizes=SIZES, seed=0):
    """A matrix [length, width] in float64 with the given singular values."""
    generator = torch.Generator().manual_seed(seed)
    u, w = (orthonormal(n, len(sizes), generator) for n in (length, width))
    return u * torch.tensor(sizes, dtype=torch.float64) @ w.t()


def truncated(g, k, less=0.0):
    """The best approximation of rank k, `less` taken off its singular values."""
    u, s, w = torch.linalg.svd(g, full_matrices=False)
    return u[:, :k] * (s[:k] - less).clamp(min=0) @ w[:k]


def objective(g, factors, ridge):
    h = factors.mix @ g
    size = factors.v.square().sum() + h.square().sum()
    return ((g - factors.v @ h).square().sum() + ridge * size).item()


def least(g, k, ridge):
    """The minimum of the objective, from its closed form."""
    s = torch.linalg.svdvals(g)
    kept = (s[:k] - ridge).clamp(min=0)
    left = s.clone()
    left[:k] -= kept
    return (left.square().sum() + 2 * ridge * kept.sum()).item()


def gradients(length=40):
    """G of the network for the digits, as the engine holds it."""
    model, inputs, targets = shipped("digits-cnn", length)
    return PerExampleGradients(model, each_cross_entropy, inputs, targets)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    length=st.integers(1, 20),
    width=st.integers(1, 30),
    k=st.integers(1, 25),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
    seed=st.integers(0, 99),
)
def test_gram_is_the_best_approximation(length, width, k, scale, seed):
    generator = torch.Generator().manual_seed(seed)
    g = scale * torch.randn(length, width, dtype=torch.float64, generator=generator)
    factors = gram(g @ g.t(), k)
    h, rank = factors.mix @ g, min(k, length, width)
    assert factors.v.shape == (length, rank)
    assert factors.mix.shape == (rank, length)
    assert (factors.v @ h - truncated(g, k)).norm() <= 1e-8 * g.norm()
    torch.testing.assert_close(h @ h.t(), torch.eye(rank).double(), atol=1e-6, rtol=0)
    sizes = torch.linalg.svdvals(g)[:rank]
    found = factors.v.t() @ factors.v
    assert (found - sizes.square().diag()).norm() <= 1e-8 * sizes[0] ** 2


TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-7}  # roots of what K is rounded to


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("width", [30, 3000])
def test_a_rank_below_k_gives_fewer_columns_and_leaves_nothing(width, dtype):
    g = matrix(20, width).to(dtype)
    factors = gram(g @ g.t(), 15)
    assert factors.v.shape == (20, len(SIZES))
    assert factors.v.dtype == factors.mix.dtype == dtype
    h = factors.mix @ g
    assert (g - factors.v @ h).norm() <= TOLERANCE[dtype] * g.norm()
    torch.testing.assert_close(h @ h.t(), torch.eye(len(SIZES), dtype=dtype), atol=1e-3, rtol=0)


@pytest.mark.parametrize("length", [20, 200])
@pytest.mark.parametrize("dtype", TOLERANCE)
def test_rounding_is_not_taken_for_rank(length, dtype):
    """Products with a large common part, as of gradients that point the same way."""
    g = (matrix(length, 5000, (1.0,) * 12) + 1e-1 * matrix(length, 5000, (10.0,), seed=1)).to(dtype)
    assert gram(g @ g.t(), length).v.shape[1] == 13


@pytest.mark.parametrize("length", [0, 1, 3])
@pytest.mark.parametrize("solver", SOLVERS)
def test_no_gradients_and_zero_gradients(solver, length):
    factors = SOLVERS[solver](torch.zeros(length, length), 2)
    columns = {"gram": 0, "funk": 2}[solver]
    assert factors.v.shape == (length, columns)
    assert factors.mix.shape == (columns, length)
    assert not factors.v.any() and not factors.mix.any()


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    length=st.integers(8, 16),
    width=st.integers(8, 40),
    k=st.integers(1, 20),
    ridge=st.sampled_from([0.3, 1.0, 1.6, 10.0]),
)
def test_funk_ends_at_the_soft_thresholded_singular_values(length, width, k, ridge):
    g = matrix(length, width)
    factors = funk(g @ g.t(), k, ridge=ridge, sweeps=400)
    h = factors.mix @ g
    assert factors.v.shape == (length, k)
    assert factors.mix.shape == (k, length)
    assert (factors.v @ h - truncated(g, k, ridge)).norm() <= 1e-8 * g.norm()
    assert factors.v.norm() == pytest.approx(h.norm().item(), rel=1e-6, abs=1e-8)
    assert objective(g, factors, ridge) == pytest.approx(least(g, k, ridge), rel=1e-10)


@pytest.mark.parametrize("k", [3, 10, 60])
def test_the_sweeps_are_enough_for_the_gradients_of_a_network(k):
    g = gradients().rows()
    factors = funk(g @ g.t(), k)
    excess = objective(g, factors, 1e-2) - least(g, k, 1e-2)
    assert 0 <= excess <= 1e-3 * g.square().sum()


@pytest.mark.parametrize("k", [2, 20])
def test_funk_of_gradients_far_below_the_ridge_is_zero(k):
    g = 1e-9 * matrix(9, 30)
    factors = funk(g @ g.t(), k)
    assert factors.v.isfinite().all() and factors.mix.isfinite().all()
    assert (factors.v @ factors.mix @ g).norm() <= 1e-12 * g.norm()


def test_funk_of_large_gradients_in_float32():
    """The rounding of K makes eigenvalues that are negative, and far below minus the ridge."""
    g = (1e4 * matrix(20, 3000)).float()
    k = g @ g.t()
    assert torch.linalg.eigvalsh(k.double())[0] < -1
    factors = funk(k, 30)
    assert factors.v.dtype == factors.mix.dtype == torch.float32
    assert (factors.v @ (factors.mix @ g) - g).norm() <= 1e-3 * g.norm()


test_mistakes_are_named_with_their_bound = refused(
    (lambda: gram(torch.eye(3), 0), "^k is 0, must be at least 1$"),
    (lambda: funk(torch.eye(3), 2, ridge=0.0), "^ridge is 0.0, must be positive and finite$"),
    (lambda: funk(torch.eye(3), 2, ridge=math.inf), "^ridge is inf, must be positive and finite$"),
    (lambda: per_example(torch.ones(2, 30), 0), "^k is 0, must be in 1..6$"),
    (lambda: per_example(torch.ones(2, 30), 7), "^k is 7, must be in 1..6$"),
)


def test_the_factors_of_gradients_that_are_never_written_out():
    engine, k = gradients(), 10
    factors, g = gram(engine.gram(), k), engine.rows()
    h = engine.combinations(factors.mix)
    torch.testing.assert_close(h @ h.t(), torch.eye(k).double(), atol=1e-9, rtol=0)
    torch.testing.assert_close(engine.inner(h), factors.v)  # G H^T = V, as H is orthonormal
    torch.testing.assert_close(factors.v @ h, truncated(g, k), atol=1e-9, rtol=0)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(length=st.integers(0, 3), width=st.integers(1, 60))
def test_square_holds_every_gradient_and_zeros(length, width):
    rows = torch.arange(1, 1 + length * width).view(length, width)
    found = square(rows)
    side = found.shape[1]
    assert found.shape == (length, side, side)
    assert (side - 1) ** 2 < width <= side**2
    assert torch.equal(found.flatten(1)[:, :width], rows)
    assert not found.flatten(1)[:, width:].any()


@pytest.mark.parametrize("dtype, tolerance", [(torch.float32, 1e-5), (torch.float64, 1e-10)])
@pytest.mark.parametrize("width", [1, 30, 49])
def test_every_gradient_is_approximated_on_its_own(width, dtype, tolerance):
    rows = matrix(12, width, SIZES[: min(8, width)])
    squares = square(rows)
    for k in range(1, squares.shape[1] + 1):
        v, h = per_example(rows.to(dtype), k)
        assert v.shape == (12, squares.shape[1], k)
        assert h.shape == (12, k, squares.shape[1])
        assert v.dtype == h.dtype == dtype
        expected = torch.stack([truncated(one, k) for one in squares])
        assert (v @ h - expected).norm() <= tolerance * squares.norm()
        identity = torch.eye(k, dtype=dtype).expand(12, k, k)
        torch.testing.assert_close(h @ h.transpose(1, 2), identity, atol=tolerance, rtol=0)


def test_gradients_of_less_rank_than_k_and_none():
    v, h = per_example(torch.zeros(3, 9), 2)
    assert not v.any() and h.isfinite().all()
    v, h = per_example(torch.zeros(0, 9), 2)
    assert v.shape == (0, 3, 2) and h.shape == (0, 2, 3)

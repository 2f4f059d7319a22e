"""FSDP's versions against dense linear algebra, and the proof of the certified one."""

import math

import pytest
import torch
from example_gradients import naive
from fixtures_of_steps import EXPECTED, drawn, ones, setting, step_of
from hypothesis import given
from hypothesis import settings as of_hypothesis
from hypothesis import strategies as st
from scipy.optimize import minimize
from torch import nn

from dpfl import plugins
from dpfl.contracts import bounds
from dpfl.contracts.release import Release
from dpfl.decomposition.basis import SOURCES
from dpfl.decomposition.factors import SOLVERS
from dpfl.decomposition.noise_split import split
from dpfl.gradients.step import Public
from dpfl.mechanisms import (
    dpsgd,
    dpsgd_relevance,
    fsdp_central,
    fsdp_certified,
    fsdp_literal,
    fsdp_published,
)
from dpfl.relevance.layers import layer_relevance, shares
from dpfl.relevance.noise_scale import Relevance

FIXED = {"rule": "fixed", "clip_norm": 0.7}
WIDE = {"rule": "fixed", "clip_norm": 1e9}
MEAN = {"rule": "fsdp-adaptive", "clip_norm": 0.7}
QUANTILE = {"rule": "quantile", "clip_norm": 0.7, "quantile": 0.85, "rate": 0.2}
Z = 1.3


def dense(rows, rank):
    """Return V, H and Phi of rows [L, D] by a singular value decomposition."""
    u, s, w = torch.linalg.svd(rows, full_matrices=False)
    v, h = u[:, :rank] * s[:rank], w[:rank]
    return v, h, rows - v @ h


def certified(clipping, **settings):
    return fsdp_certified.build(clipping, **{"rank": 6, "basis_examples": 40, **settings})


BASES = ["noise-images", "public", "random"]
LOSSLESS = [
    *((fsdp_central.build, {"rank": rank}) for rank in (1, 5, 40)),
    *((fsdp_published.build, {"rank": rank}) for rank in (1, 5, 40)),
    *((fsdp_published.build, {"rank": rank, "reading": "matrix"}) for rank in (1, 9)),
    *((fsdp_literal.build, {"rank": rank, "reading": "matrix"}) for rank in (1, 9)),
    *((certified, {"basis": basis}) for basis in BASES),
]


@pytest.mark.parametrize(("build", "settings"), LOSSLESS)
def test_without_noise_a_version_that_does_not_clip_is_the_plain_mean(build, settings):
    model, inputs, targets = setting(12)
    found = build(WIDE, **settings).estimate(step_of(model, inputs, targets))
    expected = naive(model, inputs, targets).sum(0) / EXPECTED
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)


def test_central_adds_one_draw_to_the_sum_of_v_and_one_to_the_sum_of_phi():
    model, inputs, targets = setting(12)
    rows = naive(model, inputs, targets)
    v, h, phi = dense(rows, 4)
    normal = drawn("central")
    found = fsdp_central.build(MEAN, rank=4).estimate(
        step_of(model, inputs, targets, z=Z, normal=normal)
    )
    again = drawn("central")
    norms = rows.norm(dim=1)
    kept = (norms - norms.mean()).abs() <= 3 * norms.std(correction=0)
    c_v, c_phi = (part[kept].norm(dim=1).mean() for part in (v, phi))
    of_v, of_phi = again(4), again(75)
    # The sign of a singular vector is free, so that the noise of V is known up to signs.
    rest = EXPECTED * found - rows.sum(0) - Z * c_phi * of_phi
    torch.testing.assert_close(rest - rest @ h.t() @ h, torch.zeros(75).double(), atol=1e-6, rtol=0)
    torch.testing.assert_close((rest @ h.t()).abs(), Z * c_v * of_v.abs(), rtol=1e-5, atol=1e-7)


def test_published_clips_every_noisy_example_at_the_mean_noisy_norm():
    model, inputs, targets = setting(9)
    rows = naive(model, inputs, targets)
    found = fsdp_published.build(MEAN, rank=75).estimate(
        step_of(model, inputs, targets, z=0.0, normal=drawn("published"))
    )
    norms = rows.norm(dim=1)
    bound = norms[(norms - norms.mean()).abs() <= 3 * norms.std(correction=0)].mean()
    expected = (rows * (bound / norms).clamp(max=1)[:, None]).sum(0) / EXPECTED
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)


def test_published_adds_noise_of_its_own_to_every_example():
    model, inputs, targets = setting(8)
    mechanism = fsdp_published.build(WIDE, rank=75)
    quiet, noisy = (
        mechanism.estimate(step_of(model, inputs, targets, z=z, normal=drawn("own")))
        for z in (0.0, 1e-9)
    )
    again = drawn("own")
    again(8 * 8)  # the noise of V, of rank 8
    spread = again(8 * 75).view(8, 75).sum(0) / EXPECTED
    moved = noisy - quiet  # spread by 1e-9 times a bound of 1e9
    _, h, _ = dense(naive(model, inputs, targets), 8)
    outside = torch.eye(75).double() - h.t() @ h
    torch.testing.assert_close(moved @ outside, spread @ outside, rtol=1e-5, atol=1e-6)


def test_the_thresholds_of_the_literal_version_are_lengths_of_absolute_noise():
    model, inputs, targets = setting(40, scale=1e-6)
    mechanism = fsdp_literal.build(MEAN, rank=3)
    mechanism.estimate(step_of(model, inputs, targets, z=5.0, normal=drawn("literal")))
    c_v, c_phi, c_g = (rule.clip_norm for rule in mechanism.clippings)
    # Gradients of the biases alone are of order 1; the noise is of order 5 in each coordinate.
    assert c_v == pytest.approx(5 * math.sqrt(3), rel=0.3)
    assert c_phi == pytest.approx(5 * math.sqrt(75), rel=0.1)
    assert c_g == pytest.approx(5 * math.sqrt(78), rel=0.1)


@pytest.mark.parametrize(("name", "known"), [("solver", SOLVERS), ("basis", SOURCES)])
def test_a_configuration_may_name_every_solver_and_basis(name, known):
    for mechanism in plugins.names("mechanisms"):
        declared = plugins.constant("mechanisms", mechanism, "SETTINGS")
        if name in declared:
            assert bounds.parse(declared[name]).choices == tuple(known)


# The certified version


@pytest.mark.parametrize("rule", [FIXED, QUANTILE])
def test_rank_0_is_dp_sgd(rule):
    model, inputs, targets = setting(9)
    found = [
        build(rule).estimate(step_of(model, inputs, targets, z=Z, normal=drawn("same")))
        for build in (dpsgd.build, lambda c: certified(c, rank=0))
    ]
    assert torch.equal(*found)
    assert certified(rule, rank=0).release(Z, EXPECTED) == dpsgd.build(rule).release(Z, EXPECTED)


def test_its_noise_is_that_of_the_split_and_none_of_it_is_in_the_way_of_the_other():
    model, inputs, targets = setting(0)
    mechanism = certified(FIXED)
    found = EXPECTED * mechanism.estimate(step_of(model, inputs, targets, z=Z, normal=ones))
    bound, basis = 0.7 / math.sqrt(2), mechanism.basis.rows
    z_v, z_p = split(Z, (bound, bound), (6, 69))
    in_basis = found @ basis.t()
    grid = {"rtol": 0, "atol": z_p * bound * 2**-19}  # what is released lies on one
    torch.testing.assert_close(in_basis, torch.full((6,), z_v * bound).double(), **grid)
    outside = torch.full((75,), z_p * bound).double()
    expected = outside - outside @ basis.t() @ basis
    torch.testing.assert_close(found - in_basis @ basis, expected, **grid)


@pytest.mark.parametrize("basis", BASES)
def test_the_basis_is_orthonormal_and_owes_nothing_to_the_batch(basis):
    found = []
    for seed in (0, 1):
        model, inputs, targets = setting(9, seed)
        mechanism = certified(FIXED, basis=basis)
        mechanism.estimate(step_of(model, inputs, targets))
        found.append(mechanism.basis.rows)
    assert torch.equal(*found)
    torch.testing.assert_close(found[0] @ found[0].t(), torch.eye(6).double(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("rank", [74, 75, 500])
def test_a_basis_leaves_a_direction_to_the_rest(basis, rank):
    """Of a network of 75 parameters: a complete basis would leave the rest infinite noise."""
    model, inputs, targets = setting(9)
    mechanism = certified(FIXED, basis=basis, rank=rank, basis_examples=500)
    found = mechanism.estimate(step_of(model, inputs, targets, z=1.0, normal=drawn("rest")))
    assert len(mechanism.basis.rows) < 75 and found.isfinite().all()


def test_the_basis_is_kept_between_refreshes_and_made_anew_in_a_new_round():
    model, inputs, targets = setting(9)
    mechanism = certified(FIXED, basis_every=2)
    seen = []
    for number in (0, 1, 2, 0):
        mechanism.estimate(step_of(model, inputs, targets, number=number))
        seen.append(mechanism.basis.rows)
        with torch.no_grad():
            model[0].weight.mul_(1.1)
    assert seen[0] is seen[1] and seen[1] is not seen[2] and seen[2] is not seen[3]


@of_hypothesis(max_examples=20, deadline=None)
@given(
    clips=st.lists(st.floats(0.05, 20), min_size=2, max_size=4),
    sizes=st.lists(st.integers(1, 500), min_size=4, max_size=4),
)
def test_no_split_of_the_noise_has_less_energy(clips, sizes):
    sizes = sizes[: len(clips)]

    # Its slopes are of order 1; those of the energy itself can lead the search astray.
    def log_energy(logs):
        shares = [math.exp(x) for x in logs]
        return math.log(
            sum((Z * c) ** 2 * d / s for c, d, s in zip(clips, sizes, shares, strict=True))
        ) + math.log(sum(shares))

    found = split(Z, clips, sizes)
    assert sum(z**-2 for z in found) == pytest.approx(Z**-2)
    ours = sum((z * c) ** 2 * d for z, c, d in zip(found, clips, sizes, strict=True))
    best = math.exp(minimize(log_energy, [0.0] * len(clips), method="BFGS").fun)
    assert ours <= best * (1 + 1e-9)
    assert ours == pytest.approx(best, rel=1e-3)


def test_a_proof_covers_the_counts_of_both_rules():
    multipliers = certified(QUANTILE).release(Z, EXPECTED).multipliers
    assert len(multipliers) == 3
    assert Z < multipliers[0] < 1.055 * Z  # little of the noise goes into counting


# Relevance


def test_relevance_scales_the_noise_of_each_layer_of_a_convolutional_network():
    _, inputs, targets = setting(0)
    convolution = nn.Sequential(
        *(nn.Unflatten(1, (1, 1, 5)), nn.Conv2d(1, 2, (1, 3)), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(6, 3)),
    ).double()
    step = step_of(convolution, inputs, targets, z=Z, normal=ones)
    relevances = layer_relevance(convolution, step.public.inputs, step.public.targets)
    found = shares(relevances.mean(dim=1))
    scale = Relevance().noise_scale(step)
    expected = torch.cat([torch.full((8,), 1 / found[0]), torch.full((21,), 1 / found[1])])
    torch.testing.assert_close(scale, expected.double())
    noise = dpsgd_relevance.build(FIXED).estimate(step)
    torch.testing.assert_close(noise, Z * 0.7 * scale / EXPECTED)


def test_relevance_scales_the_noise_of_each_input_of_a_dense_network():
    """Of one Linear, the relevance of an input is what it adds to the logit: x_j w_tj."""
    model = nn.Sequential(nn.Linear(5, 3)).double()
    step = step_of(model, *setting(0)[1:], z=Z, normal=ones)
    x, w = step.public.inputs, model[0].weight.detach()[step.public.targets]
    expected = (x * w).abs().mean(0)
    expected = expected.sum() / (5 * expected)
    found = Relevance().noise_scale(step)
    torch.testing.assert_close(found[:15].view(3, 5), expected.expand(3, 5), rtol=1e-5, atol=0)
    assert found[15:].tolist() == [1.0] * 3
    noise = dpsgd_relevance.build(FIXED).estimate(step)
    torch.testing.assert_close(noise, Z * 0.7 * found / EXPECTED)


def test_relevance_of_inputs_leaves_the_layers_behind_the_first_alone():
    found = Relevance().noise_scale(step_of(*setting(0)))
    assert found.shape == (75,) and found[40:].tolist() == [1.0] * 35
    assert torch.equal(found[:5], found[35:40]) and not torch.equal(found[:5], torch.ones(5))


def test_relevance_scales_the_noise_of_phi_but_not_of_v():
    model, inputs, targets = setting(5)
    plain, relevant = (
        fsdp_central.build(FIXED, rank=3, relevance=r).estimate(
            step_of(model, inputs, targets, z=Z, normal=ones)
        )
        for r in (False, True)
    )
    scale = Relevance().noise_scale(step_of(model, inputs, targets))
    torch.testing.assert_close(relevant - plain, Z * 0.7 * (scale - 1) / EXPECTED)


def test_only_the_certified_version_has_a_proof():
    for module in (fsdp_literal, fsdp_published, fsdp_central, dpsgd_relevance):
        assert not isinstance(module.build(FIXED).release(Z, EXPECTED), Release)
    assert isinstance(certified(FIXED).release(Z, EXPECTED), Release)


def test_long_gradients_within_the_basis_are_clipped_all_the_same():
    """The part beside the basis is then a small difference of large numbers, in float32."""
    generator = torch.Generator().manual_seed(0)
    images = torch.randn(30, 16, 32, 32, generator=generator)
    labels = torch.randint(0, 10, (30,), generator=generator)
    model = nn.Sequential(nn.Flatten(), nn.Linear(16 * 32 * 32, 10))
    clip_norm, near = 0.1, images[:12] + 3e-3 * torch.randn(12, *images.shape[1:])
    for private, label in zip(near, labels, strict=False):
        clipping = {"rule": "fixed", "clip_norm": clip_norm}
        mechanism = fsdp_certified.build(clipping, rank=30, basis="public")
        step = step_of(model, private[None], label[None], batch=1.0, public=Public(images, labels))
        released = mechanism.estimate(step).double()
        basis = mechanism.basis.rows.double()
        beside = released - (released @ basis.t()) @ basis
        for part in (released @ basis.t(), beside):
            assert part.norm() <= clip_norm / math.sqrt(2) * (1 + 1e-4)


@pytest.mark.parametrize("scale", [0.0, math.inf])
def test_a_network_without_relevances_has_equal_ones(scale):
    model, inputs, targets = setting(4)
    with torch.no_grad():
        for p in model.parameters():
            p.mul_(scale)
    found = Relevance().noise_scale(step_of(model, inputs, targets))
    assert found.tolist() == [1.0] * 75

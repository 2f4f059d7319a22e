"""Features whitened by synthetic pictures: what the pictures are, and that no data are in them."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from torch.nn import functional

from dpfl import data
from dpfl.data import (
    _dead_leaves,
    _patches,
    _scattering,
    _whitening,
    cifar10,
    digits,
    mnist,
)


@pytest.fixture
def few(monkeypatch):
    """Compute covariances from few pictures."""
    monkeypatch.setattr(_whitening, "PICTURES", 30)


def noise(count, shape, seed=0):
    return np.random.default_rng(seed).integers(256, size=(count, *shape), dtype=np.uint8)


def arrays(train, test):
    labels = [np.zeros(len(part), np.int64) for part in (train, test)]
    return data.Arrays(train, labels[0], test, labels[1])


# --- Dead leaves


def test_pictures_are_the_same_everywhere_and_more_of_them_begin_alike():
    pictures = _dead_leaves.pictures(60, (3, 12, 12))
    assert pictures.shape == (60, 3, 12, 12) and pictures.dtype == np.uint8
    assert np.array_equal(_dead_leaves.pictures(7, (3, 12, 12)), pictures[:7])
    assert not np.array_equal(pictures[0], pictures[1])
    code = "from dpfl.data import _dead_leaves as d; print(d.pictures(1, (3, 12, 12)).tolist())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == str(pictures[:1].tolist())


# --- Whitening


def test_channels_are_white_but_for_the_shrinkage():
    generator = torch.Generator().manual_seed(0)
    mix = torch.randn(5, 5, generator=generator)
    rows = torch.randn(200, 3, 4, 5, generator=generator) @ mix.T + 7
    features = rows.permute(0, 3, 1, 2)
    whiten = _whitening.whitening(features, 0.1)
    found = torch.stack([whiten(one) for one in features]).permute(0, 2, 3, 1).reshape(-1, 5)
    covariance = np.cov(rows.reshape(-1, 5).double().numpy().T, bias=True)
    values = np.linalg.eigvalsh(covariance)
    expected = values / (values + 0.1 * values.mean())
    assert np.abs(found.mean(0).numpy()).max() < 1e-4
    left = np.linalg.eigvalsh(np.cov(found.double().numpy().T, bias=True))
    np.testing.assert_allclose(left, expected, rtol=1e-4)
    np.testing.assert_allclose(whiten.matrix, whiten.matrix.T, atol=1e-5)


def misfit(features, whitened):
    """Fit an affine map of channels to half of the places; return its errors at the others."""
    rows, targets = (
        a.astype(np.float64).transpose(0, 2, 3, 1).reshape(-1, a.shape[1])
        for a in (features, whitened)
    )
    rows = np.column_stack([rows, np.ones(len(rows))])
    half = len(rows) // 2
    fitted = np.linalg.lstsq(rows[:half], targets[:half], rcond=None)[0]
    return np.abs(rows[half:] @ fitted - targets[half:]) / targets.std()


def test_whitened_scattering_is_an_affine_map_of_scattering(few, tmp_path):
    pictures = digits.read(tmp_path)
    plain = _scattering.features(pictures, digits).train_inputs
    assert misfit(plain, _scattering.features(pictures, digits, 0.1).train_inputs).max() < 0.02


def test_mirrored_features_are_the_mean_of_a_pictures_and_its_mirror_images():
    pictures = noise(5, (3, 32, 32))
    found, plain, twins = (
        _scattering.features(arrays(own, own), cifar10, mirrored=mirrored).train_inputs
        for own, mirrored in (
            (pictures, True),
            (pictures, False),
            (np.ascontiguousarray(pictures[..., ::-1]), False),
        )
    )
    mean = (plain.astype(float) + twins.astype(float)) / 2
    np.testing.assert_allclose(found, mean, rtol=2**-10, atol=2**-10)  # float16 of both rounds
    assert not np.allclose(plain, twins, rtol=0.1)


def test_whitened_roots_are_an_affine_map_of_the_roots_of_cells(few, monkeypatch):
    """Of 2 x 2 places of the mirrored mean."""
    pictures = _dead_leaves.pictures(80, (3, 32, 32))[30:]
    plain = _scattering.features(arrays(pictures, pictures[:1]), cifar10, mirrored=True)
    cells = plain.train_inputs.astype(np.float64).reshape(50, 243, 4, 2, 4, 2).mean((3, 5))
    found = _scattering.roots(arrays(pictures, pictures[:1]), cifar10, 0.1).train_inputs
    assert found.shape == (50, 243, 4, 4)
    roots = np.sign(cells) * np.sqrt(np.abs(cells))
    assert misfit(roots, found).mean() < 0.02


# --- Filters from synthetic patches


@pytest.fixture(scope="module")
def bank():
    return _patches._bank(_dead_leaves.pictures(30, (3, 32, 32)))


def responses(bank, picture):
    """Return the responses [F, 27, 27] by loops over places, in float64."""
    found = np.empty((len(bank.filters), 27, 27))
    for row in range(27):
        for column in range(27):
            patch = picture[:, row : row + 6, column : column + 6].astype(float).reshape(-1)
            patch = (patch - patch.mean()) / np.sqrt(patch.var() + 10)
            found[:, row, column] = (
                bank.filters.double().numpy() @ patch + bank.offsets[:, 0].double().numpy()
            )
    return found


def test_features_equal_a_loop_over_places(bank):
    picture = noise(1, (3, 32, 32))[0]
    r = torch.from_numpy(responses(bank, picture))
    signs = torch.stack([(r - 0.5).clamp(min=0), (-r - 0.5).clamp(min=0)])
    cells = functional.adaptive_avg_pool2d(signs, 2)
    own, twin = cells[:, :512], cells[:, 512:]
    expected = torch.empty(2, 512, 2, 2, dtype=torch.float64)
    for column in range(2):
        expected[..., column] = (own[..., column] + twin[..., 1 - column]) / 2
    found = bank(picture).double().view(2, 512, 2, 2)
    torch.testing.assert_close(found.square(), expected, rtol=1e-4, atol=1e-6)


def test_filters_make_white_patches_of_norm_one(bank):
    """The responses to synthetic patches of a filter vary as one number of unit variance."""
    pictures = _dead_leaves.pictures(60, (3, 32, 32))[30:]
    found = torch.cat(
        [
            bank.offsets + bank.filters @ _patches._normalised(_patches._patches(p))
            for p in pictures
        ],
        dim=1,
    )
    assert bank.filters.shape == (1024, 108)
    assert found[:512].mean().abs() < 0.1
    assert 0.4 < found.var(dim=1).mean() < 1.2


# --- No data are in them


RULES = {
    "scattering": ((1, 28, 28), lambda a: _scattering.features(a, mnist, 0.1)),
    "mirrored": ((3, 32, 32), lambda a: _scattering.features(a, cifar10, 1.0, mirrored=True)),
    "roots": ((3, 32, 32), lambda a: _scattering.roots(a, cifar10, 0.1)),
    "patches": ((3, 32, 32), _patches.features),
}


@pytest.mark.parametrize("rule", RULES)
def test_features_of_a_picture_depend_on_that_picture_alone(rule, few):
    """Bit for bit, whatever the other pictures are and however many, in training and test."""
    shape, features = RULES[rule]
    one, others = noise(1, shape), noise(4, shape, seed=1)
    alone = features(arrays(one, one)).train_inputs[0]
    beside = features(arrays(np.concatenate([others // 3, one]), others))
    assert np.array_equal(beside.train_inputs[-1], alone)
    moved = features(arrays(others, np.concatenate([one, others])))
    assert np.array_equal(moved.test_inputs[0], alone)

"""Scattering features: Kymatio's other implementation, known properties, and the models on them."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from example_gradients import each_cross_entropy, naive
from refusals import refuses
from test_whitened_features import arrays, noise
from torch import nn

from dpfl import data, models, plugins
from dpfl.base.errors import UserError
from dpfl.data import _scattering, digits
from dpfl.gradients import PerExampleGradients
from dpfl.models.parts.feature_norm import FeatureNorm

BASES = {"digits-scatter": "digits", "mnist-scatter": "mnist", "cifar10-scatter": "cifar10"}
SHAPES = {name: plugins.constant("data", name, "SHAPE", None) for name in BASES}


PLAIN = SimpleNamespace(SCALE=255, MEAN=(0.0,), STD=(1.0,))  # pixels from 0 to 1


def features(pictures, base=PLAIN):
    """Return the features of uint8 pictures, in float64."""
    found = _scattering.features(arrays(pictures, pictures[:1]), base)
    assert found.train_inputs.dtype == np.float16
    assert np.array_equal(found.test_inputs, found.train_inputs[:1])
    return found.train_inputs.astype(float)


@pytest.fixture(scope="module")
def prepared(drive, tmp_path_factory):
    """Return the file of digits-scatter that the driver has written, and its output."""
    path = tmp_path_factory.mktemp("prepared") / "digits-scatter.safetensors"
    config = path.with_name("config.json")
    config.write_text(json.dumps({"data_dir": str(path.parent)}))
    where = ("--dataset", "digits-scatter", "--config", config, "--output", path)
    return path, drive("prepare_data", *where)


# --- What the features are


def test_digits_equal_what_kymatio_computes_in_numpy(tmp_path):
    from kymatio.scattering2d.frontend.numpy_frontend import ScatteringNumPy2D

    pictures, found = digits.read(tmp_path), data.read("digits-scatter", tmp_path)
    transform = ScatteringNumPy2D(J=2, shape=(8, 8), L=8)
    for part in ("train_inputs", "test_inputs"):
        expected = transform((getattr(pictures, part)[:, 0] / 16 - digits.MEAN) / digits.STD)
        np.testing.assert_allclose(getattr(found, part), expected, rtol=2**-10, atol=1e-6)
    assert np.array_equal(found.train_targets, pictures.train_targets)
    assert np.array_equal(found.test_targets, pictures.test_targets)


def test_every_colour_is_normalised_by_its_own_constants_first():
    """Waves have no mean: it moves the averages alone, and a spread divides everything."""
    pictures = noise(3, (3, 28, 28))
    base = SimpleNamespace(SCALE=255, MEAN=(0.2, 0.5, 0.7), STD=(0.5, 0.25, 0.125))
    expected = features(pictures).reshape(3, 3, 81, 7, 7)
    expected[:, :, 0] -= np.reshape(base.MEAN, (3, 1, 1))
    expected /= np.reshape(base.STD, (3, 1, 1, 1))
    found = features(pictures, base).reshape(expected.shape)
    np.testing.assert_allclose(found, expected, rtol=2**-8, atol=2e-3)


def test_features_of_a_picture_do_not_depend_on_its_chunk(monkeypatch):
    pictures = noise(10, (1, 28, 28))
    whole = features(pictures)
    monkeypatch.setattr(_scattering, "PLANES_PER_CHUNK", 3)
    assert np.array_equal(features(pictures), whole)
    assert np.array_equal(features(pictures[7:8]), whole[7:8])


# --- The data sets


def test_features_of_another_type_or_shape_are_refused(tmp_path, monkeypatch):
    source = plugins.load("data", "digits-scatter")
    monkeypatch.setattr(source, "DTYPE", "float32")
    message = r"expected float32 \(1437, 81, 2, 2\), found float16 \(1437, 81, 2, 2\)"
    refuses(message, data.read, "digits-scatter", tmp_path)


def test_constants_are_read_without_heavy_imports(imported):
    code = f"from dpfl import plugins; [plugins.load('data', n) for n in {[*BASES]}]"
    assert not imported(code, "numpy", "torch", "kymatio", "scipy", "sklearn")


def test_a_job_reads_back_the_features_as_they_were_computed(prepared, tmp_path):
    path, told = prepared
    expected = "digits-scatter, 1437 training and 360 test examples of 81 x 2 x 2, 10 classes"
    assert (told.stdout, told.stderr) == (f"{path}: {expected}\n", "")
    left = {other.name for other in path.parent.iterdir()}
    assert left == {path.name, f"{path.name}.sha256", "config.json"}
    arrays, dataset = data.read("digits-scatter", tmp_path), data.load(path)
    assert dataset.train_inputs.dtype == torch.float16
    for name in ("train_inputs", "train_targets", "test_inputs", "test_targets"):
        assert np.array_equal(getattr(dataset, name).numpy(), getattr(arrays, name))
    assert np.array_equal(data.load_train_targets(path), arrays.train_targets)


# --- The models


def build(model, shape, dtype=torch.float32):
    return models.build(model, torch.Generator().manual_seed(0), shape).to(dtype)


def examples(shape, count, dtype):
    """Return features of few sizes, as scattering gives, and targets."""
    generator = torch.Generator().manual_seed(1)
    sizes = torch.logspace(-4, 0, shape[0]).view(-1, 1, 1)
    inputs = sizes * torch.rand(count, *shape, generator=generator)
    return inputs.to(dtype), torch.randint(10, (count,), generator=generator)


def test_a_shape_is_asked_for_where_it_is_needed():
    with pytest.raises(UserError, match="scatter-linear is made for inputs of one shape"):
        models.build("scatter-linear", torch.Generator())
    given = models.build("digits-cnn", torch.Generator().manual_seed(0), (1, 8, 8))
    none = models.build("digits-cnn", torch.Generator().manual_seed(0))
    assert all(map(torch.equal, given.parameters(), none.parameters()))


@pytest.mark.parametrize("channels", [9, 81, 243])
def test_normalisation_is_by_three_channels_of_an_example_alone(channels):
    inputs, _ = examples((channels, 7, 7), 4, torch.float64)
    groups = inputs.view(4, channels // 3, 3 * 49)
    mean, variance = groups.mean(2, keepdim=True), groups.var(2, unbiased=False, keepdim=True)
    expected = ((groups - mean) / (variance + 1e-5).sqrt()).view_as(inputs)
    norm = FeatureNorm(channels)
    torch.testing.assert_close(norm(inputs), expected)
    assert not list(norm.parameters()) and not list(norm.buffers())


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("dataset", BASES)
@pytest.mark.parametrize("model", ["scatter-linear", "scatter-cnn"])
def test_per_example_gradients_equal_one_example_at_a_time(model, dataset, dtype):
    wide = torch.float64 if dtype == torch.float64 else torch.float32
    network = build(model, SHAPES[dataset], wide)
    inputs, targets = examples(SHAPES[dataset], 5, dtype)
    rows = naive(network, inputs, targets)
    found = PerExampleGradients(network, each_cross_entropy, inputs, targets)
    tolerance = 1e-10 if dtype == torch.float64 else 2e-5
    torch.testing.assert_close(found.norms().double(), rows.norm(dim=1), rtol=tolerance, atol=0)
    weights = torch.linspace(-1, 2, len(inputs), dtype=wide)
    total = nn.utils.parameters_to_vector([t.contiguous() for t in found.weighted_sum(weights)])
    expected = weights.double() @ rows
    assert total.dtype == wide
    assert (total.double() - expected).norm() <= tolerance * expected.norm()

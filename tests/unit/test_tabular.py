"""Data that is no picture, from its source to a private model: rows, and natural clients."""

import numpy as np
import pytest
import tiny
import torch

from dpfl import data, models, plugins
from dpfl.training import run

MECHANISMS = {
    "dpsgd": {"estimator": "dpsgd"},
    "fsdp-certified": {
        "estimator": "fsdp-certified",
        "rank": 4,
        "basis": "noise-images",
        "basis_examples": 20,
        "basis_every": 1,
    },
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """The prepared file of a data set of rows."""
    folder = tmp_path_factory.mktemp("rows")
    source, path = plugins.load("data", "breast-cancer"), folder / "rows.safetensors"
    arrays = data.read("breast-cancer", folder)
    data.write(path, arrays, source.SCALE, source.MEAN, source.STD)
    return path


def train(rows, folder, **changed):
    settings = tiny.settings(
        optimizer={"algorithm": "sgd", "rate_key": "lr", "rate": 0.5, "settings": {}},
        federation=tiny.federation(rounds=6, clients_per_round=None, local_steps=8),
        **changed,
    )
    return run.train(settings, tiny.inputs_of(settings, folder, rows), folder / "run", print)


@pytest.mark.parametrize("model", ["linear", "mlp"])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_rows_are_trained_privately(rows, tmp_path, mechanism, model):
    changed = {"dataset": "breast-cancer", "model": model, "mechanism": MECHANISMS[mechanism]}
    result = train(rows, tmp_path, **changed)
    assert result.metrics[-1]["test_accuracy"] > 0.85  # the commonest class has 0.63
    assert result.model(torch.zeros(3, 30)).shape == (3, 2)


@pytest.mark.parametrize("shape", [(30,), (1, 8, 8), (3, 4)])
@pytest.mark.parametrize("name", ["linear", "mlp"])
def test_networks_of_rows_take_any_shape_and_any_number_of_classes(name, shape):
    model = models.build(name, torch.Generator().manual_seed(0), shape, 7)
    inputs = torch.randn(5, *shape)
    assert model(inputs).shape == (5, 7)
    # Laid out in another order in memory the same inputs give the same outputs.
    strided = inputs.transpose(0, -1).contiguous().transpose(0, -1)
    assert torch.allclose(model(inputs), model(strided), atol=1e-6)


def test_natural_clients_hold_their_own_examples(tmp_path):
    """A data set with a client column is divided by it, and trains."""
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 3, 240)
    inputs = (rng.normal(size=(240, 5)) + 3 * np.eye(5)[targets]).astype(np.float32)
    owners = rng.permutation(np.arange(240) % 6)
    path = tmp_path / "owned.safetensors"
    arrays = data.Arrays(inputs, targets, inputs[:60], targets[:60], owners.astype(np.int64))
    data.write(path, arrays, 1.0, [0.0] * 5, [1.0] * 5)
    partition = {"scheme": "natural", "clients": 6, "validation_fraction": 0.0}
    result = train(path, tmp_path, model="linear", partition=partition)
    assignment = np.load(tmp_path / "assignment.npy")
    assert all(len(set(owners[assignment == client])) == 1 for client in range(6))
    assert result.metrics[-1]["test_accuracy"] > 0.7

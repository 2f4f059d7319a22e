"""The prepared file of a data set, what reading it imports, and the driver that writes it."""

import json

import numpy as np
import pytest
import torch
from refusals import line_of

from dpfl import data
from dpfl.data import cifar10


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return two small arrays of three channels and the file written from them."""
    rng = np.random.default_rng(1)
    parts = [
        (rng.integers(256, size=(n, 3, 4, 5), dtype=np.uint8), rng.integers(10, size=n))
        for n in (6, 2)
    ]
    arrays = data.Arrays(*parts[0], *parts[1])
    path = tmp_path_factory.mktemp("prepared") / "small.safetensors"
    data.write(path, arrays, 255, cifar10.MEAN, cifar10.STD)
    return arrays, path


def test_load_normalises_every_channel(prepared):
    arrays, path = prepared
    dataset = data.load(path)
    for name in ("train_inputs", "test_inputs"):
        values = getattr(dataset, name)
        assert values.dtype == torch.float32
        for channel in range(3):
            pixels = getattr(arrays, name)[:, channel].astype(float)
            expected = (pixels / 255 - cifar10.MEAN[channel]) / cifar10.STD[channel]
            np.testing.assert_allclose(values[:, channel].numpy(), expected, atol=1e-6)
    assert dataset.train_targets.dtype == torch.int64
    assert dataset.train_targets.tolist() == arrays.train_targets.tolist()
    assert dataset.test_targets.tolist() == data.load(path).to("cpu").test_targets.tolist()
    assert np.array_equal(data.load_train_targets(path), arrays.train_targets)


def test_the_same_arrays_give_the_same_bytes(prepared, tmp_path):
    arrays, path = prepared
    for attempt in range(10):
        again = tmp_path / f"{attempt}.safetensors"
        data.write(again, arrays, 255, cifar10.MEAN, cifar10.STD)
        assert again.read_bytes() == path.read_bytes()


def test_the_file_is_as_readable_as_any_other(prepared, tmp_path):
    (tmp_path / "other").touch()
    assert prepared[1].stat().st_mode == (tmp_path / "other").stat().st_mode


@pytest.mark.parametrize("read", [data.load, data.load_train_targets])
def test_a_truncated_prepared_file_is_refused(prepared, tmp_path, read):
    path = tmp_path / "short.safetensors"
    path.write_bytes(prepared[1].read_bytes()[:-1])
    assert line_of(read, path) == f"{path}: not whole; delete it and run again"


# --- What gets imported, and the driver

HEAVY = {"numpy", "torch", "torchvision", "opacus", "sklearn", "pandas", "matplotlib"}


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        ("from dpfl.data import cifar10, digits, mnist", set()),
        ("from dpfl import data; data.load_train_targets(PATH)", {"numpy"}),
        ("from dpfl import data; data.load(PATH)", {"numpy", "torch"}),
    ],
)
def test_imports_are_light(prepared, imported, code, allowed):
    assert imported(code.replace("PATH", repr(str(prepared[1]))), *HEAVY) <= allowed


def test_driver_writes_one_file_and_one_line(drive, tmp_path):
    output, config = tmp_path / "data" / "digits.safetensors", tmp_path / "config.json"
    config.write_text(json.dumps({"data_dir": str(output.parent)}))
    run = drive("prepare_data", "--dataset", "digits", "--config", config, "--output", output)
    assert run.returncode == 0 and run.stderr == ""
    expected = f"{output}: digits, 1437 training and 360 test examples of 1 x 8 x 8, 10 classes\n"
    assert run.stdout == expected
    assert data.load(output).train_inputs.shape == (1437, 1, 8, 8)
    assert {path.name for path in output.parent.iterdir()} == {output.name, f"{output.name}.sha256"}

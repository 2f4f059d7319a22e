"""Data sets are what they declare and what others read; their prepared files."""

import functools
import gzip
from collections import Counter

import numpy as np
import pytest
import torch
from refusals import line_of

from dpfl import data, plugins
from dpfl.data import cifar10, digits, mnist


def constant(name, variable, default=None):
    return plugins.constant("data", name, variable, default)


@pytest.fixture(scope="module")
def read_once(data_dir):
    return functools.cache(lambda name: data.read(name, data_dir))


ELSEWHERE = {"emnist-balanced"}  # no machine has its files: made-up ones are read
SOURCES = [
    name
    for name in plugins.names("data")
    if constant(name, "BASE", name) == name and name not in ELSEWHERE
]


@pytest.mark.parametrize("name", SOURCES)
def test_a_data_set_is_what_it_declares(name, read_once):
    """Everything `read` checks; features take minutes and are tested in test_scattering.py."""
    arrays = read_once(name)
    assert len(arrays.train_inputs) == constant(name, "TRAIN_EXAMPLES")
    assert set(np.unique(arrays.test_targets)) <= set(range(constant(name, "CLASSES")))


@pytest.mark.parametrize(
    ("dataset", "folder"), [("mnist", "MNIST"), ("fashion-mnist", "FashionMNIST")]
)
def test_files_of_mnist_equal_what_torchvision_reads(
    dataset, folder, read_once, data_dir, tmp_path
):
    from torchvision.datasets import mnist as oracle

    arrays = read_once(dataset)
    for part, prefix in (("train", "train"), ("test", "t10k")):
        for kind, read in (("inputs", oracle.read_image_file), ("targets", oracle.read_label_file)):
            name = f"{prefix}-{'images-idx3' if kind == 'inputs' else 'labels-idx1'}-ubyte"
            packed = data_dir / folder / "raw" / f"{name}.gz"
            (tmp_path / name).write_bytes(gzip.decompress(packed.read_bytes()))
            found = getattr(arrays, f"{part}_{kind}")
            assert np.array_equal(found.squeeze(), read(tmp_path / name).numpy())


@pytest.mark.parametrize("beta", [0, 1])
def test_made_up_users_differ_as_far_as_is_said(beta, read_once):
    """Of unit records about v, 1 - |mean|^2 is nearly tr S / (|v|^2 + tr S), S = diag(j^-1.2)."""
    arrays = read_once(f"synthetic-logistic-{beta}")
    np.testing.assert_allclose(np.linalg.norm(arrays.train_inputs, axis=1), 1, rtol=1e-6)
    assert np.array_equal(arrays.train_clients, np.repeat(np.arange(100), 40))
    spread = (np.arange(1, 41) ** -1.2).sum()
    expected = spread / (40 * (1 + beta) + spread)
    users = arrays.train_inputs.reshape(100, 40, 40).mean(axis=1)
    assert np.mean(1 - (users**2).sum(axis=1)) == pytest.approx(expected, rel=0.1)
    classes = arrays.train_targets.reshape(100, 40)
    pooled = np.bincount(classes.ravel()).max() / classes.size
    assert np.mean([np.bincount(own).max() for own in classes]) / 40 > 5 * pooled


def test_the_rows_of_a_table_are_those_of_scikit_learn(tmp_path):
    from sklearn.datasets import load_breast_cancer

    arrays = data.read("breast-cancer", tmp_path)
    assert arrays.train_inputs.shape == (455, 30) and arrays.test_inputs.shape == (114, 30)
    rows = np.concatenate([arrays.train_inputs, arrays.test_inputs])
    expected = load_breast_cancer().data.astype(np.float32)
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, expected.tolist()))
    share = [np.mean(t) for t in (arrays.train_targets, arrays.test_targets)]
    assert abs(share[0] - share[1]) < 0.01  # stratified
    # Its columns are normalised one by one.
    source, path = plugins.load("data", "breast-cancer"), tmp_path / "rows.safetensors"
    data.write(path, arrays, source.SCALE, source.MEAN, source.STD)
    loaded = data.load(path)
    everyone = torch.cat([loaded.train_inputs, loaded.test_inputs]).double()
    assert everyone.shape == (569, 30)
    assert everyone.mean(0).abs().max() < 2e-3
    assert (everyone.std(0, correction=0) - 1).abs().max() < 2e-3
    assert loaded.classes == 2


def owned(tmp_path, **changed):
    """A data set of six examples that three natural clients own."""
    targets = np.array([0, 1, 2, 0, 1, 2])
    rows = np.arange(12, dtype=np.float32).reshape(6, 2)
    values = {
        "train_inputs": rows,
        "train_targets": targets,
        "test_inputs": rows[:3],
        "test_targets": targets[:3],
        "train_clients": np.array([0, 0, 1, 1, 2, 2]),
    }
    return data.Arrays(**values | changed)


def test_owners_are_kept_in_the_file_of_a_data_set_that_has_some(tmp_path):
    data.write(tmp_path / "with", owned(tmp_path))
    data.write(tmp_path / "without", owned(tmp_path, train_clients=None))
    assert data.load_train_clients(tmp_path / "with").tolist() == [0, 0, 1, 1, 2, 2]
    assert data.load_train_clients(tmp_path / "without") is None
    for name in ("with", "without"):
        assert data.load(tmp_path / name).train_inputs.shape == (6, 2)


@pytest.mark.parametrize(
    ("clients", "owners", "expected"),
    [
        (None, [0, 0, 1, 1, 2, 2], "CLIENTS = None, but train_clients: some"),
        (3, None, "CLIENTS = 3, but train_clients: none"),
        (4, [0, 0, 1, 1, 2, 2], "expected every one of 0..3"),
    ],
)
def test_owners_that_are_not_as_declared_are_refused(
    tmp_path, monkeypatch, clients, owners, expected
):
    source = plugins.load("data", "breast-cancer")
    declared = {"TRAIN_EXAMPLES": 6, "TEST_EXAMPLES": 3, "CLASSES": 3, "SHAPE": (2,)}
    for name, value in declared.items():
        monkeypatch.setattr(source, name, value)
    if clients:
        monkeypatch.setattr(source, "CLIENTS", clients, raising=False)
    given = owned(tmp_path, train_clients=None if owners is None else np.array(owners))
    monkeypatch.setattr(source, "read", lambda data_dir: given)
    assert expected in line_of(data.read, "breast-cancer", tmp_path)


def test_cifar10_equals_what_torchvision_reads(read_once, data_dir):
    from torchvision.datasets import CIFAR10

    arrays = read_once("cifar10")
    for part in ("train", "test"):
        oracle = CIFAR10(data_dir, train=part == "train")
        inputs, targets = (getattr(arrays, f"{part}_{kind}") for kind in ("inputs", "targets"))
        assert np.array_equal(inputs.transpose(0, 2, 3, 1), oracle.data)
        assert targets.tolist() == oracle.targets
        assert set(Counter(targets.tolist()).values()) == {len(targets) // 10}


def test_digests_are_those_of_torchvision():
    from torchvision.datasets import CIFAR10, MNIST

    ours = [(f"{name}.gz", md5) for name, (md5, _) in mnist.FILES.items()]
    assert ours == MNIST.resources
    assert list(cifar10.BATCHES.items()) == [
        tuple(e) for e in CIFAR10.train_list + CIFAR10.test_list
    ]
    assert (CIFAR10.filename, CIFAR10.tgz_md5) == (cifar10.ARCHIVE, cifar10.ARCHIVE_MD5)
    assert CIFAR10.base_folder == cifar10.FOLDER


def test_digits_are_those_of_scikit_learn(tmp_path):
    from sklearn.datasets import load_digits

    oracle = load_digits()
    arrays = data.read("digits", tmp_path)
    pixels = np.concatenate([arrays.train_inputs, arrays.test_inputs]).reshape(-1, 64)
    targets = np.concatenate([arrays.train_targets, arrays.test_targets])
    ours = Counter((*p, t) for p, t in zip(pixels.tolist(), targets.tolist(), strict=True))
    theirs = zip(oracle.data.astype(int).tolist(), oracle.target.tolist(), strict=True)
    assert ours == Counter((*p, t) for p, t in theirs)
    assert np.array_equal(arrays.train_inputs[0, 0], oracle.images[1])
    # The split is stratified.
    train, test = np.bincount(arrays.train_targets), np.bincount(arrays.test_targets)
    assert (len(arrays.train_targets), len(arrays.test_targets)) == (1437, 360)
    assert np.abs(test - (train + test) / 5).max() < 1


@pytest.mark.parametrize("name", ["mnist", "cifar10", "digits"])
def test_constants_are_those_of_the_pixels(name, read_once):
    source, pixels = plugins.load("data", name), read_once(name).train_inputs
    if name == "digits":  # of all of them
        pixels = np.concatenate([pixels, read_once(name).test_inputs])
    levels = [np.bincount(channel.ravel(), minlength=256) for channel in pixels.swapaxes(0, 1)]
    values = np.arange(256) / source.SCALE
    means = np.array([np.average(values, weights=n) for n in levels])
    squares = np.array([np.average(values**2, weights=n) for n in levels])
    np.testing.assert_allclose(source.MEAN, means, atol=1e-4)
    np.testing.assert_allclose(source.STD, np.sqrt(squares - means**2), atol=1e-4)


def test_a_data_set_that_is_not_as_declared_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(digits, "TRAIN_EXAMPLES", 1400)
    assert "expected uint8 (1400, 1, 8, 8), found uint8 (1437" in line_of(
        data.read, "digits", tmp_path
    )
    monkeypatch.setattr(digits, "TRAIN_EXAMPLES", 1437)
    monkeypatch.setattr(digits, "CLASSES", 9)
    assert "outside 0..8" in line_of(data.read, "digits", tmp_path)


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


# --- What gets imported

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

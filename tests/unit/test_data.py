"""Data sets: known facts, torchvision and scikit-learn as oracles, damage and lost networks."""

import functools
import gzip
import hashlib
import io
import os
import pickle
import subprocess
import sys
import tarfile
import threading
import urllib.error
from collections import Counter
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
import torch

from dpfl import data, plugins
from dpfl.data import _files, cifar10, digits, mnist
from dpfl.errors import UserError

LABELS = "train-labels-idx1-ubyte"


@pytest.fixture(scope="module")
def mnist_arrays(data_dir):
    return data.read("mnist", data_dir)


@pytest.fixture(scope="module")
def cifar10_arrays(data_dir):
    return data.read("cifar10", data_dir)


@pytest.fixture
def mnist_copy(data_dir, tmp_path):
    """Return a folder of links to the official files, in torchvision's layout."""
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name in mnist.FILES:
        (raw / f"{name}.gz").symlink_to(data_dir / "MNIST" / "raw" / f"{name}.gz")
    return raw


def decompress(path):
    """Put the decompressed file in the place of NAME.gz."""
    content = gzip.decompress(path.read_bytes())
    path.unlink()
    path.with_suffix("").write_bytes(content)
    return path.with_suffix("")


def replace(path, content):
    path.unlink(missing_ok=True)
    path.write_bytes(content)


def flip_a_bit(content):
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


DAMAGES = {
    "one bit": flip_a_bit,
    "truncated": lambda content: content[:-100],
    "empty": lambda content: b"",
    "longer": lambda content: content + b"\0",
    "another file": lambda content: gzip.compress(b"something else"),
}


def message_of(function, *arguments):
    """Return the one line of the UserError that a call raises."""
    with pytest.raises(UserError) as caught:
        function(*arguments)
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- What the data sets are


def constant(name, variable, default=None):
    return plugins.constant("data", name, variable, default)


@pytest.mark.parametrize("name", plugins.names("data"))
def test_a_data_set_declares_what_the_plan_has_to_know(name):
    for variable in ("TRAIN_EXAMPLES", "TEST_EXAMPLES", "CLASSES"):
        assert isinstance(constant(name, variable), int) and constant(name, variable) > 1
    shape = constant(name, "SHAPE")
    assert isinstance(shape, tuple) and all(isinstance(n, int) and n > 0 for n in shape)
    assert constant(name, "BASE", name) in plugins.names("data")
    means = constant(name, "MEAN", ())
    assert len(means) == len(constant(name, "STD", ())) and len(means) in (0, shape[0])


@pytest.fixture(scope="module")
def read_once(data_dir):
    return functools.cache(lambda name: data.read(name, data_dir))


SOURCES = [name for name in plugins.names("data") if constant(name, "BASE", name) == name]


@pytest.mark.parametrize("name", SOURCES)
def test_a_data_set_is_what_it_declares(name, read_once):
    """Everything `read` checks; features take minutes and are tested in test_scattering.py."""
    arrays = read_once(name)
    assert len(arrays.train_inputs) == constant(name, "TRAIN_EXAMPLES")
    assert set(np.unique(arrays.test_targets)) <= set(range(constant(name, "CLASSES")))


def test_fashion_mnist_equals_what_torchvision_reads(read_once, data_dir, tmp_path):
    from torchvision.datasets import mnist as oracle

    arrays = read_once("fashion-mnist")
    for part, prefix in (("train", "train"), ("test", "t10k")):
        for kind, read in (("inputs", oracle.read_image_file), ("targets", oracle.read_label_file)):
            name = f"{prefix}-{'images-idx3' if kind == 'inputs' else 'labels-idx1'}-ubyte"
            packed = data_dir / "FashionMNIST" / "raw" / f"{name}.gz"
            (tmp_path / name).write_bytes(gzip.decompress(packed.read_bytes()))
            found = getattr(arrays, f"{part}_{kind}")
            assert np.array_equal(found.squeeze(), read(tmp_path / name).numpy())


def test_fashion_mnist_has_its_known_labels(read_once):
    arrays = read_once("fashion-mnist")
    assert np.bincount(arrays.train_targets).tolist() == [6000] * 10
    assert np.bincount(arrays.test_targets).tolist() == [1000] * 10
    assert arrays.train_targets[:5].tolist() == [9, 0, 0, 3, 0]  # a boot, three tops, a dress
    assert arrays.train_inputs.shape == (60000, 1, 28, 28)


def test_the_rows_of_a_table_are_those_of_scikit_learn(tmp_path):
    from sklearn.datasets import load_breast_cancer

    arrays = data.read("breast-cancer", tmp_path)
    assert arrays.train_inputs.shape == (455, 30) and arrays.test_inputs.shape == (114, 30)
    rows = np.concatenate([arrays.train_inputs, arrays.test_inputs])
    expected = load_breast_cancer().data.astype(np.float32)
    assert sorted(map(tuple, rows.tolist())) == sorted(map(tuple, expected.tolist()))
    share = [np.mean(t) for t in (arrays.train_targets, arrays.test_targets)]
    assert abs(share[0] - share[1]) < 0.01  # stratified


def test_rows_are_normalised_column_by_column(tmp_path):
    source, path = plugins.load("data", "breast-cancer"), tmp_path / "rows.safetensors"
    arrays = data.read("breast-cancer", tmp_path)
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
    assert expected in message_of(data.read, "breast-cancer", tmp_path)


def test_mnist_has_its_known_labels(mnist_arrays):
    train, test = mnist_arrays.train_targets, mnist_arrays.test_targets
    assert train[:5].tolist() == [5, 0, 4, 1, 9]
    assert test[:5].tolist() == [7, 2, 1, 0, 4]
    counts = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert np.bincount(train).tolist() == counts
    assert np.bincount(test).tolist() == [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]


def test_mnist_equals_what_torchvision_reads(mnist_arrays, mnist_copy):
    from torchvision.datasets import mnist as oracle

    for name in mnist.FILES:
        decompress(mnist_copy / f"{name}.gz")
    for part, prefix in (("train", "train"), ("test", "t10k")):
        images = oracle.read_image_file(mnist_copy / f"{prefix}-images-idx3-ubyte")
        labels = oracle.read_label_file(mnist_copy / f"{prefix}-labels-idx1-ubyte")
        assert np.array_equal(getattr(mnist_arrays, f"{part}_inputs")[:, 0], images.numpy())
        assert np.array_equal(getattr(mnist_arrays, f"{part}_targets"), labels.numpy())


def test_cifar10_equals_what_torchvision_reads(cifar10_arrays, data_dir):
    from torchvision.datasets import CIFAR10

    for part in ("train", "test"):
        oracle = CIFAR10(data_dir, train=part == "train")
        inputs = getattr(cifar10_arrays, f"{part}_inputs")
        targets = getattr(cifar10_arrays, f"{part}_targets")
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


def test_digits_split_is_stratified(tmp_path):
    arrays = data.read("digits", tmp_path)
    train, test = np.bincount(arrays.train_targets), np.bincount(arrays.test_targets)
    assert (len(arrays.train_targets), len(arrays.test_targets)) == (1437, 360)
    assert np.abs(test - (train + test) / 5).max() < 1


@pytest.mark.parametrize("name", ["mnist", "cifar10"])
def test_constants_are_those_of_the_pixels(name, request):
    source, arrays = plugins.load("data", name), request.getfixturevalue(f"{name}_arrays")
    levels = [np.bincount(c.ravel(), minlength=256) for c in arrays.train_inputs.swapaxes(0, 1)]
    values = np.arange(256) / source.SCALE
    means = np.array([np.average(values, weights=n) for n in levels])
    squares = np.array([np.average(values**2, weights=n) for n in levels])
    np.testing.assert_allclose(source.MEAN, means, atol=1e-4)
    np.testing.assert_allclose(source.STD, np.sqrt(squares - means**2), atol=1e-4)


def test_constants_of_digits_are_those_of_the_pixels():
    from sklearn.datasets import load_digits

    values = load_digits().data / digits.SCALE
    assert digits.MEAN[0] == pytest.approx(values.mean(), abs=1e-4)
    assert digits.STD[0] == pytest.approx(values.std(), abs=1e-4)


def test_a_data_set_that_is_not_as_declared_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(digits, "TRAIN_EXAMPLES", 1400)
    assert "expected uint8 (1400, 1, 8, 8), found uint8 (1437" in message_of(
        data.read, "digits", tmp_path
    )
    monkeypatch.setattr(digits, "TRAIN_EXAMPLES", 1437)
    monkeypatch.setattr(digits, "CLASSES", 9)
    assert "outside 0..8" in message_of(data.read, "digits", tmp_path)


# --- Files: where they are found, and damage


def test_decompressed_files_directly_in_the_folder(mnist_arrays, mnist_copy, tmp_path):
    for name in mnist.FILES:
        decompress(mnist_copy / f"{name}.gz").rename(tmp_path / name)
    arrays = mnist.read(tmp_path)
    assert np.array_equal(arrays.train_inputs, mnist_arrays.train_inputs)
    assert np.array_equal(arrays.test_targets, mnist_arrays.test_targets)
    assert sorted(p.name for p in tmp_path.iterdir() if p.is_file()) == sorted(mnist.FILES)


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("raw", [False, True], ids=["gz", "raw"])
def test_damaged_mnist_files_are_refused(mnist_copy, raw, damage):
    path = mnist_copy / f"{LABELS}.gz"
    path = decompress(path) if raw else path
    content = DAMAGES[damage](path.read_bytes())
    replace(path, content)
    message = message_of(mnist.read, mnist_copy.parent.parent)
    algorithm = "sha256" if raw else "md5"
    assert message.startswith(f"{path}: expected {algorithm} {mnist.FILES[LABELS][raw]}, found ")
    assert hashlib.new(algorithm, content).hexdigest() in message
    assert f"({len(content)} bytes)" in message and "delete it" in message


def test_the_right_gz_under_the_wrong_name_is_refused(mnist_copy, data_dir):
    other = data_dir / "MNIST" / "raw" / "t10k-labels-idx1-ubyte.gz"
    replace(mnist_copy / f"{LABELS}.gz", other.read_bytes())
    assert mnist.FILES["t10k-labels-idx1-ubyte"][0] in message_of(mnist.read, mnist_copy.parents[1])


class Bomb:
    """A pickle that leaves a trace if anyone loads it."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (self.trace,)


def test_an_unknown_pickle_is_never_loaded(tmp_path):
    folder = tmp_path / cifar10.FOLDER
    folder.mkdir()
    for name in cifar10.BATCHES:
        (folder / name).write_bytes(pickle.dumps(Bomb(str(tmp_path / "trace"))))
    assert "data_batch_1: expected md5" in message_of(cifar10.read, tmp_path)
    assert not (tmp_path / "trace").exists()


@pytest.mark.parametrize("damage", ["one bit", "truncated"])
def test_a_damaged_cifar10_batch_is_refused(data_dir, tmp_path, damage):
    folder = tmp_path / cifar10.FOLDER
    folder.mkdir()
    for name in cifar10.BATCHES:
        (folder / name).symlink_to(data_dir / cifar10.FOLDER / name)
    content = (folder / "data_batch_1").read_bytes()
    replace(folder / "data_batch_1", DAMAGES[damage](content))
    assert "data_batch_1: expected md5 c99c" in message_of(cifar10.read, tmp_path)


def small_archive():
    """Return an archive like CIFAR-10's, of two random pictures a batch, and the batches."""
    rng, content, batches = np.random.default_rng(0), io.BytesIO(), []
    with tarfile.open(fileobj=content, mode="w:gz") as archive:
        for name in cifar10.BATCHES:
            pixels = rng.integers(256, size=(2, 3072), dtype=np.uint8)
            batches.append({b"data": pixels, b"labels": rng.integers(10, size=2).tolist()})
            member = tarfile.TarInfo(f"{cifar10.FOLDER}/{name}")
            pickled = pickle.dumps(batches[-1])
            member.size = len(pickled)
            archive.addfile(member, io.BytesIO(pickled))
    return content.getvalue(), batches


def test_cifar10_is_read_from_its_archive(tmp_path, monkeypatch):
    content, batches = small_archive()
    monkeypatch.setattr(cifar10, "ARCHIVE_MD5", hashlib.md5(content).hexdigest())
    (tmp_path / cifar10.ARCHIVE).write_bytes(content)
    arrays = cifar10.read(tmp_path)
    assert arrays.train_inputs.shape == (10, 3, 32, 32)
    assert np.array_equal(arrays.train_inputs[2].ravel(), batches[1][b"data"][0])
    assert arrays.test_targets.tolist() == batches[5][b"labels"]
    assert [p.name for p in tmp_path.iterdir()] == [cifar10.ARCHIVE]

    (tmp_path / cifar10.ARCHIVE).write_bytes(flip_a_bit(content))
    assert f"{cifar10.ARCHIVE}: expected md5" in message_of(cifar10.read, tmp_path)


# --- Downloads


@pytest.fixture
def pauses(monkeypatch):
    """Record the pauses between attempts instead of taking them."""
    taken = []
    monkeypatch.setattr(_files.time, "sleep", taken.append)
    return taken


@pytest.fixture
def no_network(monkeypatch, pauses):
    """Make every download fail; return the list of the addresses that were asked."""
    from torchvision.datasets import utils

    asked = []

    def refuse(url, root, filename, md5):
        asked.append(url)
        raise urllib.error.URLError("the network\nis unreachable")

    monkeypatch.setattr(utils, "download_url", refuse)
    return asked


def test_without_a_network_one_line_tells_what_to_do(tmp_path, no_network, pauses):
    from torchvision.datasets import MNIST

    message = message_of(data.read, "mnist", tmp_path)
    assert len(no_network) == 3 * len(MNIST.mirrors)
    assert pauses == [2.0, 4.0]
    assert "could not download train-images-idx3-ubyte.gz in 3 attempts" in message
    assert "the network is unreachable" in message
    assert f"put {', '.join(f'{name}.gz' for name in mnist.FILES)} into" in message
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_a_missing_cifar10_batch_is_named(data_dir, tmp_path, no_network):
    folder = tmp_path / cifar10.FOLDER
    folder.mkdir()
    for name in cifar10.BATCHES.keys() - {"data_batch_3"}:
        (folder / name).symlink_to(data_dir / cifar10.FOLDER / name)
    message = message_of(data.read, "cifar10", tmp_path)
    assert len(no_network) == 3
    assert f"could not download {cifar10.ARCHIVE}" in message
    assert f"put it into {tmp_path}, or data_batch_3 into {folder}, by hand" in message


@pytest.fixture
def serve(tmp_path, monkeypatch):
    """Return a function that serves a folder as the only mirror of MNIST."""
    from torchvision.datasets import MNIST

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    monkeypatch.setenv("no_proxy", "127.0.0.1")
    servers = []

    def start(folder):
        handler = functools.partial(Quiet, directory=str(folder))
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), handler))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        monkeypatch.setattr(MNIST, "mirrors", [f"http://127.0.0.1:{servers[-1].server_port}/"])

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_what_is_missing_is_downloaded(data_dir, tmp_path, serve, mnist_arrays):
    serve(data_dir / "MNIST" / "raw")
    arrays = data.read("mnist", tmp_path)
    assert np.array_equal(arrays.train_inputs, mnist_arrays.train_inputs)
    found = sorted(p.name for p in tmp_path.rglob("*") if p.is_file())
    assert found == sorted(f"{name}.gz" for name in mnist.FILES)


def test_a_damaged_download_is_repeated_and_leaves_nothing(mnist_copy, tmp_path, serve, pauses):
    name = f"{LABELS}.gz"
    bad = tmp_path / "bad"
    bad.mkdir()
    (bad / name).write_bytes(flip_a_bit((mnist_copy / name).read_bytes()))
    (mnist_copy / name).unlink()
    serve(bad)
    message = message_of(mnist.read, tmp_path)
    assert f"could not download {name} in 3 attempts" in message and len(pauses) == 2
    assert not [p for p in mnist_copy.iterdir() if "train-labels" in p.name]


def test_a_download_that_succeeds_at_last(tmp_path, monkeypatch, pauses):
    from torchvision.datasets import utils

    attempts = []

    def third_time_lucky(url, root, filename, md5):
        attempts.append(url)
        if len(attempts) < 3:
            raise ConnectionResetError("reset by peer")
        (root / filename).write_bytes(b"content")

    monkeypatch.setattr(utils, "download_url", third_time_lucky)
    _files.download(["http://a.invalid/x"], tmp_path / "x", "0" * 32, "by hand")
    assert (tmp_path / "x").read_bytes() == b"content"
    assert len(attempts) == 3 and len(pauses) == 2


# --- The prepared file


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
    assert message_of(read, path) == f"{path}: not whole; delete it and run again"


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
def test_imports_are_light(prepared, root, code, allowed):
    code = f"{code.replace('PATH', repr(str(prepared[1])))}; import sys; print(*sys.modules)"
    folder = root / "workflow" / "scripts"
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True
    )
    assert HEAVY & set(run.stdout.split()) <= allowed


def drive(root, name, output):
    driver = root / "workflow" / "scripts" / "prepare_data.py"
    arguments = ["--dataset", name, "--data-dir", output.parent, "--output", output]
    return subprocess.run([sys.executable, driver, *arguments], capture_output=True, text=True)


def test_driver_writes_one_file_and_one_line(root, tmp_path):
    output = tmp_path / "data" / "digits.safetensors"
    run = drive(root, "digits", output)
    assert run.returncode == 0 and run.stderr == ""
    expected = f"{output}: digits, 1437 training and 360 test examples of 1 x 8 x 8, 10 classes\n"
    assert run.stdout == expected
    assert data.load(output).train_inputs.shape == (1437, 1, 8, 8)
    assert {path.name for path in output.parent.iterdir()} == {output.name, f"{output.name}.sha256"}


def test_driver_tells_a_mistake_in_one_line(root, tmp_path):
    run = drive(root, "mnits", tmp_path / "x.safetensors")
    assert run.returncode == 1
    assert run.stderr == "error: no 'mnits' in data: did you mean 'mnist'?\n"
    assert not list(tmp_path.iterdir())

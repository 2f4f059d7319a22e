"""Files of data sets: where they are found, damage, and lost networks."""

import functools
import hashlib
import io
import os
import pickle
import socket
import tarfile
import threading
import urllib.error
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from files_of_data import DAMAGES, LABELS, decompress, flip_a_bit, replace
from refusals import line_of

from dpfl import data
from dpfl.data import _files, cifar10, mnist
from dpfl.data import emnist_balanced as emnist


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
    message = line_of(mnist.read, mnist_copy.parent.parent)
    algorithm = "sha256" if raw else "md5"
    assert message.startswith(f"{path}: expected {algorithm} {mnist.FILES[LABELS][raw]}, found ")
    assert hashlib.new(algorithm, content).hexdigest() in message
    assert f"({len(content)} bytes)" in message and "delete it" in message


def test_emnist_is_read_upright_from_its_raw_files_and_refused_in_one_line(tmp_path):
    raw = tmp_path / "EMNIST" / "raw"
    raw.mkdir(parents=True)
    assert "emnist-balanced-train-images-idx3-ubyte is missing" in line_of(emnist.read, tmp_path)
    for part, examples in (("train", 3), ("test", 2)):
        stem, pixels = f"emnist-balanced-{part}", np.arange(examples * 6, dtype=np.uint8)
        for kind, sizes, values in (
            ("images-idx3", (examples, 2, 3), pixels),
            ("labels-idx1", (examples,), np.arange(examples, dtype=np.uint8)),
        ):
            head = bytes([0, 0, 8, len(sizes)]) + np.array(sizes, ">u4").tobytes()
            (raw / f"{stem}-{kind}-ubyte").write_bytes(head + values.tobytes())
    found = emnist.read(tmp_path)
    assert found.train_inputs[1, 0].tolist() == [[6, 9], [7, 10], [8, 11]]
    assert found.test_targets.tolist() == [0, 1] and found.test_targets.dtype == np.int64
    labels = raw / "emnist-balanced-test-labels-idx1-ubyte"
    labels.write_bytes(labels.read_bytes()[:-1])
    assert "are damaged; unpack the archive anew" in line_of(emnist.read, tmp_path)


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
    assert "data_batch_1: expected md5" in line_of(cifar10.read, tmp_path)
    assert not (tmp_path / "trace").exists()


@pytest.fixture
def cifar10_copy(data_dir, tmp_path):
    """A folder of links to the official batches."""
    folder = tmp_path / cifar10.FOLDER
    folder.mkdir()
    for name in cifar10.BATCHES:
        (folder / name).symlink_to(data_dir / cifar10.FOLDER / name)
    return folder


@pytest.mark.parametrize("damage", ["one bit", "truncated"])
def test_a_damaged_cifar10_batch_is_refused(cifar10_copy, tmp_path, damage):
    first = cifar10_copy / "data_batch_1"
    replace(first, DAMAGES[damage](first.read_bytes()))
    assert "data_batch_1: expected md5 c99c" in line_of(cifar10.read, tmp_path)


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
    assert f"{cifar10.ARCHIVE}: expected md5" in line_of(cifar10.read, tmp_path)


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

    message = line_of(data.read, "mnist", tmp_path)
    assert len(no_network) == 3 * len(MNIST.mirrors)
    assert pauses == [2.0, 4.0]
    assert "could not download train-images-idx3-ubyte.gz in 3 attempts" in message
    assert "the network is unreachable" in message
    assert f"put {', '.join(f'{name}.gz' for name in mnist.FILES)} into" in message
    assert not [p for p in tmp_path.rglob("*") if p.is_file()]


def test_where_no_name_is_known_nothing_is_tried_twice(tmp_path, monkeypatch, no_network, pauses):
    unknown = urllib.error.URLError(socket.gaierror(-2, "Name or service not known"))
    monkeypatch.setattr(_files, "_download_once", lambda *_: (_ for _ in ()).throw(unknown))
    assert "without a network" in line_of(data.read, "mnist", tmp_path / "new")
    assert pauses == [] and not (tmp_path / "new").exists()


def test_a_missing_cifar10_batch_is_named(cifar10_copy, tmp_path, no_network):
    (cifar10_copy / "data_batch_3").unlink()
    message = line_of(data.read, "cifar10", tmp_path)
    assert len(no_network) == 3
    assert f"could not download {cifar10.ARCHIVE}" in message
    assert f"put it into {tmp_path}, or data_batch_3 into {cifar10_copy}, by hand" in message


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
    message = line_of(mnist.read, tmp_path)
    assert f"could not download {name} in 3 attempts" in message and len(pauses) == 2
    assert not [p for p in mnist_copy.iterdir() if "train-labels" in p.name]

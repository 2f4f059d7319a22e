"""What goes wrong in the middle: a killed job, a damaged download, no network."""

import copy
import os
import shutil
import signal
import time

import pytest
from worktree import MINI

from dpfl.base.files import read_json

ROUNDS = 30
DEADLINE_S = 300
MNIST = "results/data/mnist.safetensors"
FIRST = "train-images-idx3-ubyte"


def wait_for_round(folder, number, process):
    """Wait until a run's checkpoint has reached a round."""
    manifest, end = folder / "checkpoint" / "manifest.json", time.monotonic() + DEADLINE_S
    while not manifest.exists() or read_json(manifest)["round"] < number:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)


def bits(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def test_a_killed_run_continues_to_the_same_bits(finished):
    config = copy.deepcopy(MINI)
    config["federations"]["default"]["rounds"] = ROUNDS
    finished.configure(config)
    finished.make("results/studies/meng2023/rates.json")
    run = min(name for name in finished.runs_of("meng2023/rates") if "-cadabelief-" in name)
    target, folder = f"results/runs/{run}/metrics.csv", finished.results / "runs" / run

    finished.make(target)
    whole = bits(folder)
    shutil.rmtree(folder)

    process = finished.start(target, "--configfile", "mini.yaml")
    try:
        wait_for_round(folder, 3, process)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (folder / "metrics.csv").exists()

    finished.make("--unlock")
    finished.make(target, "--rerun-incomplete")
    assert bits(folder) == whole
    log = (finished.results / "logs" / "train" / f"{run}.log").read_text(encoding="utf-8")
    assert log.startswith("continuing after round ")


def failed_preparation(tree, data_dir):
    """The one line with which prepare_data fails for MNIST; it must leave nothing behind."""
    failed = tree.run(MNIST, "--config", f"data_dir={data_dir}")
    assert failed.returncode != 0
    lines = (tree.results / "logs/prepare_data/mnist.log").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1, lines
    assert lines[0] in failed.stdout + failed.stderr
    assert not list(tree.results.glob("data/*"))
    return lines[0]


def test_a_file_that_is_not_the_data_set_is_one_line(sources, tmp_path):
    (tmp_path / FIRST).write_bytes(b"not an image")
    line = failed_preparation(sources, tmp_path)
    assert f"{FIRST}: expected sha256 " in line
    assert "(12 bytes)" in line


def test_a_flipped_byte_is_one_line(sources, data_dir, tmp_path):
    source = next((data_dir / "MNIST" / "raw").glob(f"{FIRST}*"), None)
    if source is None:
        pytest.skip("no MNIST")
    content = bytearray(source.read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / source.name).write_bytes(content)
    line = failed_preparation(sources, tmp_path)
    assert f"{source.name}: expected " in line
    assert ", found " in line


def test_missing_files_and_no_network_is_one_line(sources, tmp_path):
    data_dir = tmp_path / "data"
    line = failed_preparation(sources, data_dir)
    assert f"could not download {FIRST}.gz" in line
    assert str(data_dir) in line
    assert not [path for path in data_dir.rglob("*") if path.is_file()]

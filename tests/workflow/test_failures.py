"""What goes wrong in the middle: a killed job, a damaged download."""

import copy
import os
import shutil
import signal

from waiting import until
from worktree import MINI

from dpfl.base.files import read_json

ROUNDS = 30
MNIST = "results/data/mnist.safetensors"
FIRST = "train-images-idx3-ubyte"


def reached(folder, number):
    """Tell whether a run's checkpoint has reached a round."""
    manifest = folder / "checkpoint" / "manifest.json"
    return manifest.exists() and read_json(manifest)["round"] >= number


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
        until(lambda: reached(folder, 3), process)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (folder / "metrics.csv").exists()

    finished.make("--unlock")
    finished.make(target, "--rerun-incomplete")
    assert bits(folder) == whole
    log = (finished.results / "logs" / "train" / f"{run}.log").read_text(encoding="utf-8")
    assert log.startswith("continuing after round ")


def test_a_file_that_is_not_the_data_set_is_one_line(sources, tmp_path):
    """In the log and on the terminal; it leaves nothing behind."""
    (tmp_path / FIRST).write_bytes(b"not an image")
    failed = sources.run(MNIST, "--config", f"data_dir={tmp_path}")
    assert failed.returncode != 0
    (line,) = (sources.results / "logs/prepare_data/mnist.log").read_text("utf-8").splitlines()
    assert f"{FIRST}: expected sha256 " in line and "(12 bytes)" in line
    assert line in failed.stdout + failed.stderr
    assert not list(sources.results.glob("data/*"))

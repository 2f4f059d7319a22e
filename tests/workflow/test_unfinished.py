"""Runs that fail or are killed: all others finish, and later all are whole."""

import csv
import json
import shutil

import pytest
from worktree import OPTIMIZER, RAISES

from dpfl.words.vocabulary import UNFINISHED

MARK = ("--config", "unfinished=mark")
MADE = ("tables/**/*", "claims/**/*", "runs/*/*", "tunings/*", "claims.json", "reports/index.html")


def made(tree):
    """The bytes of everything that is compared, but for what names the machine's state."""
    return {path: content for pattern in MADE for path, content in tree.bits(pattern).items()}


@pytest.fixture
def failed(finished):
    """A finished tree whose one method then fails; a run of the other is to be trained."""
    finished.append(OPTIMIZER, RAISES)
    name = min(run for run in finished.runs_of("meng2023/cadabelief") if "-sgd-" in run)
    other = finished.results / "runs" / name
    shutil.rmtree(other)
    done = finished.run("--keep-going", "--configfile", "mini.yaml")
    assert done.returncode != 0
    assert (other / "summary.json").exists()
    trials = [run for run in finished.runs_of("meng2023/rates") if "-cadabelief-" in run]
    assert not any((finished.results / "runs" / run / "summary.json").exists() for run in trials)
    return finished


def test_what_failed_is_marked_and_the_marks_go_when_it_succeeds(failed, mini):
    runs = sorted(path.name for path in failed.results.glob("runs/*-cadabelief-*"))
    record = {"run": runs[0], "message": "RuntimeError: planted", "log": "results/logs/x.log"}
    for run in runs:
        path = failed.results / "failures" / f"{run}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(record | {"run": run}))

    results = failed.results
    assert (results / "reports" / "index.html").exists()  # of the call before
    failed.make(*MARK)
    with (results / "tables/meng2023/cadabelief.csv").open(encoding="utf-8") as file:
        cells = {row["method"]: row for row in csv.DictReader(file)}
    assert cells["cadabelief"]["remark"] == "failed: RuntimeError: planted (results/logs/x.log)"
    assert cells["cadabelief"]["n"] == "0" and cells["sgd"]["n"] == "2"
    read = (results / "tables/meng2023/cadabelief.md").read_text(encoding="utf-8")
    assert [line.split("|")[4].strip() for line in read.splitlines() if "planted" in line] == [
        "failed"
    ]
    study = json.loads((results / "studies/meng2023/cadabelief.json").read_text())
    assert {run for cell in study["unfinished"] for run in cell["runs"]} < set(runs)
    records = json.loads((results / "claims.json").read_text())["records"]
    verdicts = {r["claim"]["id"]: (r["verdict"], r["needs"]) for r in records}
    assert verdicts["beats-sgd-adam-adabelief"] == UNFINISHED
    for name in ("index", "meng2023"):
        page = (results / "reports" / f"{name}.html").read_text(encoding="utf-8")
        assert "4 runs did not finish" in page and "RuntimeError: planted" in page

    shutil.rmtree(results / "failures")
    shutil.copy2(mini.path / OPTIMIZER, failed.path / OPTIMIZER)
    failed.make()
    assert made(failed) == made(mini)


MNIST = "results/data/mnist.safetensors"
FIRST = "train-images-idx3-ubyte"


def test_a_file_that_is_not_the_data_set_is_one_line(sources, tmp_path):
    """In the log and on the terminal; it leaves nothing behind."""
    (tmp_path / FIRST).write_bytes(b"not an image")
    failed = sources.run(MNIST, "--config", f"data_dir={tmp_path}")
    assert failed.returncode != 0
    (line,) = (sources.results / "logs/prepare_data/mnist.log").read_text("utf-8").splitlines()
    assert f"{FIRST}: expected sha256 " in line and "(12 bytes)" in line
    assert line in failed.stdout + failed.stderr
    assert not list(sources.results.glob("data/*"))

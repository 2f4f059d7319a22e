"""The doctor: every damaged file is told, deleted and nothing else is touched."""

import hashlib
import json
import os
import subprocess
import sys

import numpy as np
import pytest
import tiny

from dpfl.base import files
from dpfl.terminal import lock

RUN = ("metrics.csv", "rates.csv", "model.safetensors", "summary.json")


@pytest.fixture
def results(tmp_path):
    """A results folder with two finished runs, one under way, and what stands before them."""
    home = tmp_path / "results"
    for name in ("a", "b"):
        folder = home / "runs" / name
        folder.mkdir(parents=True)
        for file in RUN:
            (folder / file).write_text(f"{file} of {name}")
        lines = [f"{hashlib.sha256((folder / f).read_bytes()).hexdigest()}  {f}" for f in RUN]
        (folder / files.SUMS).write_text("\n".join(lines) + "\n")
    (home / "runs" / "c" / "checkpoint").mkdir(parents=True)
    (home / "runs" / "c" / "checkpoint" / "manifest.json").write_text("{}")
    for name in ("partitions/p", "calibrations", "tunings"):
        (home / name).mkdir(parents=True)
    tiny.write_data(home).rename(home / "digits.safetensors")
    (home / "data").mkdir()
    (home / "digits.safetensors").rename(home / "data" / "digits.safetensors")
    np.save(home / "partitions" / "p" / "assignment.npy", np.arange(9))
    for path in (home / "calibrations" / "c.json", home / "tunings" / "t.json"):
        path.write_text(json.dumps({"rate": 0.1}))
        files.write_sum(path)
    files.write_sum(home / "data" / "digits.safetensors")
    return home


def doctor(root, results):
    driver = root / "workflow" / "scripts" / "doctor.py"
    done = subprocess.run(
        [sys.executable, driver, "--results", results.name],
        cwd=results.parent,
        capture_output=True,
        text=True,
    )
    assert not done.stderr
    return done.returncode, done.stdout.splitlines()


def contents(results):
    return {path: path.read_bytes() for path in results.rglob("*") if path.is_file()}


def test_whole_results_are_left_alone(root, results):
    before = contents(results)
    assert doctor(root, results) == (0, ["results: all finished files are whole"])
    assert contents(results) == before


@pytest.mark.parametrize(
    ("file", "damage"),
    [*((f, d) for f in RUN for d in ("flipped", "missing")), (files.SUMS, "flipped")],
)
def test_a_damaged_run_is_deleted_with_all_its_files(root, results, file, damage):
    path, before = results / "runs" / "a" / file, contents(results)
    content = path.read_bytes()
    path.unlink()
    if damage == "flipped":
        path.write_bytes(bytes([content[0] ^ 1]) + content[1:])
    status, lines = doctor(root, results)
    assert status == 1
    assert len(lines) == 1 and lines[0].startswith("results/runs/a/")
    assert file == files.SUMS or f"/{file}: not whole; deleted" in lines[0]
    left = {p: c for p, c in before.items() if p.parent.name != "a"}
    assert contents(results) == left
    assert doctor(root, results)[0] == 0


@pytest.mark.parametrize(
    "file",
    [
        "data/digits.safetensors",
        "calibrations/c.json",
        "tunings/t.json",
        "partitions/p/assignment.npy",
    ],
)
def test_a_damaged_file_before_training_is_deleted_with_its_digest(root, results, file):
    path, before = results / file, contents(results)
    path.write_bytes(path.read_bytes()[:-1])
    assert doctor(root, results) == (1, [f"results/{file}: not whole; deleted"])
    gone = {path, path.with_name(f"{path.name}{files.SUM}")}
    assert contents(results) == {p: c for p, c in before.items() if p not in gone}


def test_only_what_no_process_writes_any_more_is_removed(root, results):
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    names = {
        "old": f".a.{gone.pid}-0123abcd.json",
        "mine": f".a.{os.getpid()}-0123abcd.json",
        "other": ".hidden",
    }
    paths = {key: results / "tunings" / name for key, name in names.items()}
    recent = results / "tunings" / f".b.{gone.pid}.json"
    for path in (*paths.values(), recent):
        path.write_text("half")
    for path in paths.values():
        os.utime(path, (0, 0))
    status, lines = doctor(root, results)
    assert status == 0
    assert lines[0] == f"results/tunings/{names['old']}: left behind by a job that is gone; deleted"
    assert not paths["old"].exists()
    assert all(path.exists() for path in (paths["mine"], paths["other"], recent))


def test_nothing_is_deleted_while_something_runs(root, results):
    held = lock.Lock(results.parent / lock.PATH)
    before = contents(results)
    driver = root / "workflow" / "scripts" / "doctor.py"
    command = [sys.executable, driver, "--results", results.name]
    done = subprocess.run(command, cwd=results.parent, capture_output=True, text=True)
    held.close()
    assert done.returncode == 1 and done.stderr.startswith("error: another replicate runs here")
    assert contents(results) == before

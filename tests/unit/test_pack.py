"""Several runs in one process: each with its own files, alone in its failure, trained once."""

import hashlib
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import tiny
from waiting import DEADLINE_S, until

from dpfl.base.files import read_json
from dpfl.runs import finished, sources
from dpfl.training import job, pack
from dpfl.training import one as training

FILES = {"metrics.csv", "rates.csv", "model.safetensors", "summary.json"}
READ = ("data", "assignment", "calibration")


def jobs_of(tmp_path, *many, **common):
    """A job for each of some changed settings, over one data set."""
    found = []
    data = tiny.write_data(tmp_path)
    for number, changed in enumerate(many):
        folder = tmp_path / f"inputs-{number}"
        folder.mkdir(exist_ok=True)
        settings = tiny.settings(**common, **changed)
        inputs = tiny.inputs_of(settings, folder, data)
        found.append(job.Job(f"run-{number}", settings, inputs, tmp_path / "results"))
    return found


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}


def shown(trained):
    finished.show(trained.folder)
    return contents(trained.folder)


def test_runs_of_a_pack_have_the_bits_of_runs_that_trained_alone(tmp_path):
    adam = {"algorithm": "adam", "rate_key": "lr", "rate": 0.1, "settings": {}}
    many = [{}, {"optimizer": adam, "mechanism": {"estimator": "p3sgd"}}]
    (tmp_path / "alone").mkdir()
    (tmp_path / "packed").mkdir()
    alone, packed = (jobs_of(tmp_path / name, *many) for name in ("alone", "packed"))
    for one in alone:
        assert pack.train([one], 1) == {}
    assert pack.train(packed, 2) == {}
    bits = [shown(one) for one in packed]
    assert bits == [shown(one) for one in alone]
    assert bits[0]["metrics.csv"] != bits[1]["metrics.csv"]
    for one, files in zip(packed, bits, strict=True):
        assert files.keys() == FILES | {"SHA256SUMS"}
        assert not (one.folder / "checkpoint").exists()
        assert one.log.read_text().startswith("round 1/4")
        assert "cpu_time" in one.benchmark.read_text()


def test_what_a_kill_after_the_end_leaves_is_removed_by_the_next_call(tmp_path):
    """A process that was killed between its last two lines left its checkpoint, and a secret."""
    (done,) = jobs_of(tmp_path, {})
    for train in (lambda: pack.train([done], 1), lambda: training.train(done, print)):
        pack.train([done], 1)
        (done.folder / "checkpoint").mkdir()
        (done.folder / "checkpoint" / "run.4.pt").write_text("a secret")
        train()
        assert not (done.folder / "checkpoint").exists()


def test_a_kept_file_that_changed_is_not_believed(tmp_path):
    (one,) = jobs_of(tmp_path, {})
    pack.train([one], 1)
    bits = shown(one)
    assert one.is_finished() and not planned_with(one, "another").is_finished()
    for path in (one.folder / finished.KEPT / name for name in FILES):
        kept = path.read_bytes()
        middle = len(kept) // 2
        path.unlink()
        path.write_bytes(kept[:middle] + bytes([kept[middle] ^ 1]) + kept[middle + 1 :])
        assert not one.is_finished()
        if path.suffix == ".safetensors":
            pack.train([one], 1)
            assert shown(one) == bits
        else:
            path.write_bytes(kept)
        assert one.is_finished()


def test_one_that_fails_fails_alone_and_says_why(tmp_path, capfd):
    bad = {"mechanism": {"estimator": "no-such"}}
    many = jobs_of(tmp_path, {}, bad, {"seed": 1})
    failed = pack.train(many, 1)
    assert list(failed) == ["run-1"]
    assert "no 'no-such' in mechanisms" in failed["run-1"]
    assert "run-1: error: no 'no-such' in mechanisms" in capfd.readouterr().err
    told = read_json(many[1].failure)
    assert told == {"run": "run-1", "message": failed["run-1"], "log": str(many[1].log)}
    assert failed["run-1"] in many[1].log.read_text()
    assert many[0].is_finished() and many[2].is_finished()


def test_a_failure_is_forgotten_when_the_run_succeeds(tmp_path):
    (one,) = jobs_of(tmp_path, {})
    one.failure.parent.mkdir(parents=True)
    one.failure.write_text("{}")
    assert pack.train([one], 1) == {}
    assert not one.failure.exists()


def _kill_itself(one):
    os.kill(os.getpid(), signal.SIGKILL)


def test_one_that_is_killed_is_named_with_its_signal(tmp_path, monkeypatch):
    many = jobs_of(tmp_path, {}, {"seed": 1})
    train = pack._child
    monkeypatch.setattr(
        pack, "_child", lambda one: (_kill_itself if one is many[0] else train)(one)
    )
    assert pack.train(many, 2) == {"run-0": "killed by SIGKILL"}
    assert many[1].is_finished()


def command(many):
    """The driver's command for some jobs."""
    described = [
        {"run": one.run, "settings": one.settings, "sources": one.inputs.sources}
        | {name: str(path) for name in READ if (path := getattr(one.inputs, name))}
        for one in many
    ]
    script = Path(__file__).parents[2] / "workflow" / "scripts" / "train.py"
    return [sys.executable, script, "--runs", json.dumps(described), "--results", many[0].results]


def planned_with(one, digest):
    return replace(one, inputs=replace(one.inputs, sources=digest))


def test_code_that_changed_since_it_was_planned_trains_nothing(tmp_path):
    (one,) = jobs_of(tmp_path, {})
    done = subprocess.run(command([one]), capture_output=True, text=True)
    assert done.returncode == 1
    told = "error: run-0: the training code has changed since it was planned; repeat\n"
    assert done.stderr == told
    assert not one.folder.exists()


def test_a_pack_that_is_killed_continues_with_what_is_left(tmp_path):
    """The command itself, killed with its children; what it had finished is kept."""
    long = {"epsilon": "inf", "mechanism": {"estimator": "nonprivate"}}  # whose steps need no price
    long["federation"] = tiny.federation(rounds=150)
    many = [planned_with(one, sources.of_run(one.settings)) for one in jobs_of(tmp_path, {}, long)]
    process = subprocess.Popen(command(many), start_new_session=True)
    until((many[1].folder / "checkpoint" / "manifest.json").exists, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert many[0].is_finished() and not many[1].is_finished()
    assert pack.train(many, 1) == {}
    assert "continuing after round" in many[1].log.read_text()


def _hold(path, ready, release):
    with training.alone(path, lambda line: None):
        ready.set()
        release.wait(DEADLINE_S)


@pytest.fixture
def held(tmp_path):
    """A lock that another process holds, that process, and what makes it let go."""
    context = multiprocessing.get_context("fork")
    ready, release = context.Event(), context.Event()
    other = context.Process(target=_hold, args=(tmp_path / ".lock", ready, release))
    other.start()
    assert ready.wait(DEADLINE_S)
    yield tmp_path / ".lock", other, release
    other.join()


def test_a_run_that_another_process_trains_is_waited_for(held):
    path, other, release = held
    waited = []

    def waiting(line):
        waited.append(line)
        release.set()

    with training.alone(path, waiting):
        assert waited and path.exists()
    other.join()
    assert not path.exists()


def test_a_lock_ends_with_the_process_that_held_it(held):
    path, other, _ = held
    other.kill()
    other.join()
    with training.alone(path, pytest.fail):
        pass


def test_two_processes_may_show_a_run_at_a_time(tmp_path, monkeypatch):
    """One shows it all while the other is between the making of a name and its place."""
    finished.keep(tmp_path, "f", "s", lambda folder: (folder / "a.txt").write_text("a") and None)
    copy = shutil.copyfile

    def meanwhile(source, target):
        copy(source, target)
        monkeypatch.setattr(shutil, "copyfile", copy)
        finished.show(tmp_path)

    monkeypatch.setattr(shutil, "copyfile", meanwhile)
    finished.show(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {finished.KEPT, "SHA256SUMS", "a.txt"}


def test_showing_gives_the_digests_last_and_new_times(tmp_path):
    finished.keep(tmp_path, "f", "s", lambda folder: (folder / "a.txt").write_text("a") and None)
    kept = tmp_path / finished.KEPT / "a.txt"
    os.utime(kept, (0, 0))
    finished.show(tmp_path)
    assert (tmp_path / "a.txt").stat().st_mtime > 1e9
    digest = hashlib.sha256(b"a").hexdigest()
    assert (tmp_path / "SHA256SUMS").read_text() == f"{digest}  a.txt\n"

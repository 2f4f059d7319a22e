"""Finished runs of one tree are the results of another one, which trains the others alone."""

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from worktree import MINI, Tree, job_counts

from dpfl.base.files import write_json, write_sum

ARCHIVE = "results/reference/meng2023/demo.runs.tar.gz"
OPTIMIZER = "workflow/scripts/dpfl/optimizers/cadabelief.py"


def driver(tree: Tree, name: str) -> subprocess.CompletedProcess:
    script = Path("workflow/scripts") / f"{name}.py"
    choice = () if name == "doctor" else ("--configfile", "mini.yaml")
    command = [sys.executable, script, *choice]
    return subprocess.run(command, cwd=tree.path, capture_output=True, text=True)


def told(tree: Tree, name: str) -> str:
    done = driver(tree, name)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archived(finished_once) -> Tree:
    """A finished tree whose runs are archived."""
    assert told(finished_once, "archive") == f"{ARCHIVE}: 8 of 8 runs\n"
    return finished_once


@pytest.fixture
def elsewhere(archived, sources) -> Tree:
    """A fresh copy of the sources with the archive."""
    sources.configure(MINI)
    shutil.copy2(archived.path / ARCHIVE, sources.path / ARCHIVE)
    return sources


def tables(tree: Tree) -> dict[str, bytes]:
    return {path: content for path, (_, content) in tree.contents("tables/meng2023/*.csv").items()}


def test_restored_runs_are_trained_by_nobody_and_make_the_same_tables(archived, elsewhere):
    assert told(elsewhere, "restore") == f"{ARCHIVE}: 8 brought in\n"
    made = elsewhere.make()
    assert not [rule for rule in job_counts(made) if rule.startswith("train")]
    assert "8 training runs, 0 without a result yet" in made
    assert tables(elsewhere) == tables(archived)
    assert not list(elsewhere.results.glob("runs/*/model.safetensors"))
    assert "all finished files are whole" in told(elsewhere, "doctor")
    assert " 0 " in told(elsewhere, "status").splitlines()[-2]
    before = (elsewhere.path / ARCHIVE).read_bytes()
    assert told(elsewhere, "archive") == f"{ARCHIVE}: 8 of 8 runs\n"
    assert (elsewhere.path / ARCHIVE).read_bytes() == before
    assert told(elsewhere, "restore") == f"{ARCHIVE}: 8 already there\n"
    assert not elsewhere.pending()


def test_what_an_archive_lacks_is_trained(archived, elsewhere):
    [lost, *_] = archived.runs_of("meng2023/cadabelief")
    told(elsewhere, "restore")
    shutil.rmtree(elsewhere.results / "runs" / lost)
    made = elsewhere.make(*archived.targets("tables/meng2023/*.csv"))
    assert "8 training runs, 1 without a result yet" in made
    assert (elsewhere.results / "runs" / lost / "model.safetensors").exists()
    assert tables(elsewhere) == tables(archived)


def test_restored_runs_of_other_code_are_trained_again(elsewhere):
    told(elsewhere, "restore")
    optimizer = elsewhere.path / OPTIMIZER
    optimizer.write_text(optimizer.read_text() + "\n")
    done = elsewhere.make("--dry-run")
    assert "8 training runs, 4 without a result yet" in done
    assert told(elsewhere, "restore") == (f"{ARCHIVE}: 4 already there, 4 of other code\n")


@pytest.mark.parametrize(("file", "again"), [("partitions/iid", 8), ("tuning/grid", 4)])
def test_restored_runs_are_trained_again_if_what_they_read_is_made_by_other_code(
    elsewhere, file, again
):
    told(elsewhere, "restore")
    edited(elsewhere, file)
    here = elsewhere.runs()
    planned = elsewhere.make("--dry-run")
    assert job_counts(planned)["train"] == again
    assert f"8 training runs, {again} without a result yet" in planned
    assert elsewhere.runs() == here
    there = f"{8 - again} already there, " if again < 8 else ""
    assert told(elsewhere, "restore") == f"{ARCHIVE}: {there}{again} of other code\n"


def test_a_restored_run_of_other_values_than_trials_chose_is_trained_again(archived, elsewhere):
    told(elsewhere, "restore")
    elsewhere.make(*archived.targets("tables/meng2023/*.csv"))
    [stage, *_] = sorted(elsewhere.results.glob("tunings/*.json"))
    content = json.loads(stage.read_text())
    content["values"][0]["rate"] *= 2
    write_json(stage, content)
    write_sum(stage)
    assert job_counts(elsewhere.make("--dry-run"))["train"] == 2


def edited(tree: Tree, file: str) -> None:
    with (tree.path / f"workflow/scripts/dpfl/{file}.py").open("a") as text:
        text.write("# edited\n")


def test_an_archive_is_refused_where_other_code_would_make_what_runs_have_read(archived):
    path = archived.path / "workflow/scripts/dpfl/clients/partitions/iid.py"
    before = path.read_text()
    edited(archived, "partitions/iid")
    done = driver(archived, "archive")
    path.write_text(before)
    assert done.stderr == (
        "error: what finished runs have read is not what today's code makes; "
        "first: make replicate CONFIG=mini.yaml\n"
    )


def test_what_an_older_archive_has_of_other_code_is_told(archived):
    path = archived.path / OPTIMIZER
    before = path.read_text()
    path.write_text(before + "\n")
    done = driver(archived, "archive")
    path.write_text(before)
    assert done.stdout == f"{ARCHIVE}: 4 of 8 runs; 4 of other code left out\n"
    assert told(archived, "archive") == f"{ARCHIVE}: 8 of 8 runs\n"


def test_archives_of_two_sittings_become_one(archived, elsewhere):
    [first, *_] = archived.runs_of("meng2023/cadabelief")
    told(elsewhere, "restore")
    whole = (elsewhere.path / ARCHIVE).read_bytes()
    shutil.rmtree(elsewhere.results / "runs" / first)
    assert told(elsewhere, "archive") == f"{ARCHIVE}: 8 of 8 runs\n"
    assert (elsewhere.path / ARCHIVE).read_bytes() == whole
    (elsewhere.path / ARCHIVE).unlink()
    assert told(elsewhere, "archive") == f"{ARCHIVE}: 7 of 8 runs\n"


def test_two_results_of_one_run_are_not_mixed(archived, elsewhere):
    trial = archived.runs_of("meng2023/rates")[0]
    told(elsewhere, "restore")
    folder = elsewhere.results / "runs" / trial
    summary = folder / "summary.json"
    before = hashlib.sha256(summary.read_bytes()).hexdigest()
    summary.write_text(summary.read_text().replace('"final_test_loss": ', '"final_test_loss": 1'))
    sums = folder / "SHA256SUMS"
    after = hashlib.sha256(summary.read_bytes()).hexdigest()
    sums.write_text(sums.read_text().replace(before, after))
    done = driver(elsewhere, "archive")
    assert done.stderr == (
        f"error: {ARCHIVE} has another result of {trial}; delete it and archive again\n"
    )
    for run in archived.runs_of("meng2023/cadabelief"):
        shutil.rmtree(elsewhere.results / "runs" / run)
    assert "tuned by other trials than those here" in told(elsewhere, "restore")


def test_an_archive_that_is_not_whole_is_one_line(elsewhere):
    path = elsewhere.path / ARCHIVE
    path.write_bytes(path.read_bytes()[:-2000])
    done = driver(elsewhere, "restore")
    assert done.returncode == 1
    assert done.stderr == (f"error: {ARCHIVE}: not whole, or no archive of runs; fetch it again\n")
    assert not (elsewhere.results / "runs").exists()


def test_without_runs_or_archive_one_line_says_so(sources):
    sources.configure(MINI)
    assert (
        "no run has finished; first: make replicate CONFIG=mini.yaml"
        in driver(sources, "archive").stderr
    )
    done = driver(sources, "restore")
    assert done.stderr == f"error: no archive of these runs: {ARCHIVE}\n"

"""Finished runs count by what lies in their folders; what does not count is trained, alone."""

import copy
import os
import shutil
import signal
from pathlib import Path

import pytest
from waiting import until
from worktree import MINI, OPTIMIZER, RAISES, Tree, copied, job_counts

STUDY = "meng2023/rates"
TABLE = f"results/tables/{STUDY}.csv"
FEW = copy.deepcopy(MINI) | {"select": [STUDY]}
"""Four runs in one pack: two methods at two rates."""


@pytest.fixture(scope="module")
def few(root, derived, tmp_path_factory) -> Tree:
    """A tree in which four runs are trained and one table is made; tests must not change it."""
    tree = copied(root, tmp_path_factory.mktemp("few") / "tree")
    tree.configure(FEW)
    made = job_counts(tree.make(TABLE))
    assert (made["train_pack"], made["train"]) == (1, 4)
    return tree


@pytest.fixture
def mine(few, tmp_path) -> Tree:
    """A copy of it, to change."""
    return few.copy(tmp_path / "mine")


def trained(tree: Tree) -> dict[str, tuple]:
    """What tells by run when it was trained."""
    return {Path(name).stem: told for name, told in tree.contents("benchmarks/train/*.tsv").items()}


def bits(tree: Tree) -> dict[str, bytes]:
    return tree.bits("runs/*/[!.]*")


def runs_of(optimizer: str, tree: Tree) -> set[str]:
    return {run for run in tree.runs() if f"-{optimizer}-" in run}


def forget(tree: Tree) -> None:
    """Let nothing be trained."""
    for part in ("runs", "benchmarks"):
        shutil.rmtree(tree.results / part)


@pytest.fixture
def there(few, sources) -> Tree:
    """A fresh clone with a copy of the runs' folders, and of nothing that Snakemake recorded."""
    sources.configure(FEW)
    shutil.copytree(few.results / "runs", sources.results / "runs")
    return sources


def test_copied_runs_count_with_newer_inputs_and_without_records(few, there):
    for part in ("data", "partitions", "calibrations"):
        shutil.copytree(few.results / part, there.results / part)
        for path in (there.results / part).rglob("*"):
            os.utime(path)
    made = there.make(TABLE)
    assert "4 training runs, 0 without a result yet" in made and "made again" not in made
    assert not job_counts(made).keys() & {"train", "train_pack"}
    assert (there.path / TABLE).read_bytes() == (few.path / TABLE).read_bytes()
    assert "Nothing to be done" in there.make(TABLE)


def test_copied_runs_of_other_code_are_named_and_trained_again(few, there):
    there.append(OPTIMIZER, "\n_CHANGED = True\n")
    made = there.make(TABLE)
    line = "made again: 2 stale: trained by other code, such as digits-dpsgd-cadabelief-eps8-"
    assert [told.startswith(line) for told in made.splitlines()].count(True) == 1
    assert trained(there).keys() == runs_of("cadabelief", few)
    assert "Nothing to be done" in there.make(TABLE)


def test_one_of_a_pack_that_fails_fails_alone(few, mine):
    forget(mine)
    mine.append(OPTIMIZER, RAISES)
    done = mine.run("--keep-going", TABLE, "--configfile", "mini.yaml")
    printed = done.stdout + done.stderr
    assert done.returncode != 0
    failed = runs_of("cadabelief", few)
    for run in failed:
        assert f"{run}: RuntimeError: planted (see results/logs/train/{run}.log)" in printed
    shown = {path.parent.name for path in mine.results.glob("runs/*/summary.json")}
    assert shown == runs_of("sgd", few)
    before = trained(mine)
    shutil.copy2(few.path / OPTIMIZER, mine.path / OPTIMIZER)
    assert job_counts(mine.make(TABLE))["train"] == 2
    after = trained(mine)
    assert {run for run in after if after[run] != before.get(run)} == failed
    assert bits(mine) == bits(few)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_pack_keeps_its_finished_runs(mine, number):
    """Killed, or stopped in good order, when Snakemake deletes what the job was to make."""
    forget(mine)
    mine.configure(FEW | {"federations": {"default": {"rounds": 40}}})
    process = mine.start(TABLE, "--configfile", "mini.yaml")
    until(lambda: any(mine.results.glob("runs/*/.finished/fingerprint")), process)
    os.killpg(process.pid, number)
    process.communicate()
    assert not list(mine.results.glob("runs/*/summary.json"))
    if number == signal.SIGKILL:
        mine.make("--unlock")
    done = {path.parent.name for path in mine.results.glob("runs/*/.finished")}
    begun = {path.parents[1].name for path in mine.results.glob("runs/*/checkpoint/manifest.json")}
    before = mine.contents("runs/*/.finished/*.*")
    assert 1 <= len(done) < 4
    mine.make(TABLE, "--rerun-incomplete")
    logs = [(mine.results / "logs/train" / f"{run}.log").read_text() for run in begun - done]
    assert all(log.startswith("continuing after round ") for log in logs)
    assert before.items() - {item for item in before.items() if "made.json" in item[0]} <= (
        mine.contents("runs/*/.finished/*.*").items()
    )
    assert len(list(mine.results.glob("runs/*/summary.json"))) == 4


def test_a_new_method_and_another_packing_retrain_no_member(few, mine):
    before = trained(mine)
    grown = copy.deepcopy(FEW) | {"pack": {"minutes": 0, "cores": 1}}
    grown["studies"][STUDY]["methods"] = ["sgd", "cadabelief", "adam"]
    mine.configure(grown)
    made = job_counts(mine.make(TABLE))
    assert (made["train_pack"], made["train"]) == (2, 2)
    after = trained(mine)
    assert {run: after[run] for run in before} == before and len(after) == 6
    assert bits(few).items() <= bits(mine).items()


def test_a_damaged_file_heals_to_the_same_bits_and_nothing_is_trained(few, mine):
    before = trained(mine)
    cut, emptied, flipped = sorted(mine.runs())[:3]
    home = mine.results / "runs"
    path = home / cut / "summary.json"
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)
    with (home / emptied / "metrics.csv").open("r+b") as file:
        file.truncate(0)
    assert "made again: 1 damaged: metrics.csv missing or not whole" in mine.make(TABLE)
    assert bits(mine) == bits(few)

    path = home / flipped / "summary.json"  # of the same size, so that its reader finds it
    path.write_bytes(path.read_bytes()[:-2] + b" \n")
    done = mine.run(TABLE, "--configfile", "mini.yaml")
    told = f"error: {path.relative_to(mine.path)}: not whole; delete it and run again"
    assert done.returncode != 0 and told in done.stdout + done.stderr
    path.unlink()
    mine.make(TABLE)
    assert bits(mine) == bits(few) and trained(mine) == before
    assert (mine.path / TABLE).read_bytes() == (few.path / TABLE).read_bytes()

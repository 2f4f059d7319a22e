"""`make replicate` and `make status` in a tree: what they print, and what they make."""

import subprocess
import sys

from worktree import Tree


def called(tree: Tree, script: str, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, f"workflow/scripts/{script}.py", *arguments],
        cwd=tree.path,
        capture_output=True,
        text=True,
    )


def test_an_open_run_is_made_and_told_in_one_line(finished):
    run = finished.runs_of("meng2023/cadabelief")[0]  # no trial
    (finished.results / "runs" / run / "summary.json").unlink()
    (finished.results / "reports" / "index.html").unlink()  # else nobody asks for the run
    before = called(finished, "status", "--configfile", "mini.yaml")
    assert before.stdout.splitlines()[-2].split() == ["all", "8", "7", "0", "0", "1"]

    done = called(finished, "replicate", "--cores", "2", "--configfile", "mini.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.splitlines()
    assert told[0].startswith("8 training runs, 1 without a result yet: about ")
    (line,) = [line for line in told if " eps " in line]
    assert "8/8  meng2023/" in line
    assert " %  " in line
    assert any("figures: " in line for line in told)
    assert told[-2].startswith("meng2023: ")
    assert told[-1] == "report: results/reports/index.html"
    assert done.stdout.replace("\n", "").isprintable()
    (log,) = (finished.results / "logs" / "snakemake").glob("*.log")
    assert f"wildcards: run={run}" in log.read_text(encoding="utf-8")

    after = called(finished, "status")  # of the last replicate
    assert after.stdout.splitlines()[0] == "nothing runs here"
    assert after.stdout.splitlines()[-2].split() == ["all", "8", "8", "0", "0", "0"]


def test_a_mistake_in_the_configuration_is_one_line(sources):
    failed = called(sources, "replicate", "--scale", "dmo")
    assert failed.returncode == 1
    (line,) = (failed.stdout + failed.stderr).splitlines()
    assert "scale = dmo" in line
    assert "did you mean 'demo'?" in line
    assert sources.made() == []

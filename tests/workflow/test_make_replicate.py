"""`make replicate` and `make status` in a tree: what they print, and what they make."""

import copy
import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from waiting import until
from worktree import MINI


def counts(status):
    """All runs, and those of every state: done, running, failed, stale, damaged, absent."""
    (line,) = [line for line in status.stdout.splitlines() if line.startswith("all ")]
    return line.split()[1:]


def test_an_open_run_is_made_and_told_in_one_line(finished):
    run = finished.runs_of("meng2023/cadabelief")[0]  # no trial
    (finished.results / "runs" / run / "summary.json").unlink()
    (finished.results / "reports" / "index.html").unlink()  # else nobody asks for the run
    before = finished.call("status", "--configfile", "mini.yaml")
    assert counts(before) == ["8", "7", "0", "0", "0", "1", "0"]

    done = finished.call("replicate", "--cores", "2", "--configfile", "mini.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    told = done.stdout.splitlines()
    assert told[0].startswith("8 training runs, 1 without a result yet: about ")
    (line,) = [line for line in told if "8/8  meng2023/" in line]
    assert run in line and " %  " in line
    assert any("tabulate: " in line for line in told)
    assert told[-2].startswith("next: make replicate PAPER=meng2023 SCALE=")
    assert told[-1] == "report: results/reports/index.html"
    assert done.stdout.replace("\n", "").isprintable()
    (log,) = (finished.results / "logs" / "snakemake").glob("*.log")
    assert f"wildcards: run={run}" in log.read_text(encoding="utf-8")

    after = finished.call("status")  # of the last replicate
    assert after.stdout.splitlines()[0] == "nothing runs here"
    assert counts(after) == ["8", "8", "0", "0", "0", "0", "0"]


def test_an_interruption_ends_the_jobs_and_says_how_to_go_on(finished):
    config = copy.deepcopy(MINI)
    config["federations"]["default"]["rounds"] = 90
    finished.configure(config)
    command = ("workflow/scripts/replicate.py", "--configfile", "mini.yaml", "--cores", "1")
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=finished.path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),  # as a shell's `&` does
    )
    try:
        until(lambda: any(finished.results.glob("runs/*/checkpoint/manifest.json")), process)
        during = finished.call("status").stdout
        second = finished.call("replicate")
    finally:
        os.kill(process.pid, signal.SIGINT)
    told = process.communicate()[0].splitlines()
    assert process.returncode == 1, told
    assert told[-3:] == [
        "stopping: jobs end, what is finished stays (once more: at once)",
        "stopped: 0 of 8 runs are done; repeat to go on",
        "results/reports/index.html is of an earlier call",
    ]
    assert "FAILED" not in "".join(told)
    assert during.startswith("running: pid ") and "  round " in during
    assert second.returncode == 1
    assert second.stderr.startswith("error: another replicate runs here (pid ")
    assert finished.call("status").stdout.startswith("nothing runs here")
    assert not list((finished.results / "failures").glob("*"))
    assert not training_in(finished.path)


def training_in(folder: Path) -> list[Path]:
    """Return the processes that run in a folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*/cwd"):
        with suppress(OSError):
            found += [process] if process.readlink() == folder else []
    return found

"""One call of replicate with another program in Snakemake's place: passes, lock, interruption."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from refusals import refuses
from waiting import until

from dpfl import data, plugins
from dpfl.base.errors import UserError
from dpfl.checks.config import RESOLVED
from dpfl.planning.plan import Plan
from dpfl.runs import sources
from dpfl.terminal import answer, lock
from dpfl.terminal.answer import CELLS, REPORT
from dpfl.terminal.choice import Choice
from dpfl.terminal.replicate import replicate

CHOICE = Choice({"papers": ["meng2023"], "select": ["meng2023/cadabelief"]})
STUB = """
import json, os, pathlib, signal, sys, time
from dpfl.base import files
from dpfl.runs import finished

def tell(line):
    terminal = int(sys.argv[sys.argv.index("--logger-dpfl-terminal") + 1])
    os.write(terminal, f"{line}\\n".encode())

def finish(run):
    folder = pathlib.Path("results/runs", run)
    found = {"run": run, "diverged": False, "hardware": {"cpu": "a cpu"}}
    summary = lambda to: files.write_json(to / "summary.json", found)
    finished.keep(folder, "f", sources[run], summary)
    finished.show(folder)
    tell(f"done: {run}")

def begin():
    files.write_json(pathlib.Path(".snakemake/config.json"), {})

def fail(run):
    begin()
    told = {"run": run, "message": "planted", "log": f"results/logs/train/{run}.log"}
    files.write_json(pathlib.Path(f"results/failures/{run}.json"), told)

with open("calls", "a") as file:
    print(json.dumps(sys.argv[1:]), file=file)
marks = "unfinished=\\"mark\\"" in sys.argv
print("what Snakemake and its jobs print")
"""


class Call:
    """A folder in which a script stands in Snakemake's place."""

    def __init__(self, folder, captured):
        self.folder, self._captured = folder, captured
        plan = CHOICE.plan()
        self.sources = {name: sources.of_run(run["settings"]) for name, run in plan.runs.items()}
        self.runs = list(self.sources)

    def replicate(self, script, *more):
        path = self.folder / "stub.py"
        path.write_text(f"{STUB}sources = {self.sources}\nruns = {self.runs}\n{script}")
        command = (sys.executable, str(path))
        status = replicate(CHOICE, "2", more, command, closing_rows=lambda *_: ["closing row"])
        self.told = self._captured.readouterr().out.splitlines()
        return status

    def calls(self):
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]


@pytest.fixture
def call(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    # A shell has what it starts in the background ignore interruptions.
    before = {n: signal.signal(n, signal.SIG_IGN) for n in (signal.SIGINT, signal.SIGTERM)}
    yield Call(tmp_path, capfd)
    for number, handler in before.items():
        signal.signal(number, handler)


def test_success_is_one_pass_a_line_per_run_and_the_report(call):
    assert call.replicate("for run in runs: finish(run)") == 0
    (arguments,) = call.calls()
    assert {"--keep-going", "--rerun-incomplete"} <= set(arguments)
    assert call.told[0].startswith(f"{len(call.runs)} training runs, {len(call.runs)} without")
    assert call.told[1 : len(call.runs) + 1] == [f"done: {run}" for run in call.runs]
    *shown, following, report = call.told[len(call.runs) + 1 :]
    assert shown == [
        f"{len(call.runs)} of {len(call.runs)} runs trained, 0 failed",
        "audits of 0 certificates beat none",
        "this version was checked with none of these runs",
        "your accuracies: results/reports/index.html#this-run",
        "closing row",
    ]
    assert following.startswith(
        "next: make replicate PAPER=meng2023 STUDY=meng2023/cadabelief SCALE=mnist"
    )
    assert following.endswith(" core-hours)") and report == f"report: {REPORT}"
    assert not lock.holder()
    (log,) = (call.folder / "results/logs/snakemake").glob("*.log")
    assert log.read_text() == "what Snakemake and its jobs print\n"


@pytest.mark.parametrize(
    ("more", "whole"),
    [
        (["-np"], False),
        (["--until=tabulate"], False),
        (["results/tables/meng2023/x.csv"], False),
        (["--workflow-profile", "workflow/profiles/slurm", "-k"], True),
    ],
    ids=str,
)
def test_a_part_of_everything_has_no_answer(call, more, whole):
    assert call.replicate("", *more) == 0
    assert any(line.startswith("report:") for line in call.told) == whole


def test_what_follows_the_choice_is_none_of_its_files_or_settings(call):
    """Snakemake's options of several values take all words up to the next option."""
    call.replicate("", "results/tables/meng2023/x.csv")
    (arguments,) = call.calls()
    assert arguments[arguments.index("--config") + 3].startswith("--")
    assert arguments[-2].startswith("--") and arguments[-1] == "results/tables/meng2023/x.csv"


def test_after_a_failure_a_second_pass_marks_it_and_the_status_stays(call):
    status = call.replicate(
        "for run in runs[:-1]: finish(run)\nfail(runs[-1])\nsys.exit(0 if marks else 1)"
    )
    assert status == 1
    assert ['unfinished="mark"' in arguments for arguments in call.calls()] == [False, True]
    assert call.told[-2:] == [
        f"1 of {len(call.runs)} runs are without a result: make status tells why",
        f"report, which marks what is missing: {REPORT}",
    ]


def test_a_second_pass_that_fails_promises_no_report(call):
    REPORT.parent.mkdir(parents=True)
    REPORT.touch()
    assert call.replicate("finish(runs[1]); fail(runs[0]); sys.exit('no marks')") == 1
    assert len(call.calls()) == 2
    log = next((call.folder / "results/logs/snakemake").glob("*.log")).relative_to(call.folder)
    assert call.told[-2:] == [
        f"There is no report of this: no marks  {log}",
        f"{REPORT} is of an earlier call",
    ]


def test_a_report_of_this_call_is_not_said_to_be_of_an_earlier_one(call):
    made = f"import pathlib; pathlib.Path({str(REPORT)!r}).touch()"
    REPORT.parent.mkdir(parents=True)
    script = f"{made}; finish(runs[1]); fail(runs[0]); sys.exit('no room')"
    assert call.replicate(script) == 1
    log = next((call.folder / "results/logs/snakemake").glob("*.log")).relative_to(call.folder)
    assert call.told[-1] == f"not all was made: no room  {log}"


@pytest.mark.parametrize(
    "script",
    ["sys.exit('config: wrong')", "for run in runs: finish(run)\nbegin()\nsys.exit(1)"],
    ids=["nothing began", "all runs are done"],
)
def test_there_is_no_second_pass_where_it_would_mark_nothing(call, script):
    RESOLVED.parent.mkdir()
    RESOLVED.write_text("of an earlier call")
    assert call.replicate(script) == 1
    assert len(call.calls()) == 1
    said = "Snakemake stopped before the first job: config: wrong"
    assert any(line.startswith(said) for line in call.told) == ("wrong" in script)
    assert not any(line.startswith("report:") for line in call.told)


def test_a_mistake_in_the_configuration_starts_nothing(call):
    with pytest.raises(UserError, match="did you mean 'zhou2022'"):
        replicate(Choice({"papers": ["zhou202"]}), "1", command=("false",))
    assert not (call.folder / "results").exists()


def test_a_killed_snakemake_is_one_line_and_its_jobs_end(call):
    job = "child = subprocess.Popen(['sleep', '1000']); tell(child.pid)"
    script = f"import subprocess; begin(); {job}; os.kill(os.getpid(), signal.SIGKILL)"
    assert call.replicate(script) == -signal.SIGKILL
    assert call.told[-1] == "Snakemake was killed by signal 9; repeat to go on"
    until(lambda: ended(int(call.told[-2])))


def ended(pid):
    """Tell whether a process that is nobody's child here has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    except FileNotFoundError:
        return True


def test_a_snakemake_takes_the_lock_unless_it_was_started_under_it(call):
    held = "from dpfl.terminal import lock\nlock.hold()\ntell(lock.holder())"
    assert call.replicate(held) == 0
    assert "--nolock" in call.calls()[0]
    ours = os.environ | {"PYTHONPATH": str(plugins.ROOT.parent)}
    by_hand = [sys.executable, "-c", "from dpfl.terminal import lock; lock.hold()"]
    assert subprocess.run(by_hand, env=ours, check=True).returncode == 0
    with lock.take():
        done = subprocess.run(by_hand, env=ours, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: another replicate runs here (pid {os.getpid()} on ")


def test_a_child_holds_the_lock_when_its_parent_is_gone_until_it_is_killed(tmp_path):
    path = tmp_path / "lock"
    code = (
        "import pathlib, subprocess, sys\n"
        "from dpfl.terminal import lock\n"
        "held = lock.take(pathlib.Path(sys.argv[1]))\n"
        "child = subprocess.Popen(['sleep', '1000'], stdout=2, pass_fds=[held.fileno()])\n"
        "lock.name(held, child.pid)\n"
    )
    ours = os.environ | {"PYTHONPATH": str(plugins.ROOT.parent)}
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, env=ours)
    child = int(lock.holder(path).split()[1])
    try:
        refuses(f"pid {child} ", lock.take, path)
    finally:
        os.kill(child, signal.SIGKILL)
    until(lambda: not lock.holder(path))  # a killed process takes a moment to end
    lock.take(path).close()


def test_where_home_is_no_folder_snakemake_has_its_cache_here(call, monkeypatch):
    monkeypatch.setenv("HOME", "/dev/null")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    call.replicate("tell(os.environ['XDG_CACHE_HOME'])")
    assert str(call.folder / ".snakemake" / "cache") in call.told


def test_a_refuted_certificate_fails_the_call_and_is_named(call):
    columns = "paper,study,method,epsilon,eps_certified,eps_audited,privacy"
    rows = [
        "doe2024,better,dpsgd,2.0,2.0,3.1,certificate refuted",
        "doe2024,better,fsdp,2.0,,3.1,refuted",
    ]
    CELLS.parent.mkdir(parents=True)
    CELLS.write_text("\n".join([columns, *rows]))
    assert call.replicate("for run in runs: finish(run)") == 1
    assert call.told[-1].startswith("certificate refuted: doe2024/better, dpsgd, epsilon 2.0")


def test_a_call_that_judges_ends_with_the_verdicts_on_its_papers():
    judging = Plan(studies={"doe2024/main": {"demonstrates": False}}, papers=("doe2024",))
    told = list(answer.lines(judging, CHOICE, lambda papers, here: [*papers] * here))
    assert told == ["doe2024", f"report: {REPORT}"]


def test_data_that_cannot_be_had_stop_the_call_before_snakemake(call, monkeypatch):
    def read(name, data_dir):
        raise UserError(f"could not download {name} to {data_dir}")

    monkeypatch.setattr(data, "read", read)
    with pytest.raises(UserError, match="could not download digits to data"):
        call.replicate("")
    assert not (call.folder / "calls").exists() and not lock.holder()

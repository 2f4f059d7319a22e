"""What the terminal shows: lines of runs, the expected end, states; and what is chosen."""

import argparse
import logging
import re
import signal
import time
from dataclasses import replace

import pytest
from refusals import refuses
from snakemake.cli import parse_config
from snakemake.scheduling.job_scheduler import JobScheduler

from dpfl import plugins
from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.papers import folder
from dpfl.planning import estimate
from dpfl.runs import finished, sources
from dpfl.terminal import choice, listing, status
from dpfl.terminal.choice import Choice
from dpfl.terminal.progress import Progress
from dpfl.terminal.status import RESULTS
from snakemake_logger_plugin_dpfl import LogHandler, LogHandlerSettings

STUDY = "meng2023/cadabelief"
SELECTED = Choice({"papers": ["meng2023"], "select": [STUDY]})
PLAN = SELECTED.plan()
RUNS = list(PLAN.runs)


def finish(run, accuracy=0.934, trained_by=None):
    """Leave in results what training of some code, or of today's, leaves."""
    summary = {"final_test_accuracy": accuracy or 0.1, "diverged": accuracy is None}
    today = sources.of_run(PLAN.runs[run]["settings"])
    folder = RESULTS / "runs" / run
    write = lambda to: files.write_json(to / "summary.json", summary)  # noqa: E731
    finished.keep(folder, "f", trained_by or today, write)
    finished.show(folder)


def fail(run, log="results/logs/x.log"):
    told = {"run": run, "message": "killed by signal 9", "log": str(log)}
    files.write_json(RESULTS / "failures" / f"{run}.json", told)


class Heard:
    """A plan's progress, as records of Snakemake's log come in."""

    def __init__(self):
        self.told = []
        self.progress = Progress(self.told.append)

    def hear(self, event, **fields):
        self.progress.hear(logging.makeLogRecord({"event": event, **fields}))

    def begin(self, number, rule, output=(), **wildcards):
        job = {"rule_name": rule, "output": list(output), "wildcards": wildcards}
        self.hear("job_info", jobid=number, **job)

    def train(self, number, *names):
        self.begin(number, "train", [f"results/runs/{run}/summary.json" for run in names])

    def end(self, number):
        self.hear("job_finished", job_id=number)


@pytest.fixture
def heard(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Heard()


def test_runs_are_told_when_their_job_ends_in_columns(heard):
    finish(RUNS[2])
    heard.hear("plan", plan=PLAN)
    heard.train(1, RUNS[0])
    finish(RUNS[0])
    heard.end(1)
    heard.train(2, RUNS[1], RUNS[2])  # the latter is only shown again
    finish(RUNS[1], accuracy=None)
    heard.end(2)
    first, second = heard.told
    for part in (f" 2/{len(RUNS)}  ", status.studies_of(PLAN)[RUNS[0]], RUNS[0], " 93.40 %"):
        assert part in first
    assert re.search(r" %  last run \d\d \w{3} \d\d:\d\d$", first)
    assert f" 3/{len(RUNS)}  " in second and "diverged" in second
    for word in (" digits-", " last run "):
        assert first.index(word) == second.index(word)
    assert all(line.isprintable() for line in heard.told)


def test_stages_are_told_when_their_last_job_ends_and_every_analysis_is_one(heard):
    rules = {"prepare_data": 2, "analyse_doe2024_prices": 1, "analyse_doe2024_losses": 1}
    heard.hear("run_info", stats={**rules, "total": 4})
    for number, rule in enumerate(["prepare_data", *rules]):
        heard.begin(number, rule)
        heard.end(number)
    assert [line[10:] for line in heard.told] == ["prepare_data: done", "analyse: done"]


def test_the_expected_end_follows_estimates_and_the_time_until_now(heard, monkeypatch):
    seconds = iter((10.0, 10.0, 20.0, 40.0))
    monkeypatch.setattr(estimate, "seconds", lambda settings: next(seconds, 0.0))
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    heard.hear("plan", plan=PLAN)
    left = []
    for number, (run, took) in enumerate(zip(RUNS[:4], (30, 0, 60, 40), strict=True)):
        heard.train(number, run)
        finish(run)
        now[0] += took
        heard.end(number)
        left.append(heard.progress.seconds_left())
    assert left == pytest.approx([30 * 70 / 10, 30 * 60 / 20, 90 * 40 / 40, 0])


def test_a_failure_is_one_line_once_of_the_run_or_else_of_the_job(heard, tmp_path):
    log = tmp_path / "page.log"
    log.write_text("begin\nerror: too warm\n\n")
    heard.hear("plan", plan=PLAN)
    heard.train(1, RUNS[0])
    fail(RUNS[0])
    heard.begin(7, "notebook", ["results/reports/doe2024.html"], paper="doe2024")
    for job in ({"jobid": 1, "log": ["other.log"]}, {"jobid": 7, "log": [str(log)]}) * 2:
        heard.hear("job_error", **job)
    run, other = heard.told
    assert run[10:].startswith("FAILED  ") and RUNS[0] in run
    assert run.endswith("killed by signal 9  results/logs/x.log")
    assert other[10:] == f"FAILED  notebook doe2024  error: too warm  {log}"


def test_the_plug_in_is_silent_after_an_interruption_and_when_a_record_is_odd(tmp_path, capfd):
    before = signal.getsignal(signal.SIGINT)
    try:
        with (tmp_path / "told").open("w") as terminal:
            handler = LogHandler(None, LogHandlerSettings(terminal=terminal.fileno()))
            job = {"jobid": 1, "rule_name": "judge", "wildcards": {}, "output": []}
            job["log"] = ["x.log"]
            for event in ({"event": "job_info"}, {"event": "job_finished", "job_id": 9}):
                handler.handle(logging.makeLogRecord(job | event))
            assert "KeyError" in capfd.readouterr().err  # in Snakemake's log
            error = logging.makeLogRecord(job | {"event": "job_error"})
            handler.handle(error)
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            handler.handle(error)
    finally:
        signal.signal(signal.SIGINT, before)
    assert (tmp_path / "told").read_text().splitlines()[0].endswith("FAILED  judge  x.log")
    assert (tmp_path / "told").read_text().count("FAILED") == 1


def test_snakemake_still_has_the_field_that_the_snakefile_sets(root):
    """Without a limit of jobs per second; by another name the line would do nothing."""
    assert "workflow.scheduler.job_rate_limiter = None" in (root / "Snakefile").read_text()
    for method in (JobScheduler.__init__, JobScheduler.job_selector, JobScheduler.schedule):
        assert "job_rate_limiter" in method.__code__.co_names


def test_runs_belong_to_their_study_or_are_trials_of_it():
    known = status.studies_of(PLAN)
    assert known.keys() == PLAN.runs.keys()
    of_study = {r for c in PLAN.studies[STUDY]["cells"] for r in c["runs"]}
    trials = {r for t in PLAN.tunings.values() for trial in t["trials"] for r in trial["runs"]}
    assert {run for run, study in known.items() if study == STUDY} == of_study
    tuning = {run for run, study in known.items() if study == f"{STUDY} (tuning)"}
    assert tuning == trials - of_study
    left = replace(PLAN, studies={})
    assert {*status.studies_of(left).values()} == {"(left out)"}
    assert status.names_of(left).keys() == PLAN.runs.keys()


def test_status_counts_states_and_tells_rounds_and_failures(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    finish(RUNS[0])
    finish(RUNS[4], trained_by="other code")
    for run, told in ((RUNS[1], {"round": 3, "test_accuracy": 0.5}), (RUNS[2], {"round": 4})):
        files.write_json(f"results/runs/{run}/checkpoint/manifest.json", told)
    fail(RUNS[3])
    shown = list(status.lines(SELECTED, "pid 1"))
    (total,) = [line.split() for line in shown if line.startswith("all ")]
    counts = {"done": 1, "running": 2, "failed": 1, "stale": 1, "damaged": 0}
    counts["absent"] = len(RUNS) - sum(counts.values())
    assert total == ["all", str(len(RUNS)), *map(str, counts.values())]
    assert f"made again: 1 stale: trained by other code, such as {RUNS[4]}" in "\n".join(shown)
    rounds = PLAN.runs[RUNS[1]]["settings"]["federation"]["rounds"]
    first, second = [line for line in shown if line.startswith("running ")]
    assert RUNS[1] in first and first.endswith(f"round 3 of {rounds}  50.00 %")
    assert second.endswith(f"round 4 of {rounds}")
    assert any(line.endswith("killed by signal 9  results/logs/x.log") for line in shown)
    assert not any(line.startswith("running ") for line in status.lines(SELECTED, ""))


def test_what_is_given_several_times_counts_as_a_whole(root, tmp_path, monkeypatch):
    monkeypatch.chdir(root)
    parser = argparse.ArgumentParser()
    choice.add_arguments(parser)
    given = "--configfile a b --papers x --configfile c --papers y --scale demo"
    made = choice.chosen(parser.parse_args(given.split()))
    assert made == Choice({"papers": ["x", "y"], "scale": "demo"}, ["a", "b", "c"])
    assert choice.chosen(parser.parse_args([])) == Choice({}, [])
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=f"this runs in the folder {root} only: first cd there"):
        choice.chosen(parser.parse_args([]))
    monkeypatch.setattr(plugins, "WORKFLOW", tmp_path / "{x}" / "workflow")
    (tmp_path / "{x}").mkdir()
    monkeypatch.chdir(tmp_path / "{x}")
    with pytest.raises(UserError, match="braces in a path are wildcards; rename the folder"):
        choice.chosen(parser.parse_args([]))


def test_snakemake_reads_the_settings_that_were_chosen():
    settings = {"papers": ["a", "b"], "scale": "full", "data_dir": "/with space/x=y"}
    arguments = Choice(settings).arguments(unfinished="mark")
    pairs = arguments[arguments.index("--config") + 1 :]
    assert parse_config(pairs) == settings | {"unfinished": "mark"}


def test_files_and_settings_change_the_plan_as_snakemake_does(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("scale: nothing\nstudies: {meng2023/cadabelief: {seeds: [0], epsilons: [8]}}\n")
    plan = Choice({**SELECTED.settings, "scale": "demo"}, [str(file)]).plan()
    assert {run["settings"]["seed"] for run in plan.runs.values()} == {0}


def test_a_command_names_files_as_they_were_given_and_no_place_of_this_machine(tmp_path):
    given = Choice({"papers": ["meng2023"]}, ["configs/mine.yaml", str(tmp_path / "other.yaml")])
    told = "make replicate PAPER=meng2023 CONFIG='configs/mine.yaml other.yaml'"
    assert given.command() == told


def test_the_last_choice_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert choice.last() == Choice()
    made = Choice({"scale": "mnist"}, ["mine.yaml"])
    made.keep()
    assert choice.last() == made
    for wrong in ({"papers": ["meng2023"]}, 5):
        files.write_json(choice.LAST, wrong)
        refuses(r"last\.json: not a choice; delete it", choice.last)


def test_the_list_names_papers_and_of_one_its_studies_those_of_others_too():
    told = "\n".join(listing.lines(Choice()))
    assert all(key in told for key in folder.names()) and "cifar10-scatter" in told
    head, _, *studies = "\n".join(listing.lines(Choice({"papers": ["fu2024"]}))).splitlines()
    assert head.split() == ["STUDY", "data", "set", "SCALE", "title"]
    assert studies[0].split()[:4] == ["strong/strong", "mnist", "mnist", "full"]
    assert studies[-1] == "strong, strong-large"
    refuses("did you mean 'fu2024'", list, listing.lines(Choice({"papers": ["fu2042"]})))


def test_the_choice_of_a_workflow_names_files_from_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    config = {"scale": "mnist", "select": None, "papers": ["x"]}
    paths = [str(tmp_path / "mine.yaml"), "/elsewhere/other.yaml"]
    made = choice.of_workflow(config, paths)
    assert made == Choice({"scale": "mnist"}, ["mine.yaml", "/elsewhere/other.yaml"])
    assert choice.of_workflow(config | {"select": ["x/y"]}, []).settings["select"] == ["x/y"]

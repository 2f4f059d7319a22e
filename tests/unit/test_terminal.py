"""What the terminal shows: lines of runs, the expected end, states, the answer."""

import json
from datetime import datetime

import pytest
from snakemake.cli import parse_config

from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.runs import finished, sources
from dpfl.terminal import answer, choice, lines, status
from dpfl.terminal.choice import Choice
from dpfl.terminal.expected import OTHER_SECONDS, Expected
from dpfl.terminal.follower import Follower
from dpfl.terminal.runs import New, Results, Run, of_plan

RUNS = {
    name: Run(name, study, method, epsilon, seed, 10.0)
    for name, study, method, epsilon, seed in (
        ("first", "doe2024/main", "sgd", 8, 0),
        ("second", "doe2024/rates of many", "adam rate=0.03", "inf", 12),
    )
}
SELECTED = Choice({"papers": ["meng2023"], "select": ["meng2023/cadabelief"]})


def finish(home, run, accuracy=0.934, seconds=4.1):
    results = Results(home)
    known = {"final_test_accuracy": accuracy or 0.1, "diverged": accuracy is None}
    files.write_json(results.summary(run), known)
    files.write_text(results.benchmark(run), f"s\tcpu_time\n{seconds}\t1\n")


def train(home, run, trained_by):
    """Leave what training of some code leaves."""
    folder = home / "runs" / run
    finished.keep(folder, "f", trained_by, lambda to: files.write_json(to / "summary.json", {}))
    finished.show(folder)


def test_a_finished_run_is_one_line_in_columns():
    of = lines.Lines(RUNS.values())
    told = [of.finished(run, 1, 93.4, 4.1, "ends 12:09") for run in RUNS.values()]
    told.append(of.finished(RUNS["first"], 2, None, None, "ends 12:09"))
    for part in ("1/2", "doe2024/main", "sgd", "eps 8", "seed 0", "93.40 %", "4.1 s", "12:09"):
        assert part in told[0]
    assert "diverged" in told[2]
    for word in ("eps", "seed", "ends"):
        assert len({line.index(word) for line in told}) == 1
    assert all(line.isprintable() for line in told)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "ends 23:00"), (3599, "ends 23:59"), (3600, "ends 24 Nov 00:00")],
)
def test_an_end_has_a_date_if_it_is_another_day(seconds, text):
    assert lines.ends(seconds, datetime(2026, 11, 23, 23, 0)) == text


def test_the_expected_end_follows_estimates_times_and_cores():
    expected = Expected({"a": 10.0, "b": 10.0, "c": 20.0, "d": 40.0}, cores=2)
    assert expected.left() == 40
    expected.finish("a", 10.0, 30.0)  # three times its estimate
    assert expected.left() == 3 * 40
    expected.drop("d")
    assert expected.left() == 3 * 20  # no core shortens one run
    expected.others = 6
    assert expected.left() == 3 * 20 + 3 * OTHER_SECONDS
    expected.finish("b", 10.0, None)
    expected.finish("c", 20.0, None)
    assert expected.left() == 3 * OTHER_SECONDS


def test_runs_that_are_made_again_take_time():
    expected = Expected({"a": 10.0}, cores=1)
    expected.finish("a", 10.0, 10.0)
    expected.again = 2
    assert expected.left() == 20
    expected.finish("a", 10.0, 10.0)
    assert expected.left() == 10


def test_runs_of_a_plan_are_known_by_study_or_by_what_they_are_trials_of():
    plan = SELECTED.plan()
    runs = of_plan(plan)
    assert runs.keys() == plan.runs.keys()
    of_study = {r for c in plan.studies["meng2023/cadabelief"]["cells"] for r in c["runs"]}
    trials = {r for t in plan.tunings.values() for trial in t["trials"] for r in trial["runs"]}
    assert {n for n, run in runs.items() if run.study == "meng2023/cadabelief"} == of_study
    tried = {n for n, run in runs.items() if run.study == "meng2023/cadabelief (tuning)"}
    assert tried == trials - of_study
    assert all(" rate=" in runs[name].method for name in tried)


def test_a_file_is_new_once_and_only_if_it_came_or_changed(tmp_path):
    (tmp_path / "old").write_text("old")
    new = New(tmp_path.joinpath, ["old", "later"])
    assert list(new.appeared()) == []
    (tmp_path / "later").write_text("new")
    assert list(new.appeared()) == ["later"]
    assert list(new.appeared()) == []


def followed(tmp_path):
    told = []
    events = tmp_path / "events.jsonl"
    follower = Follower(RUNS, events, 1, Results(tmp_path), told.append)

    def happens(**event):
        with events.open("a", encoding="utf-8") as file:
            file.write(json.dumps(event) + "\n")

    return follower, happens, told


def job(happens, number, rule, log="", **wildcards):
    happens(event="job_info", jobid=number, rule_name=rule, wildcards=wildcards, log=[log])


def test_runs_are_told_when_their_files_appear_and_stages_when_they_end(tmp_path):
    follower, happens, told = followed(tmp_path)
    happens(event="run_info", stats={"train": 2, "partition": 2, "total": 4})
    for number in (1, 2):
        job(happens, number, "partition", partition=str(number))
        happens(event="job_finished", job_id=number)
        follower.look()
    assert [line.split("  ")[1] for line in told] == ["partitions: 2 done"]
    finish(tmp_path, "first")
    follower.look()
    finish(tmp_path, "second", accuracy=None)
    follower.look()
    follower.look()
    assert len(told) == 3
    assert "1/2  doe2024/main" in told[1]
    assert "93.40 %" in told[1]
    assert "2/2  doe2024/rates" in told[2]
    assert "diverged" in told[2]
    assert follower.failed == {}


def test_every_analysis_has_a_rule_and_all_are_one_stage(tmp_path):
    follower, happens, told = followed(tmp_path)
    rules = ("analyse_doe2024_prices", "analyse_doe2024_losses")
    happens(event="run_info", stats={**dict.fromkeys(rules, 1), "total": 2})
    for number, rule in enumerate(rules):
        job(happens, number, rule)
        happens(event="job_finished", job_id=number)
        follower.look()
    (line,) = told
    assert line.endswith("studies without training: 2 done")


def test_a_run_without_a_time_is_told_all_the_same(tmp_path):
    follower, _, told = followed(tmp_path)
    finish(tmp_path, "first")
    Results(tmp_path).benchmark("first").unlink()
    follower.look()
    assert told == []
    follower.look(last=True)
    assert len(told) == 1


def test_runs_that_are_made_again_are_counted_anew(tmp_path):
    for run in RUNS:
        finish(tmp_path, run)
    follower, happens, told = followed(tmp_path)
    happens(event="run_info", stats={"train": 1, "total": 1})
    follower.look()
    Results(tmp_path).summary("second").unlink()
    finish(tmp_path, "second")
    follower.look(last=True)
    (line,) = told
    assert "2/2  doe2024/rates" in line


def test_a_failure_is_told_once_with_the_end_of_its_log(tmp_path):
    follower, happens, told = followed(tmp_path)
    log = tmp_path / "first.log"
    log.write_text("begin\n" + "line\n\n" * 10 + "error: too warm\n")
    failure = {"run": "first", "message": "killed by signal 9", "log": str(log)}
    files.write_json(Results(tmp_path).failure("first"), failure)
    job(happens, 1, "train", run="first")
    happens(event="job_error", jobid=1, rule_name="train", log=["other.log"])
    follower.look()
    follower.look()
    assert "FAILED  doe2024/main" in told[0]
    assert told[0].endswith("killed by signal 9")
    assert [line.strip() for line in told[1:]] == [str(log), *["| line"] * 4, "| error: too warm"]
    assert list(follower.failed) == ["first"]


def test_what_succeeds_when_it_is_tried_again_has_not_failed(tmp_path):
    follower, happens, told = followed(tmp_path)
    log = tmp_path / "page.log"
    log.write_text("a port was taken\n")
    job(happens, 7, "notebook", str(log), paper="doe2024")
    happens(event="job_error", jobid=7, rule_name="notebook", log=[str(log)])
    follower.look()
    assert "FAILED  notebook doe2024" in told[0]
    assert told[2].endswith("| a port was taken")
    happens(event="job_finished", job_id=7)
    follower.look()
    assert follower.failed == {}


def test_half_a_line_of_events_waits_for_the_rest(tmp_path):
    follower, _, told = followed(tmp_path)
    text = json.dumps({"event": "run_info", "stats": {"total": 0}}) + "\n"
    (tmp_path / "events.jsonl").write_text(text[:10])
    follower.look()
    (tmp_path / "events.jsonl").write_text(text)
    follower.look()
    assert told == []


def test_the_answer_names_judged_claims_by_verdict_and_counts_the_others(tmp_path):
    table = tmp_path / "claims.csv"
    rows = [
        "doe2024,better,overall,replicated",
        "doe2024,better,epsilon 8,inconclusive",
        "doe2024,faster,overall,reversed",
        "doe2024,later,overall,not judged",
        "poe2020,shown,overall,demonstration",
    ]
    table.write_text("\n".join(["paper,claim,part,verdict", *rows]) + "\n")
    assert answer.of(table) == [
        "doe2024: 2 of 3 claims judged, 1 not judged",
        "  replicated: better",
        "  reversed: faster",
        "poe2020: 0 of 1 claims judged, 1 demonstration",
    ]
    assert answer.of(tmp_path / "none.csv") == []


def test_status_counts_states_and_tells_rounds_and_failures(tmp_path):
    plan = SELECTED.plan()
    names, results = list(plan.runs), Results(tmp_path)
    train(tmp_path, names[0], sources.of_run(plan.runs[names[0]]["settings"]))
    train(tmp_path, names[4], "other code")
    files.write_json(results.manifest(names[1]), {"round": 3, "test_accuracy": 0.5})
    files.write_json(results.manifest(names[2]), {"round": 4})
    told = {"run": names[3], "message": "killed by signal 9", "log": "results/logs/x.log"}
    files.write_json(results.failure(names[3]), told)
    shown = list(status.of_plan(plan, results).lines())
    (total,) = [line.split() for line in shown if line.startswith("all ")]
    assert total == ["all", str(len(names)), "1", "2", "1", str(len(names) - 4)]
    rounds = plan.runs[names[1]]["settings"]["federation"]["rounds"]
    assert any(line.endswith(f"round 3 of {rounds}  50.00 %") for line in shown)
    assert any("round 4 of " in line and "%" not in line for line in shown)
    assert any("killed by signal 9  results/logs/x.log" in line for line in shown)
    idle = status.of_plan(plan, results, running=False)
    assert "running" not in idle.states.values()


def test_snakemake_reads_the_settings_that_were_chosen():
    settings = {"papers": ["a", "b"], "scale": "mnist-full", "data_dir": "/with space/x=y"}
    arguments = Choice(settings).arguments(unfinished="mark")
    pairs = arguments[arguments.index("--config") + 1 :]
    assert parse_config(pairs) == settings | {"unfinished": "mark"}


def test_files_and_settings_change_the_plan_as_snakemake_does(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("scale: nothing\nstudies: {meng2023/cadabelief: {seeds: [0], epsilons: [8]}}\n")
    plan = Choice({**SELECTED.settings, "scale": "demo"}, [str(file)]).plan()
    assert {run["settings"]["seed"] for run in plan.runs.values()} == {0}
    with pytest.raises(UserError, match="scale = nothing"):
        Choice(SELECTED.settings, [str(file)]).plan()
    with pytest.raises(UserError, match=r"none\.yaml"):
        Choice({}, [str(tmp_path / "none.yaml")]).plan()


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
    for wrong in ({"papers": ["meng2023"]}, {"settings": 5}, {"files": None}):
        files.write_json(choice.LAST, wrong)
        with pytest.raises(UserError, match=r"last\.json: not a choice; delete it"):
            choice.last()

"""The one state of a run, from what lies in its folder: each of the six, with its reason."""

import gzip
from dataclasses import replace

import pytest

from dpfl.base import files
from dpfl.base.files import write_json, write_text
from dpfl.planning import compose, estimate, plan
from dpfl.runs import finished, kept_runs, sources, state
from dpfl.runs.state import State

OTHER = "0" * 64


@pytest.fixture(scope="module")
def made(default):
    """The plan of one paper's default, which tunes."""
    return plan.make(compose.compose(default | {"papers": ["meng2023"]}))


def finish(results, name: str, planned, trained_by: str | None = None, **made_by) -> None:
    """Leave what a training leaves, as far as it is asked for here."""
    home, settings = results / "runs" / name, planned.runs[name]["settings"]
    about = state.made_by(name, planned) | {"settings": finished.digest(settings)} | made_by
    trained_by = trained_by or sources.of_run(settings)
    finished.keep(home, "f", trained_by, lambda to: write_text(to / "summary.json", "{}"), about)
    finished.show(home)


@pytest.fixture
def untuned(made):
    """A run that waits for nothing."""
    return next(name for name, run in made.runs.items() if not run["tuning"])


@pytest.fixture
def tuned(made):
    """A run that waits for trials, and these before it."""
    run = next(name for name, run in made.runs.items() if run["tuning"])
    return [*plan.trials_of(made, run), run]


def test_nothing_is_absent_and_what_training_leaves_is_done(made, untuned, tmp_path):
    assert state.of_run(untuned, made, tmp_path) == State("absent")
    finish(tmp_path, untuned, made)
    assert state.of_run(untuned, made, tmp_path, whole=True) == State("done")
    assert untuned not in state.open_of(made, tmp_path)


def test_what_only_looks_finished_is_absent(made, untuned, tmp_path):
    write_text(tmp_path / "runs" / untuned / "summary.json", "{}")  # nobody says what trained it
    assert state.of_run(untuned, made, tmp_path) == State("absent")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"trained_by": "other"}, state.OTHER_CODE),
        ({"partition": OTHER}, "of a partition by other code"),
        ({"data": OTHER}, "of a data by other code"),
    ],
)
def test_a_stale_run_says_why(made, untuned, tmp_path, changed, why):
    finish(tmp_path, untuned, made, **changed)
    assert state.of_run(untuned, made, tmp_path) == State("stale", why)


def test_an_older_run_that_says_no_more_than_its_code_counts_a_cut_record_does_not(
    made, untuned, tmp_path
):
    finish(tmp_path, untuned, made)
    record = tmp_path / "runs" / untuned / finished.KEPT / finished.MADE
    record.unlink()
    assert state.of_run(untuned, made, tmp_path) == State("done")
    write_text(record, '{"data": ')
    assert state.of_run(untuned, made, tmp_path) == State("absent")


@pytest.mark.parametrize("file", ["summary.json", "SHA256SUMS"])
@pytest.mark.parametrize("damage", ["missing", "cut", "flipped"])
def test_a_damaged_run_names_the_file(made, untuned, tmp_path, file, damage):
    finish(tmp_path, untuned, made)
    path = tmp_path / "runs" / untuned / file
    content = path.read_bytes()
    path.unlink()
    if damage != "missing":
        flipped = bytes([content[0] ^ 1]) + content[1:]
        path.write_bytes(content[:-1] if damage == "cut" else flipped)
    why = f"{'summary.json' if damage == 'flipped' else file} missing or not whole"
    assert state.of_run(untuned, made, tmp_path, whole=True) == State("damaged", why)
    finished.show(tmp_path / "runs" / untuned)
    assert path.read_bytes() == content


def test_one_that_began_is_running_and_one_that_failed_says_so(made, untuned, tmp_path):
    finish(tmp_path, untuned, made, trained_by="other")
    write_json(tmp_path / "failures" / f"{untuned}.json", {"message": "why", "log": "x"})
    assert state.of_run(untuned, made, tmp_path) == State("failed", "why")
    write_json(tmp_path / "runs" / untuned / "checkpoint" / "manifest.json", {"round": 1})
    assert state.of_run(untuned, made, tmp_path) == State("running")
    assert state.of_run(untuned, made, tmp_path, running=False) == State("failed", "why")


def test_values_that_trials_did_not_choose_are_stale(made, tuned, tmp_path):
    for run in tuned:
        finish(tmp_path, run, made)
    assert state.open_of(made, tmp_path).keys().isdisjoint(tuned)
    stage = made.runs[tuned[-1]]["tuning"]
    values = dict.fromkeys(made.tunings[stage]["over"], 0.5)
    write_json(tmp_path / "tunings" / f"{stage}.json", {"values": [values]})
    assert state.open_of(made, tmp_path)[tuned[-1]] == State("stale", state.OTHER_VALUES)


def test_a_run_is_open_while_a_trial_of_it_is(made, tuned, tmp_path):
    for run in tuned[1:]:
        finish(tmp_path, run, made)
    found = state.open_of(made, tmp_path)
    assert found[tuned[0]] == State("absent")
    assert found[tuned[-1]] == State("stale", state.TRIALS)


def kept(results, name: str, planned, **changed) -> None:
    """Keep a run as `make keep` does, without a training."""
    settings = planned.runs[name]["settings"]
    row = {"run": name, "settings": settings, "sources": sources.of_run(settings)}
    row["made"] = state.made_by(name, planned)
    folder = results / "reference/meng2023/demo"
    folder.mkdir(parents=True)
    kept_runs.write(folder, [row | changed], [])
    name = kept_runs.RUNS
    about = {name: {"sha256": files.digest(folder / name)}}
    write_json(folder / kept_runs.ABOUT, {"format": kept_runs.FORMAT, "files": about})


def test_a_run_that_is_kept_counts_until_it_is_stale_here(made, untuned, tmp_path):
    kept(tmp_path, untuned, made)
    assert untuned not in state.open_of(made, tmp_path)
    assert untuned in state.open_of(replace(made, counts_kept=False), tmp_path)
    assert untuned in state.open_of(replace(made, papers=("zhou2022",)), tmp_path)
    finish(tmp_path, untuned, made, trained_by="other")
    assert state.open_of(made, tmp_path)[untuned] == State("stale", state.OTHER_CODE)


def test_a_kept_run_that_was_changed_by_hand_does_not_count(made, untuned, tmp_path):
    kept(tmp_path, untuned, made)
    path = tmp_path / "reference/meng2023/demo" / kept_runs.RUNS
    path.write_bytes(gzip.compress(gzip.decompress(path.read_bytes()) + b"\n"))
    assert state.open_of(made, tmp_path)[untuned] == State("absent")


@pytest.mark.parametrize("changed", [{"sources": OTHER}, {"made": {"data": OTHER}}])
def test_a_kept_run_of_other_code_or_inputs_is_open(made, untuned, tmp_path, changed):
    kept(tmp_path, untuned, made, **changed)
    assert state.open_of(made, tmp_path)[untuned] == State("absent")


def test_a_trial_of_other_code_counts_where_it_was_accepted_for_todays(made, untuned, tmp_path):
    today = {"sources": sources.of_run(made.runs[untuned]["settings"]), "made": {}}
    kept(tmp_path, untuned, made, sources=OTHER, accepted=today)
    assert untuned not in state.open_of(made, tmp_path)
    kept(tmp_path / "later", untuned, made, sources=OTHER, accepted=today | {"sources": "older"})
    assert state.open_of(made, tmp_path / "later")[untuned] == State("absent")


def test_a_kept_run_whose_weights_a_figure_reads_is_open(made, untuned, tmp_path):
    kept(tmp_path, untuned, made)
    weighing = {"x": {"figures": ["membership"], "cells": [{"runs": [untuned]}]}}
    assert untuned in state.open_of(replace(made, studies=weighing), tmp_path)


def test_what_is_made_again_is_announced_in_a_line_each(made, tmp_path):
    names = [name for name, run in made.runs.items() if not run["tuning"]]
    for name in names[:5]:
        finish(tmp_path, name, made)
    finish(tmp_path, names[5], made, trained_by="other code")
    told, count = estimate.summary(made, state.open_of(made, tmp_path)).splitlines(), len(made.runs)
    assert told[0].startswith(f"{count} training runs, {count - 5} without a result yet: about")
    assert f"made again: 1 stale: trained by other code, such as {names[5]}" in told

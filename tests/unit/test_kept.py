"""Kept runs: written and laid out again, derived from, refused, and compared when retrained."""

import json
from pathlib import Path
from statistics import fmean

import pandas as pd
import pytest
from claims_of_runs import RACE, exact, judge
from refusals import refuses

from dpfl.base import files
from dpfl.checks import config as configuration
from dpfl.judging import records
from dpfl.papers import folder as papers
from dpfl.planning import plan
from dpfl.provenance import derivations, keep, kept, verify
from dpfl.runs import kept_runs, state
from dpfl.tables import results
from dpfl.terminal.choice import Choice
from dpfl.words.vocabulary import NOT_KEPT, verdict_of

REFERENCE = Path(__file__).parents[2] / "results" / "reference"
KEPT = kept_runs.folders(REFERENCE)
EACH = pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
MOST_BYTES = 8e6


def finished(home: Path, name: str, **by_round: str) -> None:
    """Leave a run's summary and its files by round."""
    files.write_json(home / name / "summary.json", {"run": name, "seed": 1})
    for file, text in by_round.items():
        files.write_text(home / name / f"{file}.csv", text)


def test_laid_out_runs_are_what_was_kept(tmp_path):
    rates = "round,low,high\n1,0.0,inf\n"
    finished(tmp_path, "b", metrics="round,loss,clip\n0,0.1,\n1,0.25,1.0\n", rates=rates)
    finished(tmp_path, "a", metrics="round,loss,clip\n0,1e-30,2\n", rates="round,low,high\n")
    rows = [files.read_json(tmp_path / name / "summary.json") for name in "ba"]
    rounds = [row for name in "ba" for row in kept_runs.rounds_of(name, tmp_path / name)]
    (tmp_path / "kept").mkdir()
    kept_runs.write(tmp_path / "kept", rows, rounds)
    kept_runs.lay_out(tmp_path / "kept", tmp_path / "home")
    for name in "ab":
        for file in ("summary.json", "metrics.csv", "rates.csv"):
            again = tmp_path / "home" / "runs" / name / file
            assert again.read_text() == (tmp_path / name / file).read_text()
    (tmp_path / "again").mkdir()
    kept_runs.write(tmp_path / "again", rows[::-1], rounds[::-1])
    for file in (kept_runs.RUNS, kept_runs.ROUNDS):
        content = (tmp_path / "again" / file).read_bytes()
        assert content == (tmp_path / "kept" / file).read_bytes()


def test_a_run_without_a_curve_is_laid_out_whole_for_snakemake_and_has_none_in_tables(tmp_path):
    finished(tmp_path, "a")
    rows = [files.read_json(tmp_path / "a" / "summary.json") | {"final_test_accuracy": 0.5}]
    (tmp_path / "kept").mkdir()
    kept_runs.write(tmp_path / "kept", rows, [])
    kept_runs.lay_out_whole(tmp_path / "kept", tmp_path / "home", ["a"])
    home = tmp_path / "home" / "runs" / "a"
    assert {path.name for path in home.iterdir()} == {"summary.json", "metrics.csv", "rates.csv"}
    assert results._curve(home) == [] and list(kept_runs.rounds_of("a", home)) == []


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": "kept-results/1"}'])
def test_a_folder_that_says_something_else_is_one_line(tmp_path, text):
    files.write_text(tmp_path / "provenance.json", text)
    refuses(r"provenance.json: format .* keep it again", kept_runs.about, tmp_path)


def test_a_folder_with_other_files_than_were_kept_is_one_line(tmp_path):
    known = {"a": {"sha256": files.digest(Path(__file__))}}
    files.write_json(tmp_path / "provenance.json", {"format": kept_runs.FORMAT, "files": known})
    refuses(r"a: not as it was kept", kept_runs.about, tmp_path)
    files.write_text(tmp_path / "a", Path(__file__).read_text())
    assert kept_runs.about(tmp_path)["files"] == known
    files.write_text(tmp_path / "b", "")
    refuses(r"b: not what was kept", kept_runs.about, tmp_path)


@EACH
def test_what_the_repository_keeps_is_planned_by_its_configuration(path):
    """A kept run is named by its settings: were one named otherwise, it would be trained again."""
    about = kept_runs.about(path)
    config = papers.read(configuration.DEFAULTS) | about["config"]
    made = plan.make(configuration.composed(config | {"papers": [path.parent.name]}))
    rows = kept_runs.rows(path)
    planned = plan.runs_with_trials(made, plan.of_paper(made.studies, path.parent.name))
    assert {row["run"] for row in rows} <= {*planned}
    assert about["runs"]["trained"] == len(rows)
    assert all(row["seed"] == row["settings"]["seed"] for row in rows)


def test_what_the_repository_keeps_is_small_and_has_no_weights():
    found = [path for path in REFERENCE.rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in found) < MOST_BYTES
    assert {path.suffix for path in found} <= {".gz", ".json", ".csv", ".md", ".png", ".txt"}


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """A small kept folder with what is derived from it."""
    home = tmp_path_factory.mktemp("derived")
    path = REFERENCE / "tramer2021" / "cifar10"
    kept.derive(path, home / "tramer2021" / path.name)
    return path, home / "tramer2021" / path.name


def test_nothing_is_derived_twice_and_other_runs_anew(one, tmp_path):
    path, home = one
    before = (home / derivations.MADE_FROM).stat().st_mtime_ns
    kept.derive(path, home)
    assert (home / derivations.MADE_FROM).stat().st_mtime_ns == before
    assert derivations.folders(home.parents[1]) == [home]
    assert derivations.about(home) == kept_runs.about(path)
    files.write_json(home / derivations.MADE_FROM, {})
    kept.derive(path, home)
    made_from = files.read_json(home / derivations.MADE_FROM)
    assert made_from["kept"] == files.digest(path / kept_runs.ABOUT)


def test_a_claim_that_needs_curves_which_are_not_kept_is_open():
    def curve(method, epsilon, seed):
        raise results.NotKeptError("the curves of 5 runs")

    row = judge(exact(curve, a=90, b=90), **RACE).iloc[0]
    assert (verdict_of(row), row["about"]) == (NOT_KEPT, "the curves of 5 runs")


def test_a_folder_that_cannot_be_replaced_stays(tmp_path):
    files.write_text(tmp_path / "kept/a", "before")
    with pytest.raises(FileNotFoundError):
        keep._put(tmp_path / "new", tmp_path / "kept", tmp_path / "old")
    assert (tmp_path / "kept/a").read_text() == "before" and not (tmp_path / "old").exists()


def test_a_choice_of_some_studies_does_not_replace_more(tmp_path, monkeypatch):
    kept_runs.write(tmp_path, [{"run": "a"}, {"run": "b"}], [])
    monkeypatch.setattr(Choice, "config", lambda choice: {"select": ["p/a"]})
    own = keep.Kept(None, Choice(), "abc", "p", tmp_path)
    refuses("1 runs more, such as b, .*choose no studies", own._require_no_less, tmp_path, ["a"])
    monkeypatch.setattr(Choice, "config", lambda choice: {})
    own._require_no_less(tmp_path, ["a"])


def test_of_an_unfinished_scale_what_is_done_here_is_kept_and_nothing_is_lost(
    tmp_path, monkeypatch
):
    (tmp_path / "runs" / "a").mkdir(parents=True)
    states = dict.fromkeys("abc", state.State(state.DONE)) | {"d": state.State(state.ABSENT)}
    monkeypatch.setattr(state, "of_runs", lambda *_, **__: states)
    folders = {"b": tmp_path / "reference/p/s", "c": tmp_path / "unfinished/p/s"}
    monkeypatch.setattr(state, "counted", lambda *_: folders)
    own = keep.Kept(None, Choice(), "abc", "p", tmp_path)
    refuses("1 finished runs, such as c, are not laid out here; first: make", own._finished_here)
    (tmp_path / "runs" / "c").mkdir()
    assert own._finished_here() == {"a", "c"}
    for folder in folders.values():  # of the folder of `b`, the row of `c` is an older one
        folder.mkdir(parents=True)
        kept_runs.write(folder, [{"run": run, "of": folder.parts[-3]} for run in "bc"], [])
    found = {run: row["of"] for run, row in own._kept_rows().items()}
    assert found == {"b": "reference", "c": "unfinished"}


HARDWARE = {"cpu": "some", "machine": "x", "system": "y", "instructions": "AVX2", "threads": 1}
SUMMARY = {"final_test_accuracy": 0.9, "hardware": HARDWARE, "versions": {"torch": "2"}}
SUMMARY |= {"sources": "s", "inputs": {"data": "d", "assignment": "a"}}
OTHER = {"machine": {"hardware": HARDWARE | {"cpu": "other"}}, "code": {"sources": "t"}}
OTHER |= {"versions": {"versions": {"torch": "3"}}}
OTHER |= {"assignment": {"inputs": {"data": "d", "assignment": "b"}}}


def again(home: Path, **changes) -> dict:
    """Compare a kept run with one that ended with some changes, and other metrics if so."""
    home.mkdir(parents=True)
    (home / "summary.json").write_text(json.dumps(SUMMARY | changes))
    (home / "metrics.csv").write_text("other" if changes.pop("bits", None) else "same")
    lines = [f"{files.digest(p)}  {p.name}" for p in home.iterdir()]
    (home / files.SUMS).write_text("\n".join(lines) + "\n")
    (home.parent / "same").write_text("same")
    row = SUMMARY | {"run": "r", "files": {"metrics.csv": files.digest(home.parent / "same")}}
    return verify.compared(row, home)


@pytest.mark.parametrize("bits, verdict", [(False, verify.EQUAL), (True, verify.DIFFERS)])
def test_on_equal_hardware_bits_must_be_equal(tmp_path, bits, verdict):
    found = again(tmp_path / "a", bits=bits)  # accuracies are the same
    assert (found["asked"], found["verdict"]) == (verify.EQUAL, verdict)


@pytest.mark.parametrize("other", OTHER)
def test_elsewhere_accuracy_must_be_within_the_tolerance(tmp_path, other):
    changed = OTHER[other] | {"bits": True}
    accuracies = (0.904, 0.906, None)
    found = (again(tmp_path / str(a), final_test_accuracy=a, **changed) for a in accuracies)
    near, far, lost = found
    assert near["verdict"] == verify.WITHIN and near["asked"].endswith(f"other {other}")
    assert far["verdict"] == lost["verdict"] == verify.DIFFERS


def test_a_run_that_does_not_end_fails(tmp_path):
    row = SUMMARY | {"run": "r", "files": {}}
    assert verify.compared(row, tmp_path)["verdict"] == verify.FAILED


def kept_run(name: str, seconds: float, data: str, noise: str = "seeded") -> dict:
    parts = {"mechanism": "estimator", "optimizer": "algorithm", "clipping": "rule"}
    settings = {part: {key: part} for part, key in parts.items()}
    settings |= {"dataset": data, "model": "m", "noise": noise, "federation": {}}
    return {"run": name, "seconds": seconds - verify.JOBS_SECONDS, "settings": settings}


@pytest.mark.parametrize("limit, spent, dear", [(200, 200, ["dear"]), (199, 130, [])])
def test_samples_are_short_runs_on_cheap_data_up_to_the_limit(
    tmp_path, monkeypatch, limit, spent, dear
):
    monkeypatch.setattr(verify, "shared", {"preparation": {"d": 10, "dear": 50, "there": 900}}.get)
    files.write_text(tmp_path / "results/data/there.safetensors", "")
    rows = {
        "a": [kept_run("dear", 20, "dear"), kept_run("a", 60, "d"), kept_run("long", 61, "d")],
        "b": [
            kept_run("there", 30, "there"),
            kept_run("b", 30, "d"),
            kept_run("x", 9, "d", "secure"),
        ],
        "prices": [],
    }
    for name, own in rows.items():
        (tmp_path / name).mkdir()
        kept_runs.write(tmp_path / name, own, [])
    folders = [tmp_path / name for name in rows]
    found, seconds = verify.of_folders(folders, limit / 60, tmp_path)
    names = {path.name: [row["run"] for row in own] for path, own in found.items()}
    assert names == {"b": ["there", "b"], "a": ["a", *dear]} and seconds == spent


def test_each_study_judges_a_claim_by_its_own_runs(root, derived):
    """The rise over ε on both data sets, by hand; a study that the scale lacks has no row."""
    claims = pd.read_csv(derived / "meng2023" / "mnist" / "claims" / "claims.csv")
    own = claims[(claims["claim"] == "noise-lowers-accuracy") & (claims["part"] == "overall")]
    found = dict(zip(own["study"], own["difference"], strict=True))
    assert list(found) == ["cadabelief", "cadabelief-fashion"]
    rows = kept_runs.rows(root / "results/reference/meng2023/mnist")
    for study, dataset in (("cadabelief", "mnist"), ("cadabelief-fashion", "fashion-mnist")):
        low, high = (mean(rows, dataset, epsilon) for epsilon in (2.0, 8.0))
        assert abs(found[study] - (high - low)) < 1e-9


def mean(rows, dataset, epsilon):
    """Return the mean test accuracy of CAdabelief's five final runs, percent."""
    own = [
        100 * row["final_test_accuracy"]
        for row in rows
        if row["settings"]["dataset"] == dataset
        and row["settings"]["epsilon"] == epsilon
        and row["settings"]["optimizer"]["algorithm"] == "cadabelief"
        and row["settings"]["optimizer"]["rate_key"] == "lr"
        and row["final_validation_accuracy"] is None
    ]
    assert len(own) == 5
    return fmean(own)


def test_a_record_is_of_a_claim_and_a_study(derived, tmp_path):
    (tmp_path / "config.json").write_text('{"scale": "mnist"}', encoding="utf-8")
    judged = records.read(derived / "meng2023" / "mnist" / "claims" / "claims.csv")
    made = records.of_results(["meng2023"], judged, tmp_path, None)["records"]
    own = [r for r in made if r["claim"]["id"] == "noise-lowers-accuracy"]
    assert [r["claim"]["study"] for r in own] == ["cadabelief", "cadabelief-fashion"]
    assert len({r["parts"][0]["runs"][0] for r in own}) == 2
    assert sum(r["claim"]["study"] is None for r in made) == sum(
        r["verdict"] == "not judged" for r in made
    )

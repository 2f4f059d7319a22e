"""Kept results: the schema of their tables, what is refused, and how runs are compared."""

import gzip
import json
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpfl import plugins
from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.judging import claims, published
from dpfl.planning import reference
from dpfl.provenance import archive, checks, keep, kept, runs, sample, schema, tree, verify
from dpfl.report import kept_words
from dpfl.tables import comparisons, ranges, study_table

KINDS = {
    "cells": study_table.COLUMNS,
    "comparisons": comparisons.COLUMNS,
    "ranges": ranges.COLUMNS,
    "claims": claims.COLUMNS,
    "published": [*published.HEAD, *published.TAIL],
}
CELLS = "method,rank,n,certified,accuracy_mean\nsgd,3,5,True,97.5\nadam,,5,False,\n"


@pytest.mark.parametrize("kind", KINDS)
def test_every_column_that_is_written_has_a_type_and_a_meaning(kind):
    known = schema.declared()["kinds"][kind]
    assert [name for name in KINDS[kind] if name not in known] == []
    assert all(kind in schema.TYPES and meaning for kind, meaning in known.values())


def described(folder: Path, text: str = CELLS, kind: str = "cells") -> Path:
    files.write_text(folder / "a.csv", text)
    schema.describe("one", folder, {"a.csv": kind})
    return folder


def test_a_folder_says_what_its_columns_are(tmp_path):
    package = json.loads((described(tmp_path) / schema.FILE).read_text())
    [table] = package["resources"]
    fields = {field["name"]: field for field in table["schema"]["fields"]}
    assert list(fields) == ["method", "rank", "n", "certified", "accuracy_mean"]
    types = ["string", "number", "number", "boolean", "number"]
    assert [field["type"] for field in fields.values()] == types
    assert fields["rank"]["description"] == schema.SETTING
    assert fields["accuracy_mean"]["description"].startswith("mean test accuracy")
    schema.check(tmp_path)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (CELLS.replace("97.5", "high"), "accuracy_mean is 'high', expected number"),
        (CELLS.replace("True", "yes"), "certified is 'yes', expected boolean"),
        (CELLS.replace("method", "way"), "columns way, rank"),
    ],
)
def test_a_table_that_is_not_as_its_schema_says_is_one_line(tmp_path, text, told):
    described(tmp_path)
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(UserError, match=told):
        schema.check(tmp_path)


def test_tables_of_another_version_are_told(tmp_path):
    path = described(tmp_path) / schema.FILE
    path.write_text(json.dumps(json.loads(path.read_text()) | {"version": "0"}))
    with pytest.raises(UserError, match="are of version 0, this code reads version 1"):
        schema.check(tmp_path)


def test_a_claim_has_no_column_without_a_meaning(tmp_path):
    with pytest.raises(UserError, match="column 'odd' of claims has no meaning"):
        described(tmp_path, "claim,odd\na,1\n", "claims")


def test_equal_rows_give_equal_bytes(tmp_path):
    rows = [{"run": "a", "seed": 1}, {"run": "b", "seed": 2}]
    for name in ("one", "two"):
        runs.write(tmp_path / name, rows, ["run", "seed"])
    content = (tmp_path / "one").read_bytes()
    assert content == (tmp_path / "two").read_bytes()
    assert gzip.decompress(content).decode() == "run,seed\na,1\nb,2\n"


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A git checkout with one file."""
    for command in (["init", "-q"], ["config", "user.email", "a@b"], ["config", "user.name", "a"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "code.py").write_text("1")
    (tmp_path / "Snakefile").touch()
    commit(tmp_path)
    monkeypatch.setattr(plugins, "WORKFLOW", tmp_path / "workflow")
    return tmp_path


def commit(folder: Path) -> None:
    subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
    subprocess.run(["git", "commit", "-qm", "all"], cwd=folder, check=True)


def test_files_that_differ_from_the_commit_are_named(checkout):
    assert len(tree.clean_commit()) == 40 and tree.commit() == tree.clean_commit()
    files.write_text(checkout / "results/reference/a/b/tables/x.csv", "kept")
    assert tree.changes() == [] and not tree.commit().endswith("+changes")
    (checkout / "plug-in.py").write_text("new")
    assert tree.changes() == ["plug-in.py"] and tree.commit().endswith("+changes")
    (checkout / "plug-in.py").unlink()
    (checkout / "code.py").write_text("2")
    (checkout / "new file.py").write_text("3")
    assert sorted(tree.changes()) == ["code.py", "new file.py"]
    with pytest.raises(UserError, match=r"differ from the commit: code.py, new file.py; commit"):
        tree.clean_commit()
    assert tree.commit().endswith("+changes")
    commit(checkout)
    (checkout / "code.py").rename(checkout / "moved.py")
    assert sorted(tree.changes()) == ["code.py", "moved.py"]


def test_a_plug_in_that_git_ignores_is_a_change(checkout):
    (checkout / ".git/info/exclude").write_text("mine.py\n__pycache__\n")
    for path in ("mine.py", "__pycache__/other.pyc"):
        files.write_text(checkout / "workflow/scripts" / path, "")
    assert tree.changes() == ["workflow/scripts/mine.py"]


def test_a_copy_inside_another_repository_has_no_commit(checkout, monkeypatch):
    (checkout / ".git/info/exclude").write_text("copy\n")
    files.write_text(checkout / "copy/Snakefile", "")
    monkeypatch.setattr(plugins, "WORKFLOW", checkout / "copy/workflow")
    with pytest.raises(UserError, match="no git checkout"):
        tree.clean_commit()
    assert tree.commit() is None


def test_kept_values_that_a_study_takes_are_part_of_the_commit(checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    for path in ("a/b/chosen.json", "a/b/runs.csv", "other/b/chosen.json"):
        files.write_text(checkout / "results/reference" / path, "[]")
    taken = reference.files_of([{"paper": "a", "tuned_by": "reference"}, {"paper": "other"}])
    assert tree.changes(taken) == ["results/reference/a/b/chosen.json"]
    with pytest.raises(UserError, match=r"differ from the commit: results/reference/a/b/chosen"):
        tree.clean_commit(taken)
    commit(checkout)
    assert tree.clean_commit(taken)


HARDWARE = {"cpu": "some", "machine": "x", "system": "y", "instructions": "AVX2", "threads": 1}
SUMMARY = {
    "final_test_accuracy": 0.9,
    "hardware": HARDWARE,
    "versions": {"torch": "2"},
    "sources": "s",
    "inputs": {"data": "d", "assignment": "a"},
}
OTHER = {"machine": {"hardware": HARDWARE | {"cpu": "other"}}, "code": {"sources": "t"}}
OTHER |= {"versions": {"versions": {"torch": "3"}}}
OTHER |= {"assignment": {"inputs": {"data": "d", "assignment": "b"}}}


def again(folder: Path, **changes) -> dict:
    """Compare a kept run with one that ended with some changes, and other metrics if so."""
    home = folder / "runs" / "r"
    home.mkdir(parents=True)
    (home / "summary.json").write_text(json.dumps(SUMMARY | changes))
    (home / "metrics.csv").write_text("other" if changes.pop("bits", None) else "same")
    lines = [f"{files.digest(p)}  {p.name}" for p in home.iterdir()]
    (home / files.SUMS).write_text("\n".join(lines) + "\n")
    (folder / "same").write_text("same")
    entry = SUMMARY | {"run": "r", "files": {"metrics.csv": files.digest(folder / "same")}}
    return verify.compared(entry, runs.Finished("r", folder))


def test_on_equal_hardware_bits_must_be_equal(tmp_path):
    found = again(tmp_path / "a")
    assert (found["asked"], found["verdict"]) == (verify.EQUAL, verify.EQUAL)
    found = again(tmp_path / "b", bits=True)  # though its accuracy is the same
    assert (found["asked"], found["verdict"]) == (verify.EQUAL, verify.DIFFERS)


@pytest.mark.parametrize("other", OTHER)
def test_elsewhere_accuracy_must_be_within_the_tolerance(tmp_path, other):
    near = again(tmp_path / "near", bits=True, final_test_accuracy=0.904, **OTHER[other])
    assert near["verdict"] == verify.WITHIN and near["asked"].endswith(f"other {other}")
    far = again(tmp_path / "far", bits=True, final_test_accuracy=0.906, **OTHER[other])
    assert far["verdict"] == verify.DIFFERS
    lost = again(tmp_path / "lost", bits=True, final_test_accuracy=None, **OTHER[other])
    assert lost["verdict"] == verify.DIFFERS


def test_a_folder_without_a_compared_run_is_named(tmp_path):
    for scale, names in (("a", ["r", "s"]), ("b", ["t"]), ("prices", [])):
        files.write_json(tmp_path / "p" / scale / sample.FILE, [{"run": name} for name in names])
    folders = [tmp_path / "p" / scale for scale in ("a", "b", "prices")]
    assert verify.left_out(folders, [{"run": "s"}]) == ["p/b", "p/prices"]


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": "kept-results/1"}'])
def test_a_folder_that_says_something_else_is_one_line(tmp_path, text):
    files.write_text(tmp_path / "provenance.json", text)
    with pytest.raises(UserError, match=r"provenance.json: format .* keep it again"):
        kept.about(tmp_path)


def test_a_kept_folder_without_its_tables_is_still_one(tmp_path):
    files.write_text(tmp_path / "p/a/tables/x.csv", "")
    files.write_text(tmp_path / "p/b/provenance.json", "{}")
    assert kept.folders(tmp_path) == [tmp_path / "p/a", tmp_path / "p/b"]


def test_a_folder_that_cannot_be_replaced_stays(tmp_path):
    files.write_text(tmp_path / "kept/a", "before")
    with pytest.raises(FileNotFoundError):
        keep._put(tmp_path / "new", tmp_path / "kept", tmp_path / "old")
    assert (tmp_path / "kept/a").read_text() == "before" and not (tmp_path / "old").exists()


def test_a_run_that_has_read_other_files_than_lie_here_is_not_archived(tmp_path):
    results, settings = tmp_path / "results", {"dataset": "d"}
    needs = {"settings": settings, "partition": "p", "calibration": None, "tuning": None}
    plan = SimpleNamespace(runs={"r": needs})
    assignment = results / "partitions/p/assignment.npy"
    files.write_text(assignment, "clients")
    read = {"data": "gone since", "assignment": files.digest(assignment)}
    files.write_json(results / "runs/r/summary.json", {"inputs": read})

    def finished() -> bool:
        return checks.has_read_what_is_here("r", plan, results, files.digest)

    assert finished()
    files.write_text(assignment, "other clients")
    assert not finished()
    files.write_text(results / "runs/r" / archive.finished.KEPT / archive.MARK, "")
    assert finished()  # of a restored run the archive says what it has read


def test_a_folder_that_does_not_say_where_it_comes_from_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"provenance.json: not there, .* keep it again"):
        kept.about(tmp_path)


def test_a_run_that_does_not_end_fails(tmp_path):
    entry = SUMMARY | {"run": "r", "files": {}}
    assert verify.compared(entry, runs.Finished("r", tmp_path))["verdict"] == verify.FAILED


def test_a_file_that_chooses_studies_does_not_replace_more_either(tmp_path):
    files.write_json(tmp_path / "outline.json", {"studies": ["p/a", "p/b"], "analyses": {}})
    choice = SimpleNamespace(settings={}, files=("m.yaml",), config=lambda: {"select": ["p/a"]})
    own = keep.Kept(None, choice, "abc", "p", tmp_path)
    outline = {"studies": ["p/a"], "analyses": {}}
    with pytest.raises(UserError, match=r"holds p/b as well.*\(without `select` in m.yaml\)"):
        own._require_no_less(tmp_path, outline)
    choice.config = dict
    own._require_no_less(tmp_path, outline)


def test_runs_of_a_secret_are_no_sample():
    def run(noise, batch):
        method = {"mechanism": {"estimator": "dpsgd"}, "optimizer": {"algorithm": "sgd"}}
        return {
            "settings": {
                **{"dataset": "mnist", "model": "mnist-cnn", "unit": "example", "noise": noise},
                **method,
                "clipping": {"rule": "fixed"},
                "evaluation_examples": 100,
                "partition": {"clients": 1},
                "federation": {
                    **{"rounds": 1, "batch_size": batch, "clients_per_round": None},
                    **{"local_epochs": 1, "local_steps": None},
                },
            }
        }

    runs = {"seeded": run("seeded", 64), "secure": run("secure", 128)}
    studies = {"p/a": {"kind": "compare", "cells": [{"runs": list(runs)}]}}
    planned = SimpleNamespace(runs=runs, studies=studies)
    assert list(sample._candidates(planned, "p")) == ["seeded"]


def test_samples_are_taken_in_turn_up_to_the_limit(tmp_path):
    for name, costs in {"a": [60, 120, 60], "b": [30, 600]}.items():
        entries = [{"run": f"{name}{i}", "estimate": cost} for i, cost in enumerate(costs)]
        files.write_json(tmp_path / name / "sample.json", entries)
    found = verify.of_folders([tmp_path / "a", tmp_path / "b"], 4.0)
    assert [entry["run"] for entry in found] == ["a0", "b0", "a1"]


KEPT = kept.folders(Path(__file__).parents[2] / "results" / "reference")


@pytest.mark.parametrize("path", KEPT, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_the_repository_keeps_says_where_it_comes_from(path):
    about = kept.about(path)
    assert about["commit"] in kept_words.of(about)[0]

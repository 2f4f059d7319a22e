"""Results are kept with provenance, shown, verified and refused, as docs/provenance.md says."""

import gzip
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from links import dead_links
from worktree import OPTIMIZER, Tree

from dpfl.base import files

KEPT = "results/reference/meng2023/demo"


def git(tree: Tree, *command: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    done = subprocess.run(
        ["git", *who, *command], cwd=tree.path, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def keep(tree: Tree) -> subprocess.CompletedProcess:
    return tree.call("keep", "--configfile", "mini.yaml")


@pytest.fixture(scope="module")
def kept(mini, tmp_path_factory) -> Tree:
    """A finished tree that is a clean checkout, and whose results are kept."""
    tree = mini.copy(tmp_path_factory.mktemp("kept") / "tree")
    ignored = "/results/*\n!/results/reference/\n!/results/unfinished/\n.snakemake/\n__pycache__/\n"
    (tree.path / ".gitignore").write_text(ignored)
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-qm", "all")
    done = keep(tree)
    assert done.returncode == 0, done.stderr
    return tree


def rows(tree: Tree) -> list[dict]:
    content = gzip.decompress((tree.path / KEPT / "runs.jsonl.gz").read_bytes())
    return [json.loads(line) for line in content.splitlines()]


def test_every_run_and_trial_is_kept_as_it_ended(kept):
    assert sorted(row["run"] for row in rows(kept)) == sorted(kept.runs())
    for row in rows(kept):
        home = kept.results / "runs" / row["run"]
        summary = json.loads((home / "summary.json").read_text())
        assert {key: row[key] for key in summary} == summary
        assert row["seconds"] > 0 and row["ended"] and row["files"].keys() >= {"metrics.csv"}


def test_what_is_derived_of_kept_runs_is_what_was_made_of_the_runs(kept, tmp_path):
    shutil.copytree(kept.path / KEPT, tmp_path / "kept/meng2023/demo")
    where = ("--reference", tmp_path / "kept", "--output", tmp_path / "derived", "--figures")
    done = kept.call("derive", *where)
    assert done.returncode == 0, done.stderr
    home = tmp_path / "derived/meng2023/demo"
    for part in ("tables", "claims", "figures"):
        made = kept.results / part / "meng2023"
        ours = {p.relative_to(made) for p in made.rglob("*") if p.suffix in (".csv", ".md", ".txt")}
        assert ours
        for name in ours:
            assert (home / part / name).read_text() == (made / name).read_text(), name
    before = (home / "made-from.json").stat().st_mtime_ns
    assert kept.call("derive", *where).returncode == 0
    assert (home / "made-from.json").stat().st_mtime_ns == before


def test_provenance_names_commit_command_and_every_file(kept):
    about = json.loads((kept.path / KEPT / "provenance.json").read_text())
    assert about["commit"] == git(kept, "rev-parse", "HEAD")
    assert about["command"] == "make replicate CONFIG=mini.yaml"
    assert about["runs"]["trained"] == len(kept.runs())
    assert about["versions"].keys() >= {"python", "torch", "snakemake", "opacus", "dpfl"}
    there = {p.relative_to(kept.path / KEPT) for p in (kept.path / KEPT).rglob("*") if p.is_file()}
    assert {*map(Path, about["files"]), Path("provenance.json")} == there
    assert str(kept.path) not in "".join(
        p.read_text() for p in (kept.path / KEPT).rglob("*") if p.suffix in (".json", ".md", ".csv")
    )


def test_kept_runs_of_todays_code_are_not_trained(kept, tmp_path):
    tree = kept.copy(tmp_path / "fresh")
    for part in tree.made():
        files.remove(tree.results / part)
    shutil.rmtree(tree.path / ".snakemake")
    said = tree.make()
    assert "train_pack" not in said and "8 training runs, 0 without a result" in said
    for table in kept.results.glob("tables/**/*.csv"):
        made = tree.results / table.relative_to(kept.results)
        assert made.read_text() == table.read_text(), table
    assert "Nothing to be done" in tree.make()
    assert list(tree.pending("--config", "kept=train")["train_pack"])


def test_what_has_finished_of_a_scale_is_kept_and_counts_elsewhere(kept, tmp_path):
    tree = kept.copy(tmp_path / "half")
    files.remove(tree.path / "results/reference")
    for run in tree.runs_of("meng2023/cadabelief")[:2]:
        files.remove(tree.results / "runs" / run)
    git(tree, "rm", "-rq", "--cached", "results")
    git(tree, "commit", "-qm", "nothing is kept")
    assert "are absent" in keep(tree).stderr
    files.remove(tree.results / "runs" / tree.runs_of("meng2023/cadabelief")[2] / "summary.json")
    done = tree.call("keep", "--configfile", "mini.yaml", "--finished")
    assert done.stdout.strip() == "results/unfinished/meng2023/demo", done.stderr
    other = tree.copy(tmp_path / "other")
    for part in {*other.made()} - {"unfinished"}:
        files.remove(other.results / part)
    shutil.rmtree(other.path / ".snakemake")
    assert "8 training runs, 2 without a result" in other.make()
    for run in kept.runs():
        made = other.results / "runs" / run / "metrics.csv"
        assert made.read_text() == (kept.results / "runs" / run / "metrics.csv").read_text()


def test_keeping_again_gives_the_same_runs(kept):
    names = ("runs.jsonl.gz", "rounds.csv.gz")
    before = [(kept.path / KEPT / name).read_bytes() for name in names]
    assert keep(kept).returncode == 0
    assert [(kept.path / KEPT / name).read_bytes() for name in names] == before


def refused(tree: Tree) -> str:
    """Return why keeping is refused; what was kept stays as it was."""
    before = (tree.path / KEPT / "provenance.json").read_bytes()
    done = keep(tree)
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
    assert (tree.path / KEPT / "provenance.json").read_bytes() == before
    assert [p.name for p in (tree.path / KEPT).parent.iterdir() if p.name[0] == "."] == []
    return done.stderr


def edited(tree: Tree, file: str, commit: bool) -> None:
    tree.append(file, "\n_EDITED = True\n")
    if commit:
        git(tree, "commit", "-qam", "edited")


@pytest.fixture
def restored(kept):
    """The kept tree, to change: what is tracked is put back after the test."""
    head = git(kept, "rev-parse", "HEAD")
    yield kept
    git(kept, "reset", "-q", "--hard", head)


def test_a_dirty_tree_is_refused(restored):
    edited(restored, OPTIMIZER, commit=False)
    (restored.path / "workflow" / "new.py").write_text("")
    said = refused(restored)
    (restored.path / "workflow" / "new.py").unlink()
    assert OPTIMIZER in said and "workflow/new.py" in said


def test_runs_of_other_code_are_refused(restored):
    edited(restored, OPTIMIZER, commit=True)
    assert "4 of 8 runs are stale: trained by other code" in refused(restored)


def test_tables_of_other_code_are_refused(restored):
    edited(restored, "workflow/scripts/dpfl/tables/study_table.py", commit=True)
    assert "tables or figures are not those of this commit" in refused(restored)


def test_unfinished_studies_are_refused(restored):
    [summary, *_] = sorted(restored.results.glob("runs/*/summary.json"))
    summary.rename(summary.with_name("away"))
    said = refused(restored)
    summary.with_name("away").rename(summary)
    why = "damaged: summary.json missing or not whole"
    assert f"1 of 8 runs are {why}, such as {summary.parent.name}" in said


def test_the_report_of_kept_results_needs_no_runs(kept, tmp_path):
    home, reference = tmp_path / "papers", tmp_path / "reference"
    shutil.copytree(kept.path / KEPT, reference / "meng2023/demo")
    shutil.copytree(kept.path / "workflow/papers/meng2023", home / "meng2023")
    (home / "meng2023/page.md").unlink()  # it quotes what the repository keeps
    where = ("--reference", reference, "--derived", tmp_path / "derived")
    where += ("--output", tmp_path / "out", "--home", home)
    done = kept.call("report_reference", *where)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out/demo/reports/meng2023.html").read_text()
    assert git(kept, "rev-parse", "HEAD") in page and ">make replicate CONFIG=mini.yaml<" in page
    first = (tmp_path / "out/demo/reports/index.html").read_text()
    assert "8 training runs" in first and "This run" not in first
    with (reference / "meng2023/demo/runs.jsonl.gz").open("ab") as table:
        table.write(gzip.compress(b"by hand"))
    done = kept.call("report_reference", *where)
    assert done.returncode == 1 and "runs.jsonl.gz: not as it was kept" in done.stderr


def test_a_dead_link_is_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#x"></a><a href="b.html#y"></a><img src="c">')
    (tmp_path / "b.html").write_text('<p id="x"><a href="https://c.org"></a><a href="a.html"></a>')
    assert {link for _, link in dead_links(tmp_path)} == {"b.html#y", "c"}


def test_the_report_of_what_the_repository_keeps(root, tmp_path):
    done = Tree(root).call("report_reference", "--output", tmp_path)
    assert done.returncode == 0, done.stderr
    assert list(dead_links(tmp_path)) == []
    index = (tmp_path / "index.html").read_text()
    for folder in (path.parent for path in root.glob("results/reference/*/*/provenance.json")):
        page = f"{folder.name}/reports/{folder.parent.name}.html"
        assert f'href="{page}"' in index and (tmp_path / page).exists()
        # Chromium refuses a frame of a data URL above 2 MiB, which is a page of 1.5 MB.
        assert (tmp_path / page).stat().st_size < 1_500_000


def test_kept_runs_are_trained_again_to_the_same_bits(restored):
    data = restored.results / "data" / "digits.safetensors"
    whole = data.read_bytes()
    data.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))  # not what they were trained on
    done = restored.call("verify", "--cores", "2", "--scale", "demo")
    assert done.returncode == 0, done.stdout + done.stderr
    assert len([line for line in done.stdout.splitlines() if line.count("equal bits") == 2]) == 2
    data.write_bytes(whole)
    path = restored.path / OPTIMIZER
    text = path.read_text()
    assert "grad - mean, group" in text
    path.write_text(text.replace("grad - mean, group", "30 * (grad - mean), group"))
    done = restored.call("verify", "--cores", "2", "--scale", "demo")
    lines = [line for line in done.stdout.splitlines() if " kept " in line]
    found = {line.split("-")[2]: re.search(r" %  ([a-z ]+) \(", line)[1] for line in lines}
    assert done.returncode == 1 and found == {"sgd": "equal bits", "cadabelief": "differs"}

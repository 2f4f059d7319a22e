"""The commit that results are kept of, and what differs from it."""

import subprocess
from pathlib import Path

import pytest
from refusals import refuses

from dpfl import plugins
from dpfl.base import files
from dpfl.provenance import tree


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
    refuses(r"differ from the commit: code.py, new file.py; commit", tree.clean_commit)
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
    refuses("no git checkout", tree.clean_commit)
    assert tree.commit() is None

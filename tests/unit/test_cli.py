"""How faults are told: one line, wherever there is room for it."""

import errno
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from dpfl.base import cli, files, options
from dpfl.base.errors import UserError


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (UserError("rate = 3"), "error: rate = 3"),
        (
            OSError(errno.ENOSPC, "No space left on device", "a/b.json"),
            "error: [Errno 28] No space left on device: 'a/b.json'; free some space and run again",
        ),
        (
            FileNotFoundError(errno.ENOENT, "No such file", "a"),
            "error: [Errno 2] No such file: 'a'",
        ),
        (MemoryError(), "error: out of memory"),
        (
            RuntimeError("[enforce fail] DefaultCPUAllocator:\ncan't allocate memory: 8 bytes"),
            "error: out of memory; [enforce fail] DefaultCPUAllocator: can't allocate memory: "
            "8 bytes",
        ),
    ],
)
def test_a_fault_is_one_line(error, line):
    with pytest.raises(SystemExit) as stopped:
        cli.main(Mock(side_effect=error))
    assert stopped.value.code == line


def test_a_mistake_of_ours_keeps_its_traceback():
    with pytest.raises(RuntimeError, match="shapes differ"):
        cli.main(Mock(side_effect=RuntimeError("shapes differ")))


def test_a_full_disk_is_told_with_the_file_and_leaves_nothing(tmp_path):
    with pytest.raises(OSError, match=r"a\.json"), files.atomic(tmp_path / "a.json"):
        raise OSError(errno.ENOSPC, "No space left on device")
    assert not list(tmp_path.iterdir())


def test_options_are_required_have_defaults_or_are_switches(monkeypatch):
    wanted = {"study": Path, "models": [str], "runs": Path("runs"), "table": False}

    def read(line):
        monkeypatch.setattr(sys, "argv", ["driver.py", *line.split()])
        return vars(options.read("A driver.", **wanted))

    given = read("--study a.json --models b c --table")
    assert given.pop("study") == Path("a.json") and given.pop("models") == ["b", "c"]
    assert given == {"runs": Path("runs"), "table": True}
    assert read("--study a --models b --runs d")["runs"] == Path("d")
    with pytest.raises(UserError, match="required: --study"):
        read("--models b")
    with pytest.raises(UserError, match="unrecognized arguments: --run"):
        read("--study a --models b --run d")

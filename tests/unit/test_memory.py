"""Freed memory stays in the process; measured in a process of its own."""

import platform
import subprocess
import sys

import pytest

MEGABYTES = 64  # above glibc's largest mmap threshold: handed back at once by default
PROGRAM = f"""
import sys
from pathlib import Path
sys.path.insert(0, "workflow/scripts")
from dpfl.training.memory import keep_freed_memory

def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

if sys.argv[1] == "kept":
    keep_freed_memory()
block = b"x" * ({MEGABYTES} << 20)
before = resident()
del block
print(before - resident())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="a setting of glibc's malloc")
@pytest.mark.parametrize(("setting", "returned"), [("default", MEGABYTES), ("kept", 0)])
def test_freed_memory_is_kept_on_request(root, setting, returned):
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, setting],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(result.stdout) == pytest.approx(returned, abs=MEGABYTES / 4)

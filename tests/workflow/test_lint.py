"""Snakefile, rules and Python pass their linters and formatters."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    "command",
    [
        ("ruff", "check", "--no-cache", "."),
        ("ruff", "format", "--no-cache", "--check", "."),
        ("snakefmt", "--check", "Snakefile", "workflow/rules"),
    ],
    ids=" ".join,
)
def test_style(root, command):
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=root, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_snakemake_lint(sources):
    sources.make("--lint", configs=())

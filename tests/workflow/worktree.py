"""A copy of the sources, in which the workflow runs as its users run it: by command, offline."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

SNAKEMAKE = (sys.executable, "-m", "snakemake", "--cores", "2")
SOURCES = (
    *("Snakefile", "config.yaml", "pyproject.toml", "workflow", "profiles"),
    *("notebooks", "envs", "CITATION.cff"),
    *("results/reference", "results/derived"),
)
NO_NETWORK = dict.fromkeys(("http_proxy", "https_proxy", "all_proxy"), "http://127.0.0.1:9")
MINI = {
    "papers": ["meng2023"],
    "select": ["meng2023/cadabelief", "meng2023/rates"],
    "federations": {"default": {"rounds": 2}},
    "studies": {
        "meng2023/cadabelief": {"methods": ["sgd", "cadabelief"], "epsilons": [8], "seeds": [0, 1]},
        "meng2023/rates": {
            "methods": ["sgd", "cadabelief"],
            "epsilons": [8],
            "vary": {"rate": [0.03, 0.3]},
        },
    },
}
"""A configuration of eight training runs that still uses every rule."""
OPTIMIZER = "workflow/scripts/dpfl/optimizers/cadabelief.py"
RAISES = """

def build(*args, **kwargs):
    raise RuntimeError("planted")
"""
"""What makes every run of an optimizer fail, at the end of its file."""


@dataclass(frozen=True)
class Tree:
    """A copy of the sources, in which Snakemake runs with the configuration of mini.yaml."""

    path: Path

    @property
    def results(self) -> Path:
        return self.path / "results"

    def made(self) -> list[str]:
        """Return what the workflow has made: the results that the sources do not have."""
        return sorted(
            p.name for p in self.results.iterdir() if p.name not in ("reference", "derived")
        )

    def configure(self, config: dict[str, Any]) -> None:
        """Write mini.yaml."""
        (self.path / "mini.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")

    def copy(self, to: Path) -> "Tree":
        return Tree(shutil.copytree(self.path, to))

    def run(self, *args: str) -> subprocess.CompletedProcess:
        """Run Snakemake to its end, good or bad."""
        return subprocess.run(
            [*SNAKEMAKE, *args], cwd=self.path, env=_environment(), capture_output=True, text=True
        )

    def start(self, *args: str) -> subprocess.Popen:
        """Start Snakemake in a process group of its own, so that it can be killed with its jobs."""
        return subprocess.Popen(
            [*SNAKEMAKE, *args],
            cwd=self.path,
            env=_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def make(self, *args: str, configs: Iterable[str] = ("mini.yaml",)) -> str:
        """Run Snakemake with files that extend the default; return what it prints on success."""
        done = self.run(*args, *(("--configfile", *configs) if configs else ()))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def call(self, script: str, *arguments: str | Path) -> subprocess.CompletedProcess:
        """Run a driver of the workflow to its end, good or bad."""
        command = [sys.executable, f"workflow/scripts/{script}.py", *arguments]
        return subprocess.run(command, cwd=self.path, capture_output=True, text=True)

    def append(self, file: str, code: str) -> None:
        """Add code to the end of a source file."""
        with (self.path / file).open("a", encoding="utf-8") as text:
            text.write(code)

    def pending(self, *args: str, configs: Iterable[str] = ("mini.yaml",)) -> dict[str, set[str]]:
        """Return the outputs that would be made, or made again, by rule."""
        table = self.make("--summary", *args, configs=configs)
        found: dict[str, set[str]] = {}
        for line in table.splitlines():
            if line.endswith("\tupdate pending"):
                file, _, rule, *_ = line.split("\t")
                found.setdefault(kind(rule), set()).add(file)
        return found

    def runs(self) -> set[str]:
        """Return the names of the training runs that have a folder."""
        return {path.name for path in self.results.glob("runs/*")}

    def runs_of(self, study: str) -> list[str]:
        """Return the names of the runs of a study that the workflow has described."""
        described = json.loads((self.results / "studies" / f"{study}.json").read_text())
        return sorted({run for cell in described["cells"] for run in cell["runs"]})

    def bits(self, pattern: str) -> dict[str, bytes]:
        """Return the bytes of the results that match, by path."""
        return {name: content for name, (_, content) in self.contents(pattern).items()}

    def contents(self, pattern: str) -> dict[str, tuple[int, bytes]]:
        """Return modification time and bytes of the results that match, by path."""
        files = [path for path in self.results.glob(pattern) if path.is_file()]
        return {
            str(f.relative_to(self.results)): (f.stat().st_mtime_ns, f.read_bytes()) for f in files
        }


def job_counts(printed: str) -> dict[str, int]:
    """Read the table of jobs that Snakemake prints: rule, count."""
    table = printed.split("Job stats:")[1].split("\n\n")[0]
    found: dict[str, int] = {}
    for rule, count in re.findall(r"^([a-z0-9_]+) +(\d+)$", table, re.M):
        found[kind(rule)] = found.get(kind(rule), 0) + int(count)
    return found


def kind(rule: str) -> str:
    """Return what rules that are made in a loop have in common: the beginning of their names."""
    return re.sub("^(partition|calibrate|tabulate|analyse|lay_out)_.*", r"\1", rule)


def _environment() -> dict[str, str]:
    return os.environ | NO_NETWORK | {"no_proxy": "localhost,127.0.0.1"}


def copied(root: Path, to: Path) -> Tree:
    """Copy what the workflow needs, and never its results."""
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info", ".ipynb_checkpoints")
    to.mkdir()
    for name in SOURCES:
        source = root / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=ignore, dirs_exist_ok=True)
        elif source.exists():
            shutil.copy2(source, to / name)
    return Tree(to)

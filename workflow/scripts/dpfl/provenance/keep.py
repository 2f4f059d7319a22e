"""Writes results/reference/{paper}/{scale}: the runs of a paper at a scale."""

import csv
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from dpfl.base import files, machine
from dpfl.base.errors import UserError
from dpfl.planning import outputs
from dpfl.planning.plan import Plan, of_paper, runs_of, runs_with_trials
from dpfl.runs import finished, kept_runs, state
from dpfl.terminal.choice import Choice

PACKAGES = ("dpfl", "snakemake", "opacus", "dp-accounting", "torch", "numpy", "pandas")


@dataclass(frozen=True)
class Kept:
    """What is kept: the runs of one paper at one scale, of a commit and a choice."""

    plan: Plan
    choice: Choice
    commit: str
    paper: str
    results: Path
    finished_alone: bool = False
    """Keep only what has finished here, of a scale that is not complete, and no other output."""

    def write(self, reference: Path) -> Path:
        """Write the folder whole, in place of an older one; return it.

        UserError for a file that is not whole, and where a choice of some studies would replace
        more.
        """
        target = reference / self.paper / self.choice.config()["scale"]
        names = runs_with_trials(self.plan, of_paper(self.plan.studies, self.paper))
        if self.finished_alone:
            done = self._finished_here()
            names = [name for name in names if name in done]
        self._require_no_less(target, names)
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as made:
            new = Path(made) / "new"
            new.mkdir(mode=0o755)
            self._fill(new, names)
            _put(new, target, Path(made) / "old")
        return target

    def _require_no_less(self, target: Path, names: list[str]) -> None:
        """Raise a UserError if chosen studies have not all runs that the folder has."""
        lost = {row["run"] for row in kept_runs.rows(target)} - set(names)
        if lost and self.choice.config().get("select"):
            raise UserError(
                f"{target} holds {len(lost)} runs more, such as {min(lost)}, which the chosen "
                "studies have not; choose no studies (`select`), or remove the folder first"
            )

    def _fill(self, new: Path, names: list[str]) -> None:
        homes = {name: self.results / "runs" / name for name in names}
        kept = self._kept_rows()
        rows = [kept.get(name) or _row(home, self.results) for name, home in homes.items()]
        rounds = (row for name, home in homes.items() for row in kept_runs.rounds_of(name, home))
        kept_runs.write(new, rows, rounds)
        for path in () if self.finished_alone else self._outputs():
            target = new / kept_runs.OUTPUTS / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(self.results / path, target)
        about = self._about(rows) | {"files": dict(_digests(new))}
        files.write_json(new / kept_runs.ABOUT, about)

    def _kept_rows(self) -> dict[str, kept_runs.Row]:
        """Return the rows of runs that count because they are kept already."""
        counted = state.counted(self.plan, self.results)
        found = ((row, folder) for folder in {*counted.values()} for row in kept_runs.rows(folder))
        return {row["run"]: row for row, folder in found if counted.get(row["run"]) == folder}

    def _finished_here(self) -> set[str]:
        """Return the runs that are done, but for those that results/reference holds.

        What finished in a pack that was cut off is laid out first: nobody has shown it yet.
        UserError where some of them lie in results/unfinished alone: their curves would be lost.
        """
        for kept in self.results.glob(f"runs/*/{finished.KEPT}"):
            if kept.parent.name in self.plan.runs and finished.lacking(kept.parent):
                finished.show(kept.parent)
        states = state.of_runs(self.plan, self.results, running=False, whole=True)
        kept = state.counted(self.plan, self.results)
        held = {run for run, folder in kept.items() if self.results / "reference" in folder.parents}
        done = {run for run, own in states.items() if own.name == state.DONE} - held
        if away := [run for run in done if not (self.results / "runs" / run).is_dir()]:
            told = f"{len(away)} finished runs, such as {min(away)}, are not laid out here"
            raise UserError(f"{told}; first: {self.choice.command()}")
        return done

    def _outputs(self) -> Iterator[str]:
        """Yield what runs alone do not say: of data, of weights, and the noise of tuned cells."""
        for name in of_paper(self.plan.analyses, self.paper):
            if "dataset" in self.plan.analyses[name]:
                yield from _tables(outputs.analysis_tables(self.plan, name))
                yield from _figure(outputs.analysis_figure(self.plan, name))
        for name in of_paper(self.plan.studies, self.paper):
            for figure in state.weighed(self.plan.studies[name]):
                yield from _tables([f"{name}_{figure}"])
                yield from _figure(f"{name}/{figure}")
            cells = self.plan.studies[name]["cells"]
            noise = {c["calibration"] for c in cells if "tuning" in c and c["calibration"]}
            yield from (f"calibrations/{name}.json" for name in sorted(noise))

    def _about(self, rows: list[dict[str, Any]]) -> dict[str, Any]:
        ended = sorted(row["ended"] for row in rows if row["ended"])
        config = self.choice.config()
        config.pop("data_dir", None)  # where data lies on a machine is no part of what was run
        finals = {*runs_of(self.plan.studies[n] for n in of_paper(self.plan.studies, self.paper))}
        seconds = sum(row["seconds"] or 0 for row in rows)
        counted = {"final": (n := sum(r["run"] in finals for r in rows)), "trials": len(rows) - n}
        return {
            "format": kept_runs.FORMAT,
            "paper": self.paper,
            "scale": config["scale"],
            "command": self.choice.command(),
            "commit": self.commit,
            "kept": datetime.now(UTC).isoformat(timespec="seconds"),
            "trained": {"first": ended[0], "last": ended[-1]} if ended else {},
            "runs": counted | {"trained": len(rows)},
            "accepted": Counter(row["accepted"]["commit"] for row in rows if "accepted" in row),
            "core_hours": round(seconds / 3600, 3),
            "versions": _versions(rows),
            "hardware": _hardware(rows),
            "config": config,
        }


def _tables(names: Iterable[str]) -> Iterator[str]:
    yield from (f"tables/{name}.{form}" for name in names for form in ("csv", "md"))


def _figure(name: str) -> Iterator[str]:
    yield from (f"figures/{name}.{form}" for form in ("png", "txt"))


def _row(home: Path, results: Path) -> kept_runs.Row:
    """Return all that a finished run says in numbers: its summary, digests, and what it cost."""
    cost = _cost(results / "benchmarks" / "train" / f"{home.name}.tsv")
    made = finished.record(home)
    return {
        **files.read_json(home / "summary.json"),
        "made": {part: made[part] for part in made.keys() - {"sources", "settings"}},
        "files": files.sums(home / files.SUMS),
        "seconds": float(cost["s"]) if "s" in cost else None,
        "ended": cost.get("ended"),
    }


def _cost(path: Path) -> dict[str, str]:
    """Return what a training cost and when it ended; {} if nobody wrote it down."""
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.DictReader(file, delimiter="\t"), {})


def _put(new: Path, target: Path, old: Path) -> None:
    """Move a folder into the place of another, which lies there again if that cannot be done."""
    if target.exists():
        target.rename(old)
    try:
        new.rename(target)
    except BaseException:
        if old.exists():
            old.rename(target)
        raise


def _versions(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Return the versions that trained, and those of all else that is installed here."""
    trained: dict[str, dict[str, None]] = {}
    for row in rows:
        for name, found in row["versions"].items():
            trained.setdefault(name, {})[found] = None
    installed = {each.name: each.version for each in distributions() if each.name in PACKAGES}
    return installed | {name: ", ".join(found) for name, found in trained.items()}


def _hardware(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return every machine that trained, with the number of its runs."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        found.setdefault(machine.line(row["hardware"]), row["hardware"] | {"runs": 0})["runs"] += 1
    return list(found.values())


def _digests(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        told = {"bytes": path.stat().st_size, "sha256": files.digest(path)}
        yield path.relative_to(folder).as_posix(), told

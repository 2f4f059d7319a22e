"""Finished runs in one file: for a scale that takes several sittings, or several machines.

An archive holds what tables and figures are made from, and what identifies a run: its settings,
the digests of the code that trained it, that made what it read and that chose its values, the
digests of its files; not its weights.
"""

import gzip
import hashlib
import io
import json
import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.planning import trials
from dpfl.planning.plan import Plan
from dpfl.planning.restored import BEFORE, MARK, is_as_tuned, made_by, parted, with_weights
from dpfl.provenance import checks
from dpfl.provenance.runs import Finished
from dpfl.runs import finished, sources
from dpfl.runs.done import is_done

COST = "cost.tsv"
"""What training cost and when it ended, as results/benchmarks has it."""
SHOWN = ("metrics.csv", "rates.csv", "summary.json")
OPTIONAL = frozenset({COST, BEFORE})
"""What not every archive has of every run; one without BEFORE is of other code."""
PARTS = frozenset({*SHOWN, files.SUMS, finished.SOURCES}) | OPTIONAL

Run = dict[str, bytes]
"""The files of a run by their names."""


def path_of(reference: Path, paper: str, scale: str) -> Path:
    """Return where the archive of a paper's scale lies."""
    return reference / paper / f"{scale}.runs.tar.gz"


def finished_of(plan: Plan, paper: str, results: Path) -> list[str]:
    """Return the runs of a paper that today's code has finished, trials too.

    Those that read other data, clients or calibrations than lie here now are not.
    """
    _, stale = parted(plan, results)
    here = _done(plan, trials.and_runs_of_paper(plan, paper), results)
    own = [name for name in here if name not in stale and is_as_tuned(name, plan, results)]
    digest = cache(files.digest)
    return [name for name in own if checks.has_read_what_is_here(name, plan, results, digest)]


def _done(plan: Plan, names: Iterable[str], results: Path) -> Iterator[str]:
    """Yield those of some runs that have a result of today's training code."""
    for name in names:
        if is_done(results / "runs" / name, plan.runs[name]["settings"]):
            yield name


@dataclass(frozen=True)
class Written:
    """How many runs an archive has, and how many of an older one it has no more."""

    held: int
    left_out: int


def write(path: Path, done: list[str], plan: Plan, results: Path) -> Written:
    """Write finished runs of a plan, and those of an older archive that today's code would train.

    Equal runs give equal bytes. UserError if a file is not whole, and if a run has one result in
    the older archive and another one here: what was tuned by it would not belong to it.
    """
    here = {name: _parts(Finished(name, results), made_by(plan, name)) for name in done}
    before = read(path) if path.exists() else {}
    older = {name: run for name, run in before.items() if _is_current(run)}
    for name in sorted(here.keys() & older.keys()):
        if here[name]["summary.json"] != older[name]["summary.json"]:
            raise UserError(f"{path} has another result of {name}; delete it and archive again")
    with files.atomic(path) as temporary:
        temporary.write_bytes(gzip.compress(_packed(older | here), mtime=0))
    return Written(len(older | here), len(before.keys() - older.keys() - here.keys()))


def read(path: Path) -> dict[str, Run]:
    """Return the runs of an archive, each with its files; UserError if one is not whole."""
    found: dict[str, Run] = {}
    try:
        with tarfile.open(path, "r:gz") as tar:
            for member in tar:
                name, _, part = member.name.partition("/")
                if not member.isfile() or part not in PARTS or name in ("", ".", ".."):
                    raise UserError(f"{path}: {member.name} is no file of an archive of runs")
                found.setdefault(name, {})[part] = tar.extractfile(member).read()
    except (tarfile.TarError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UserError(f"{path}: not whole, or no archive of runs; fetch it again") from error
    for name, run in found.items():
        _require_whole(path, name, run)
    return found


@dataclass(frozen=True)
class Restored:
    """How many runs of an archive were brought in, and how many were left out and why."""

    new: int = 0
    there: int = 0
    other_code: int = 0
    other_plan: int = 0
    unlike: int = 0
    """Chosen by trials of which other results lie here."""
    attacked: int = 0

    def __str__(self) -> str:
        told = {
            "brought in": self.new,
            "already there": self.there,
            "of other code": self.other_code,
            "not of this choice": self.other_plan,
            "tuned by other trials than those here": self.unlike,
            "of which weights are read, trained here": self.attacked,
        }
        return ", ".join(f"{count} {words}" for words, count in told.items() if count)


def restore(path: Path, plan: Plan, results: Path) -> Restored:
    """Bring in the runs of an archive that the plan asks for and that have no result here.

    A run comes only with all trials that chose its values. UserError if the archive is not whole.
    """
    archived = read(path)
    planned = {name: run for name, run in archived.items() if name in plan.runs}
    current = {n: run for n, run in planned.items() if _is_current(run, made_by(plan, n))}
    counts = dict.fromkeys(Restored.__dataclass_fields__, 0)
    counts["other_plan"] = len(archived) - len(planned)
    counts["other_code"] = len(planned) - len(current)
    attacked, (_, stale) = with_weights(plan), parted(plan, results)
    there = {name for name in _done(plan, current, results) if name not in stale}
    for name in _trials_first(plan, current):
        why = "there" if name in there else _place(name, current, plan, results, attacked)
        counts[why] += 1
        if why == "new":
            _put(name, current[name], results)
    return Restored(**counts)


def _place(
    name: str, current: dict[str, Run], plan: Plan, results: Path, attacked: set[str]
) -> str:
    """Return what becomes of a run that has no result here, as a field of `Restored`."""
    if name in attacked:
        return "attacked"
    same = all(_is_here(trial, current, results) for trial in trials.of_run(plan, name))
    return "new" if same else "unlike"


def _is_here(name: str, current: dict[str, Run], results: Path) -> bool:
    """Tell whether the result of a run that lies here is that of the archive."""
    path = results / "runs" / name / "summary.json"
    return name in current and path.exists() and path.read_bytes() == current[name]["summary.json"]


def _is_current(run: Run, before: dict[str, str] | None = None) -> bool:
    """Tell whether today's code would train an archived run, from what it would read.

    `before` are the digests of the code before training, where a plan knows them all.
    """
    settings = json.loads(run["summary.json"])["settings"]
    kept = json.loads(run.get(BEFORE, b"{}"))
    try:
        expected = sources.before_run(settings) if before is None else before
        current = sources.of_run(settings)
    except UserError:  # a plug-in that is gone
        return False
    return run[finished.SOURCES].decode() == current and expected.items() <= kept.items()


def _trials_first(plan: Plan, chosen: dict[str, Run]) -> Iterator[str]:
    """Yield runs after those that chose their values: a later stage waits for more trials."""
    yield from sorted(chosen, key=lambda name: (len(trials.of_run(plan, name)), name))


def _put(name: str, run: Run, results: Path) -> None:
    """Lay out a run as training leaves it, whole or not at all."""
    home = results / "runs"
    home.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home, prefix=f".{name}.") as made:
        new = Path(made) / "new"
        kept = new / finished.KEPT
        kept.mkdir(parents=True)
        for part in (*SHOWN, files.SUMS):
            (new / part).write_bytes(run[part])
            finished.link(new / part, kept / part)
        for part in (finished.SOURCES, BEFORE):
            (kept / part).write_bytes(run[part])
        (kept / MARK).touch()
        if COST in run:
            cost = results / "benchmarks" / "train" / f"{name}.tsv"
            files.write_text(cost, run[COST].decode())
        shutil.rmtree(home / name, ignore_errors=True)
        new.rename(home / name)


def _packed(runs: dict[str, Run]) -> bytes:
    """Return runs as a tar file that says nothing of who wrote it and when."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, run in sorted(runs.items()):
            for part, content in sorted(run.items()):
                member = tarfile.TarInfo(f"{name}/{part}")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    return packed.getvalue()


def _parts(run: Finished, before: dict[str, str]) -> Run:
    """Return the files of a finished run; UserError if one is not whole."""
    for name in SHOWN:
        files.check(run.folder / name)
    found = {name: (run.folder / name).read_bytes() for name in (*SHOWN, files.SUMS)}
    found[finished.SOURCES] = finished.sources(run.folder).encode()
    found[BEFORE] = json.dumps(before).encode()
    cost = run.results / "benchmarks" / "train" / f"{run.name}.tsv"
    return found | ({COST: cost.read_bytes()} if cost.exists() else {})


def _require_whole(path: Path, name: str, run: Run) -> None:
    """Raise a UserError unless a run has its files, as their digests and its name say."""
    wrong = f"{path}: {name} is not whole; fetch the archive again"
    if (PARTS - OPTIONAL) - run.keys():
        raise UserError(wrong)
    lines = [line.split() for line in run[files.SUMS].decode("ascii", "replace").splitlines()]
    known = {line[1]: line[0] for line in lines if len(line) == 2}
    for part in SHOWN:
        if known.get(part) != hashlib.sha256(run[part]).hexdigest():
            raise UserError(wrong)
    summary: dict[str, Any] = json.loads(run["summary.json"])
    if (summary["run"], summary["sources"]) != (name, run[finished.SOURCES].decode()):
        raise UserError(wrong)

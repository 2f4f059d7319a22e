"""Trains a sample of kept runs again, through Snakemake, and compares what comes out.

In a working folder of its own: results and Snakemake's records of this one stay as they are.
"""

import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, TextIO

import yaml

from dpfl import plugins
from dpfl.base import files, machine
from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.papers.folder import shared
from dpfl.planning import estimate, packs
from dpfl.planning.plan import Plan
from dpfl.provenance import kept
from dpfl.runs import finished, kept_runs, sources
from dpfl.terminal.choice import Choice
from dpfl.terminal.progress import last_line
from dpfl.terminal.replicate import ALWAYS, Child

MINUTES = 15.0
"""The most that a sample takes on one core, by what its runs and their data took."""
DATA_SECONDS, JOBS_SECONDS = 5.0, 8.0
"""Of a data set that components.yaml says nothing of, and of a run's processes."""
TOLERANCE = 0.5
"""Points of test accuracy that rounding may move a run elsewhere, or with other versions."""
EQUAL, WITHIN = "equal bits", f"within {TOLERANCE:g} points"
DIFFERS, FAILED = "differs", "failed"
COMPARED = ("metrics.csv", "rates.csv", "model.safetensors")
"""The files of a run that hold its bits."""
LINKED = ("Snakefile", "workflow", "notebooks", "envs", "profiles", "config.yaml")
ALONE = {"minutes": 0, "cores": 1}
"""A job for every run, partition and calibration: a sample needs few of them."""
Row = kept_runs.Row


def cost(row: Row) -> float:
    """Return the seconds that a kept run took, or is estimated to take."""
    return row["seconds"] or estimate.seconds(row["settings"])


def sample(folder: Path) -> list[Row]:
    """Return the shortest run of each kind that a kept folder has, the shortest first.

    Runs of a secret that nobody keeps have no bits to find again.
    """
    first: dict[tuple, Row] = {}
    for row in sorted(kept_runs.rows(folder), key=cost):
        if row["settings"]["noise"] != "secure":
            first.setdefault(_kind(row["settings"]), row)
    return list(first.values())


def kept_folders(reference: Path, papers: list[str], scale: str) -> list[Path]:
    """Return the kept folders of papers at a scale, of all where none is named.

    UserError for a name that none has.
    """
    found = kept_runs.folders(reference)
    for place, names, what in ((-2, papers, "paper"), (-1, [scale] if scale else [], "scale")):
        known = {path.parts[place] for path in found}
        for line in unknown(names or known, sorted(known), f"no {what}", " is kept"):
            raise UserError(line)
        found = [path for path in found if path.parts[place] in (names or known)]
    return found


def of_folders(
    folders: Iterable[Path], minutes: float, home: Path
) -> tuple[dict[Path, list[Row]], float]:
    """Return runs of the samples of kept folders, of so many core-minutes, and their seconds.

    The preparation of their data counts too. Runs come first whose data lies below `home`, or is
    the cheapest to prepare; of equal ones the folders come in turn.
    """
    samples = [[(folder, row) for row in sample(folder)] for folder in folders]
    seconds = defaultdict(lambda: DATA_SECONDS, shared("preparation"))
    seconds |= {path.stem: 0 for path in (home / "results/data").glob("*.safetensors")}
    in_turn = filter(None, chain.from_iterable(zip_longest(*samples)))
    spent, found = 0.0, {}
    for folder, row in sorted(in_turn, key=lambda one: seconds[_dataset(one[1])]):
        asked = seconds[_dataset(row)] + JOBS_SECONDS + cost(row)
        if spent + asked <= 60 * minutes:
            spent, seconds[_dataset(row)] = spent + asked, 0
            found.setdefault(folder, []).append(row)
    return found, spent


@dataclass(frozen=True)
class Again:
    """The sample of one kept folder, trained again in a working folder."""

    folder: Path
    rows: list[Row]
    home: Path
    data_dir: Path

    def train(self, cores: str, held: TextIO, tell: Callable[[dict[str, Any]], None]) -> None:
        """Train all runs again, from the data up; tell each, beside its kept row, when it ends.

        UserError if none could be trained, KeyboardInterrupt if the user stopped it.
        """
        choice, log = self._choice(), self.home / "snakemake.log"
        plan = choice.plan()
        self._lay_out(plan)
        left = {self.home / "results/runs" / row["run"]: row for row in self.rows}

        def watch() -> None:
            for run in [run for run in left if (run / finished.KEPT).exists()]:
                tell(compared(left.pop(run), run / finished.KEPT))

        child = Child(held, log, home=self.home, watch=watch)
        runs = [f"results/runs/{row['run']}/summary.json" for row in self.rows]
        options = ("--cores", cores, *ALWAYS, "--allowed-rules", *_rules(plan))
        status = child.run([*options, *choice.arguments(), "--", *runs])
        if child.interrupted:
            raise KeyboardInterrupt
        if status and len(left) == len(runs):
            raise UserError(f"{self.folder}: {last_line(log)}")
        for run, row in left.items():
            tell(compared(row, run))

    def _choice(self) -> Choice:
        """Return what was kept, as one file of configuration, a run a job."""
        about, path = kept_runs.about(self.folder), self.home.resolve() / "kept.yaml"
        single = {"pack": ALONE, "data_dir": str(self.data_dir.resolve())}
        asked = about["config"] | single | {"papers": [about["paper"]]}
        files.write_text(path, yaml.safe_dump(asked))  # JSON writes 1e-05, a text in YAML
        return Choice({}, [str(path)])

    def _lay_out(self, plan: Plan) -> None:
        """Make the working folder: links to the workflow, no runs, and what trials have chosen."""
        results = self.home / "results"
        for part in ("runs", "packs", "tunings", "failures"):
            files.remove(results / part)
        results.mkdir(parents=True, exist_ok=True)
        for name in LINKED:
            link, there = self.home / name, plugins.WORKFLOW.parent / name
            if there.exists() and not link.is_symlink():
                link.symlink_to(there.resolve())
        with tempfile.TemporaryDirectory(dir=results) as made:
            kept_runs.lay_out(self.folder, Path(made))
            kept.write_choices(plan, Path(made))
            if (Path(made) / "tunings").is_dir():
                (Path(made) / "tunings").rename(results / "tunings")


def _rules(plan: Plan) -> list[str]:
    """Return the rules that train runs: what trials chose is laid out, and none trains."""
    prepared = {
        "partition": packs.partitions(plan, ALONE),
        "calibrate": packs.calibrations(plan, ALONE),
    }
    made = [f"{rule}_{n}" for rule, jobs in prepared.items() for n, _ in enumerate(jobs, 1)]
    return ["prepare_data", *made, "train_pack", "train"]


def _dataset(row: Row) -> str:
    return row["settings"]["dataset"]


def _kind(settings: dict[str, Any]) -> tuple:
    """Return the data set and the plug-ins that a run is trained with."""
    return settings["dataset"], *sources.plug_ins_of(settings)


def compared(row: Row, again: Path) -> dict[str, Any]:
    """Return a kept run beside its folder trained again, with a verdict.

    Equal bits are asked for on equal hardware, with equal versions and code.
    """
    found = {"run": row["run"], "kept": row["final_test_accuracy"]}
    try:
        summary, digests = files.read_json(again / "summary.json"), files.sums(again / files.SUMS)
    except OSError:
        return found | {"now": None, "verdict": FAILED, "asked": EQUAL}
    other = list(_changed(row, summary))
    asked = f"{WITHIN}: other {', '.join(other)}" if other else EQUAL
    now = summary["final_test_accuracy"]
    if all(digests.get(name) == row["files"][name] for name in COMPARED if name in row["files"]):
        verdict = EQUAL
    else:
        close = None not in (now, found["kept"]) and 100 * abs(now - found["kept"]) <= TOLERANCE
        verdict = WITHIN if other and close else DIFFERS
    return found | {"now": now, "verdict": verdict, "asked": asked}


def told(row: dict[str, Any]) -> str:
    """Return what was found of a run in one line."""
    kept, now = ("none" if a is None else f"{100 * a:.2f} %" for a in (row["kept"], row["now"]))
    return f"{row['run']}  kept {kept}, now {now}  {row['verdict']} ({row['asked']} asked for)"


def _changed(row: Row, summary: dict[str, Any]) -> Iterator[str]:
    """Yield what differs between two trainings of a run and may move their bits."""
    if machine.line(row["hardware"]) != machine.line(summary["hardware"]):
        yield "machine"
    if row["versions"] != summary["versions"]:
        yield "versions"
    if row["sources"] != summary["sources"]:
        yield "code"
    read = summary["inputs"]
    yield from (n for n, digest in row.get("inputs", {}).items() if read.get(n) != digest)

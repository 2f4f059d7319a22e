"""What the end of `make replicate` says: what trained, whether it fits, verdicts, what is next."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

from dpfl.base import files
from dpfl.papers import folder
from dpfl.planning import estimate
from dpfl.planning.plan import Plan, papers_with
from dpfl.runs import checked
from dpfl.runs.kept_runs import csv_rows
from dpfl.terminal.choice import Choice
from dpfl.terminal.status import RESULTS
from dpfl.words.numerals import counted
from dpfl.words.vocabulary import ALARM

REPORT = RESULTS / "reports/index.html"
CELLS = REPORT.with_name("cells.csv")
Closing = Callable[[Sequence[str], bool], Sequence[str]]
"""What gives a row for each of some papers: of their results here, or else of stored ones."""


def lines(plan: Plan, choice: Choice, closing: Closing = lambda *_: ()) -> Iterator[str]:
    """Yield the answer of a call that has made everything."""
    shows = all(study["demonstrates"] for study in plan.studies.values())
    if shows:
        yield from demonstrated(plan.runs) if plan.runs else ()
        yield f"your accuracies: {REPORT}#this-run"
    yield from closing(plan.papers, not shows)
    yield from following(papers_with(plan), choice) if shows else ()
    yield f"report: {REPORT}"


def demonstrated(runs: Collection[str], results: Path = RESULTS) -> Iterator[str]:
    """Yield what a demonstration shows: that all trained, that certificates hold, that it fits."""
    made = summaries(runs, results)
    failed, diverged = len(runs) - len(made), sum(own["diverged"] for own in made)
    told = f"{len(made) - diverged} of {len(runs)} runs trained, {failed + diverged} failed"
    yield told + f", {diverged} of them diverged" * bool(diverged)
    cells = csv_rows(results / CELLS.relative_to(RESULTS))
    audited = [row for row in cells if row["eps_audited"] and row["eps_certified"]]
    if not any(row["privacy"] == ALARM for row in audited):
        yield f"audits of {counted(len(audited), 'certificate')} beat none"
    yield checked.told(made)


def summaries(runs: Collection[str], results: Path = RESULTS) -> list[checked.Summary]:
    """Return the summaries of those runs that have one."""
    paths = (results / "runs" / run / "summary.json" for run in runs)
    return [files.read_json(path) for path in paths if path.exists()]


def older(since: float = math.inf) -> Iterator[str]:
    """Yield that the report is of a call before this time, if there is one."""
    if REPORT.exists() and is_older(since):
        yield f"{REPORT} is of an earlier call"


def is_older(since: float) -> bool:
    """Tell whether no report was made since this time."""
    return not REPORT.exists() or REPORT.stat().st_mtime < since


def alarms() -> Iterator[str]:
    """Yield a line for every cell whose certificate is refuted: a fault of this project."""
    for row in (row for row in csv_rows(CELLS) if row.get("privacy") == ALARM):
        where = f"{row['paper']}/{row['study']}, {row['method']}, epsilon {row['epsilon']}"
        yield f"{ALARM}: {where}: audited {row['eps_audited']}, certified {row['eps_certified']}"


def following(papers: Iterable[str], choice: Choice) -> Iterator[str]:
    """Yield the command of the cheapest paper at the scale after this one, with its core-hours.

    Studies and files that are chosen stay so.
    """
    found, here = [], choice.config()["scale"]
    for paper in map(folder.load, papers):
        after = paper.scales[paper.scales.index(here) + 1 :] if here in paper.scales else []
        if after and "authors" in paper.about.get("citation", {}):
            names = [
                n for n in choice.settings.get("select", ()) if n.split("/")[0] in (paper.key, n)
            ]
            own = {"papers": [paper.key], "scale": after[0], "data_dir": "."}
            larger = Choice(own | {"select": names} if names else own, choice.files)
            found.append((estimate.core_hours(larger.plan(), paper.key), larger.command()))
    for hours, command in sorted(found)[:1]:
        yield f"next: {command} (about {hours:g} core-hours)"

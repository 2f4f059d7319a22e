"""`make replicate`: everything that can be made, then the answer and where it stands."""

import csv
import os
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from dpfl.base.errors import UserError
from dpfl.checks.config_files import RESOLVED
from dpfl.planning import estimate
from dpfl.planning.plan import Plan
from dpfl.runs import state
from dpfl.terminal import lock, progress, status
from dpfl.terminal.child import KILLED, SNAKEMAKE, Child
from dpfl.terminal.choice import LAST, Choice
from dpfl.words.vocabulary import UNJUDGED

ALWAYS = ("--keep-going", "--rerun-incomplete", "--show-failed-logs", "--nocolor")
CLAIMS, REPORT = Path("results/tables/claims.csv"), Path("results/reports/index.html")
PARTIAL = {"--dry-run", "--dryrun", "--until", "-U", "--omit-from", "-O"}
"""Arguments of Snakemake by which it makes less than everything."""
LISTED, WIDTH = 10, 100
"""Failures that are named at the end; letters of a line."""


def replicate(
    choice: Choice, cores: str, more: Sequence[str] = (), command: Sequence[str] = SNAKEMAKE
) -> int:
    """Run Snakemake until nothing is left to make, or to fail; return its exit status.

    If runs fail and others do not, a second pass makes tables and report without them. UserError
    for a mistake in the configuration, and if another replicate runs in this folder.
    """
    count(cores)
    plan = choice.plan()
    with closing(lock.Lock()) as held:
        if held.left:  # whoever holds our lock is alone here
            lock.unlock()
        choice.keep()
        print(estimate.summary(plan, "results/runs"), flush=True)
        child = Child(held, LAST.parent / f"{datetime.now():%Y-%m-%d-%H%M%S}.log", command)

        def make(**settings: str) -> int:
            """Make everything; an option follows the choice, for that may end in a list."""
            chosen = choice.arguments(**settings)
            return child.run([*chosen, "--cores", cores, *ALWAYS, *more])

        RESOLVED.unlink(missing_ok=True)
        found = make()
        for line in _end(found, plan, child, make, _partial(more)):
            print(line, flush=True)
    return found


def _end(
    found: int, plan: Plan, child: Child, make: Callable[..., int], partial: bool
) -> Iterator[str]:
    """Yield how a call ends; what failed is marked by another pass."""
    if found == 0:
        yield from () if partial else _answer()
    elif child.interrupted:
        done = sum(own.name == state.DONE for own in status.states(plan).values())
        yield f"stopped: {done} of {len(plan.runs)} runs are done; repeat to go on"
    elif found > KILLED:
        yield f"Snakemake was killed by signal {found - KILLED}; repeat to go on"
    elif not RESOLVED.exists():
        yield "Snakemake stopped before the first job:"
        yield from progress.quoted(child.log)
    else:
        yield from _marked(plan, child.log, make)


def _marked(plan: Plan, log: Path, make: Callable[..., int]) -> Iterator[str]:
    """Make tables and report with what there is, if some runs ended and some did not."""
    states = status.states(plan)
    missing = sum(own.name != state.DONE for own in states.values())
    marked = 0 < missing < len(states) and make(unfinished="mark") == 0
    yield f"{missing} of {len(states)} runs are without a result; failed:"
    failed = [f"  {line}" for line in status.failed(plan, states)]
    yield from failed[:LISTED]
    if len(failed) > LISTED:
        yield f"  and {len(failed) - LISTED} more: make status"
    if marked:
        yield "Tables and report mark what is missing."
        yield from _answer()
    else:
        yield "There is no report of this:"
        yield from progress.quoted(log)


def _answer() -> Iterator[str]:
    """Yield which claims of every paper hold, by verdict, and where the report lies."""
    papers: dict[str, dict[str, list[str]]] = {}
    rows = CLAIMS.read_text(encoding="utf-8").splitlines() if CLAIMS.exists() else ()
    for row in csv.DictReader(rows):
        if row["part"] == "overall":
            verdicts = papers.setdefault(row["paper"], {})
            verdicts.setdefault(row["verdict"], []).append(row["claim"])
    for paper, verdicts in papers.items():
        judged = {verdict: ids for verdict, ids in verdicts.items() if verdict not in UNJUDGED}
        count, total = (sum(map(len, of.values())) for of in (judged, verdicts))
        others = (f", {len(verdicts[v])} {v}" for v in UNJUDGED if v in verdicts)
        yield f"{paper}: {count} of {total} claims judged{''.join(others)}"
        for verdict, ids in judged.items():
            told = f"  {verdict}: {', '.join(ids)}"
            yield textwrap.fill(told, WIDTH, subsequent_indent="    ")
    yield f"report: {REPORT}"


def _partial(more: Sequence[str]) -> bool:
    """Tell whether Snakemake is asked for less than everything: the answer may be an older one."""
    return any(
        word.split("=")[0] in PARTIAL
        or word.startswith("results/")
        or re.fullmatch("-[a-zA-Z]*n[a-zA-Z]*", word)
        for word in more
    )


def count(cores: str) -> int:
    """Return how many cores a number of cores, or `all`, is; UserError if it is neither."""
    if not re.fullmatch("all|[1-9][0-9]*", cores):
        raise UserError(f"--cores = {cores}, expected a whole number >= 1, or all")
    return len(os.sched_getaffinity(0)) if cores == "all" else int(cores)

"""`make replicate`: everything that can be made, then the answer and where it stands."""

import csv
import os
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from dpfl.base.errors import UserError
from dpfl.checks.config import RESOLVED
from dpfl.planning import estimate
from dpfl.planning.plan import Plan
from dpfl.runs import state
from dpfl.terminal import lock, status
from dpfl.terminal.child import SNAKEMAKE, Child
from dpfl.terminal.choice import LAST, Choice
from dpfl.terminal.progress import quoted
from dpfl.words.vocabulary import UNJUDGED

ALWAYS = ("--keep-going", "--rerun-incomplete", "--show-failed-logs", "--nocolor")
CLAIMS, REPORT = Path("results/tables/claims.csv"), Path("results/reports/index.html")
PARTIAL = re.compile(
    r"(--dry-?run|--until|--omit-from|-[UO]|-[a-zA-Z]*n[a-zA-Z]*)(=.*)?|results/.*"
)
"""Arguments of Snakemake by which it makes less than everything: the answer may be an older one."""
WIDTH = 100
"""Letters of a line."""


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
        RESOLVED.unlink(missing_ok=True)
        child = Child(held, LAST.parent / f"{datetime.now():%Y-%m-%d-%H%M%S}.log", command)
        # An option follows the choice, for that may end in a list.
        options = ("--cores", cores, *ALWAYS, *more)
        found = child.run([*choice.arguments(), *options])
        if found == 0:
            end = () if any(map(PARTIAL.fullmatch, more)) else _answer()
        elif child.interrupted or found < 0 or not RESOLVED.exists():
            end = _stopped(found, plan, child)
        else:
            end = _marked(plan, child, [*choice.arguments(unfinished="mark"), *options])
        for line in end:
            print(line, flush=True)
    return found


def _stopped(found: int, plan: Plan, child: Child) -> Iterator[str]:
    """Yield why Snakemake stopped before all was made or had failed."""
    if child.interrupted:
        done = len(plan.runs) - len(state.open_of(plan, status.RESULTS))
        yield f"stopped: {done} of {len(plan.runs)} runs are done; repeat to go on"
    elif found < 0:
        yield f"Snakemake was killed by signal {-found}; repeat to go on"
    else:
        yield "Snakemake stopped before the first job:"
        yield from quoted(child.log)


def _marked(plan: Plan, child: Child, arguments: Sequence[str]) -> Iterator[str]:
    """Make tables and report with what there is, if some runs ended and some did not."""
    todo = state.open_of(plan, status.RESULTS, running=False)
    marked = 0 < len(todo) < len(plan.runs) and child.run(arguments) == 0
    yield f"{len(todo)} of {len(plan.runs)} runs are without a result: make status tells why"
    yield "Tables and report mark what is missing." if marked else "There is no report of this:"
    yield from _answer() if marked else quoted(child.log)


def _answer() -> Iterator[str]:
    """Yield which claims of every paper hold, by verdict, and where the report lies."""
    papers: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    rows = CLAIMS.read_text(encoding="utf-8").splitlines() if CLAIMS.exists() else ()
    for row in csv.DictReader(rows):
        if row["part"] == "overall":
            papers[row["paper"]][row["verdict"]].append(row["claim"])
    for paper, verdicts in papers.items():
        total = sum(map(len, verdicts.values()))
        others = {verdict: len(verdicts.pop(verdict, ())) for verdict in UNJUDGED}
        listed = "".join(f", {number} {verdict}" for verdict, number in others.items() if number)
        yield f"{paper}: {total - sum(others.values())} of {total} claims judged{listed}"
        for verdict, claims in verdicts.items():
            told = f"  {verdict}: {', '.join(claims)}"
            yield textwrap.fill(told, WIDTH, subsequent_indent="    ")
    yield f"report: {REPORT}"


def count(cores: str) -> int:
    """Return how many cores a number of cores, or `all`, is; UserError if it is neither."""
    if not re.fullmatch("all|[1-9][0-9]*", cores):
        raise UserError(f"--cores = {cores}, expected a whole number >= 1, or all")
    return len(os.sched_getaffinity(0)) if cores == "all" else int(cores)

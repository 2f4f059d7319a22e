"""`make replicate`: everything that can be made, then the answer and where it stands."""

import os
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from dpfl.base.errors import UserError
from dpfl.planning import estimate
from dpfl.terminal import answer, lines, lock, runs
from dpfl.terminal.child import KILLED, SNAKEMAKE, Child
from dpfl.terminal.choice import LAST, Choice
from dpfl.terminal.follower import Failure, Follower

ALWAYS = ("--keep-going", "--rerun-incomplete", "--show-failed-logs", "--nocolor")
CLAIMS, REPORT = Path("results/tables/claims.csv"), Path("results/reports/index.html")
PARTIAL = {"--dry-run", "--dryrun", "--until", "-U", "--omit-from", "-O"}
"""Arguments of Snakemake by which it makes less than everything."""
LISTED = 10
"""Failures that are named at the end."""


def replicate(
    choice: Choice,
    cores: str,
    more: Sequence[str] = (),
    command: Sequence[str] = SNAKEMAKE,
    tell: Callable[[str], None] = print,
) -> int:
    """Run Snakemake until nothing is left to make, or to fail; return its exit status.

    If runs fail and others do not, a second pass makes tables and report without them. UserError
    for a mistake in the configuration, and if another replicate runs in this folder.
    """
    plan, at_once = choice.plan(), count(cores)
    held = lock.Lock()
    try:
        choice.keep()
        tell(estimate.summary(plan, "results/runs"))
        log = LAST.parent / f"{datetime.now():%Y-%m-%d-%H%M%S}.log"
        child = Child(held, log, command, tell)
        known = runs.of_plan(plan)
        follower = Follower(known, log.with_suffix(".jsonl"), at_once, tell=tell)
        return _Passes(choice, cores, more, child, log, known, follower, tell).run()
    finally:
        held.close()


class _Passes:
    """One call of replicate: its child, what it is told, and how it ends."""

    def __init__(
        self,
        choice: Choice,
        cores: str,
        more: Sequence[str],
        child: Child,
        log: Path,
        known: dict[str, runs.Run],
        follower: Follower,
        tell: Callable[[str], None],
    ) -> None:
        self._choice, self._child, self._log, self._tell = choice, child, log, tell
        self._runs, self._follower = known, follower
        events = log.with_suffix(".jsonl")
        self._always = ["--cores", cores, *ALWAYS, "--logger", "dpfl"]
        self._always += ["--logger-dpfl-events", str(events)]
        self._more = more

    def run(self) -> int:
        """Make everything; what failed is marked in a second pass, and told at the end."""
        if lock.is_stale():  # whoever holds our lock is alone here
            self._child.run(["--unlock", "--cores", "1", *self._choice.arguments()])
        status = self._pass()
        if status == 0:
            if not _partial(self._more):
                self._answer()
        elif self._child.interrupted:
            done = len(self._follower.done())
            self._tell(f"stopped: {done} of {len(self._runs)} runs are done; repeat to go on")
        elif status > KILLED:
            self._tell(f"Snakemake was killed by signal {status - KILLED}; repeat to go on")
        elif not self._follower.began:
            self._tell("Snakemake stopped before the first job:")
            self._quote_log()
        else:
            self._mark()
        return status

    def _pass(self, **settings: str) -> int:
        arguments = [*self._always, *self._choice.arguments(**settings), *self._more]
        status = self._child.run(arguments, self._follower.look)
        if not self._child.interrupted:  # jobs that were ended did not fail
            self._follower.look(last=True)
        return status

    def _mark(self) -> None:
        """Make tables and report with what there is, if some runs ended and some did not."""
        failed, done = dict(self._follower.failed), len(self._follower.done())
        some = 0 < done < len(self._runs)
        marked = some and self._pass(unfinished="mark") == 0
        missing = len(self._runs) - len(self._follower.done())
        self._tell(f"{missing} of {len(self._runs)} runs are without a result; failed:")
        for line in _listed(list(failed.values())):
            self._tell(line)
        if marked:
            self._tell("Tables and report mark what is missing.")
            self._answer()
        else:
            self._tell("There is no report of this:")
            self._quote_log()

    def _answer(self) -> None:
        for line in answer.of(CLAIMS):
            self._tell(line)
        self._tell(f"report: {REPORT}")

    def _quote_log(self) -> None:
        for line in lines.quoted(self._log):
            self._tell(line)


def _partial(more: Sequence[str]) -> bool:
    """Tell whether Snakemake is asked for less than everything: the answer may be an older one."""
    return any(
        word.split("=")[0] in PARTIAL
        or word.startswith("results/")
        or re.fullmatch("-[a-zA-Z]*n[a-zA-Z]*", word)
        for word in more
    )


def _listed(failed: list[Failure]) -> list[str]:
    told = [f"  {failure.what}  {failure.log}" for failure in failed[:LISTED]]
    rest = len(failed) - LISTED
    return [*told, f"  and {rest} more: make status"] if rest > 0 else told


def count(cores: str) -> int:
    """Return how many cores a number of cores, or `all`, is; UserError if it is neither."""
    if not re.fullmatch("all|[1-9][0-9]*", cores):
        raise UserError(f"--cores = {cores}, expected a whole number >= 1, or all")
    return len(os.sched_getaffinity(0)) if cores == "all" else int(cores)

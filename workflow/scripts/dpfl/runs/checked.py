"""The results that this version was checked with: those of the default, by kind of processor.

A kind is what two trainings must share to give the same bits (`base.machine`). Of one that is not
known, and where bits differ, accuracies are compared.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from statistics import fmean
from typing import Any

from dpfl.base import files, machine
from dpfl.runs import kept_runs

FILE = Path("results/reference/measured/checked-runs.csv")
RUN, ACCURACY = "run", "test_accuracy"
RESULTS = ("final_", "epsilon_spent", "eps_audit_lb", "noise_multipliers")
"""What the keys of results in a summary begin with: numbers, no words that may be said better."""
IN_THE_MEAN, OF_A_RUN = 1.0, 10.0
"""Points of test accuracy that other bits may move runs: all of them in the mean, and any.

About twice what AVX2 in place of AVX-512 moved every ninth run of the default.
"""
Summary = dict[str, Any]


def write(summaries: list[Summary], file: Path = FILE) -> None:
    """Write down results as those of their kind of processor.

    Those of other kinds stay, unless this one had other bits before: theirs are of old code too.
    """
    known = _read(file)
    own = {summary[RUN]: {_kind(summary): digest(summary)} for summary in summaries}
    if any(run in own and row | own[run] != own[run] | row for run, row in known.items()):
        known = {}
    rows = [
        {RUN: s[RUN], ACCURACY: s[f"final_{ACCURACY}"]} | known.get(s[RUN], {}) | own[s[RUN]]
        for s in summaries
    ]
    columns = dict.fromkeys(key for row in rows for key in row)
    files.write_text(file, kept_runs.csv_text(columns, rows))


def told(summaries: Iterable[Summary], file: Path = FILE) -> str:
    """Say whether results are those that this version was checked with."""
    known = _read(file)
    pairs = [(s, known[s[RUN]]) for s in summaries if s[RUN] in known]
    if not pairs:
        return "this version was checked with none of these runs"
    if all(row.get(_kind(own)) == digest(own) for own, row in pairs):
        return (
            f"all {len(pairs)} results are, bit for bit, those that this version was checked with"
        )
    moved = [100 * abs(own[f"final_{ACCURACY}"] - float(row[ACCURACY])) for own, row in pairs]
    mean, most = fmean(moved), max(moved)
    fit = "fit" if mean <= IN_THE_MEAN and most <= OF_A_RUN else "do NOT fit"
    is_known = all(row.get(_kind(own)) for own, row in pairs)
    why = "bits differ on a known kind" if is_known else "this kind of processor was not checked"
    return (
        f"results {fit} those that this version was checked with: {mean:.2f} points of accuracy "
        f"apart in the mean, {most:.1f} at most (allowed {IN_THE_MEAN:g}, {OF_A_RUN:g}); {why}"
    )


def digest(summary: Summary) -> str:
    """Return eight digits that change with the results of a run, and with nothing else."""
    results = {key: value for key, value in summary.items() if key.startswith(RESULTS)}
    return hashlib.sha256(json.dumps(results, sort_keys=True).encode()).hexdigest()[:8]


def _kind(summary: Summary) -> str:
    return machine.line(summary["hardware"])


def _read(file: Path) -> dict[str, dict[str, str]]:
    """Return what is known of runs, by name and column; {} where nothing is."""
    return {row.pop(RUN): row for row in kept_runs.csv_rows(file)}

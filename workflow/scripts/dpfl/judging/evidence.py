"""What a claim is judged by, out of all that is known of its paper."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl.papers import folder
from dpfl.seeds import looks
from dpfl.tables import results


@dataclass(frozen=True)
class Evidence:
    """What a claim is judged by: a study with its finished runs, or the tables of an analysis.

    `study` is None if the scale does not run it; `runs` has one row per run, as `tables.results`
    makes them, and `rounds()` one per run and round; `printed` holds this paper's rows of the table
    of published numbers, and `tables` those of an analysis by suffix; `unfinished` are the cells of
    the study that have no result; `free` holds the runs of the study that a claim's `gap_to` names.
    """

    paper: str
    study: dict | None
    runs: pd.DataFrame
    rounds: Callable[[], pd.DataFrame]
    printed: pd.DataFrame
    tables: dict[str, pd.DataFrame] = field(default_factory=dict)
    unfinished: list[dict[str, Any]] = field(default_factory=list)
    free: pd.DataFrame = field(default_factory=pd.DataFrame)

    def at_looks(self) -> Iterator["Evidence"]:
        """Yield what each look sees, as far as there are seeds."""
        for runs, free in looks.each(self.runs, self.free):
            yield replace(self, runs=runs, free=free, rounds=partial(_of_runs, self.rounds, runs))


@dataclass(frozen=True)
class Known:
    """What was run of a paper: studies with their runs, tables of analyses by name and suffix.

    `printed` is the table of `judging.published`, `unfinished` what is left out of studies.
    """

    paper: str
    ran: dict[str, tuple[results.Study, pd.DataFrame]]
    computed: dict[str, dict[str, pd.DataFrame]]
    printed: pd.DataFrame
    runs: Path
    unfinished: dict[str, dict[str, Any]] = field(default_factory=dict)

    def evidence(self, claim: dict[str, Any]) -> Evidence:
        """Return the evidence on a claim; without a study if this scale does not run it."""
        name = folder.full_name(self.paper, claim.get("study") or claim.get("analysis") or "")
        # Claims name the studies of their own paper without its key.
        local = self.printed["study"].astype(str).str.removeprefix(f"{self.paper}/")
        study, frame = self.ran.get(name, (None, pd.DataFrame()))
        return Evidence(
            self.paper,
            study,
            frame,
            lambda: results.trajectories(study, self.runs, "metrics"),
            self.printed.assign(study=local),
            self.computed.get(name, {}),
            self.unfinished.get(name, {}).get("cells", []),
            self._free(claim, study),
        )

    def _free(self, claim: dict[str, Any], study: dict | None) -> pd.DataFrame:
        """Return the runs without privacy that a claim names, if they are on the same data."""
        name = folder.full_name(self.paper, claim.get("gap_to", ""))
        other, frame = self.ran.get(name, (None, pd.DataFrame()))
        alike = other and study and other["dataset"] == study["dataset"]
        # Cells are numbered in each study.
        return frame.assign(cell=-1 - frame["cell"]) if alike else pd.DataFrame()


def _of_runs(rounds: Callable[[], pd.DataFrame], runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rounds of some runs; a run may stand in several cells."""
    found = rounds()
    named = [pd.MultiIndex.from_frame(own[["cell", "run"]]) for own in (found, runs)]
    return found[named[0].isin(named[1])]

"""Sentences on privacy, from the tables: three epsilons, whom they protect, what is assumed."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from dpfl.words import cell_words
from dpfl.words.forms import listed
from dpfl.words.numerals import counted, known, rounded_up

UNITS = {
    "example": "Unit example: ε covers one training example of one client, added or removed, "
    "against an observer of everything that the client sends; δ is below 1/(examples of a client). "
    "It is no privacy for a whole client.",
    "client": "Unit client: ε covers a whole client, added or removed with all its examples, "
    "against an observer of every model that the server releases; δ is below 1/clients. The server "
    "adds the noise and is trusted. The two units measure different things and share no column.",
}


def privacy(cells: pd.DataFrame) -> list[str]:
    """Set the claimed, certified and audited epsilon of each privacy setting side by side.

    Why there is no certificate follows, once for all settings, and what the audits do not see.
    """
    lines = []
    private = cells[np.isfinite(cells["eps_claimed"])]
    for claimed, group in private.groupby("eps_claimed"):
        kinds = group.groupby(["privacy", "accountant"], sort=False)
        for (verdict, accountant), own in kinds:
            proof = own["eps_certified"].max(skipna=False)
            certified = (
                f"certified at most {rounded_up(proof)} ({accountant}, "
                f"{own['adjacency'].iloc[0]}, unit {own['unit'].iloc[0]})"
                if known(proof)
                else f"no certificate for {listed(own['method'].unique())}"
            )
            lines.append(
                f"Claimed ε = {claimed:g}: {certified}; {audit(own, group)}; "
                f"{verdict} in {counted(len(own), 'cell')}{_because(own)}."
            )
    return [
        *lines,
        *_by_text(private[private["eps_certified"].isna()], "reasons", "No proof of"),
        *_by_text(private[private["audit_blind"] != ""], "audit_blind", "Not seen by an audit of"),
    ]


def audit(cells: pd.DataFrame, among: pd.DataFrame) -> str:
    """Say what the audits of some cells found: the largest bound and its level, or their status.

    `among` are the cells that these were picked from by what was found: any may be the lucky one.
    """
    found = cells[cells["eps_audited"].notna()]
    said = list(cells.loc[cells["eps_audited"].isna(), "audit_status"].unique())
    if len(found):
        most = found.loc[found["eps_audited"].idxmax()]
        of = f" of {_named(most)}, the largest of {len(found)}" * (len(found) > 1)
        together = min(1.0, among["audit_level"].sum())
        level = f"level {together:.2g}, {most['audit_estimator']}"
        said.insert(0, f"{cell_words.audited(most)}{of}, {level}")
    return f"audit: {listed(said)}"


def units(cells: pd.DataFrame) -> list[str]:
    """Say whom the epsilons of these cells protect, if any is finite."""
    private = cells.loc[np.isfinite(cells["eps_claimed"]), "unit"]
    return [UNITS[unit] for unit in sorted(set(private))]


def assumptions(cells: pd.DataFrame) -> list[str]:
    """Say what the certificates of these cells assume."""
    sources = set(cells.loc[np.isfinite(cells["eps_claimed"]), "noise"])
    words = {
        "seeded": "The noise of these runs comes from a seed that the results print: whoever "
        "knows it can regenerate the noise. Runs of one seed share batches and initial weights, "
        "never noise. ε certified holds for one run with a secret seed and ideal Gaussian draws; "
        "private data needs the setting noise: secure.",
        "secure": "The noise of these runs comes from the system's entropy. ε certified holds for "
        "ideal Gaussian draws, for which floating-point numbers stand.",
    }
    return [words.get(source, f"Noise: {source}.") for source in sorted(sources)]


def notes(tables: Iterable[pd.DataFrame]) -> list[str]:
    """Say once, for the cells of several studies, whom ε protects and what certificates assume."""
    told = [line for cells in tables for line in (*units(cells), *assumptions(cells))]
    return list(dict.fromkeys(told)) or ["No run of this scale is private."]


def selection(study: dict) -> str:
    """Say where a study's learning rates come from and what that means for privacy."""
    if study["kind"] == "rates":
        return (
            "These runs choose learning rates by looking at held-out private examples, run by "
            "run. No ε in any table pays for that choice."
        )
    if "tuned_by" in study:
        return (
            f"Each method runs at values that trials, starting from the study {study['tuned_by']}, "
            "have chosen on held-out private examples. No ε here pays for that choice."
        )
    return "Each method runs at the rate that the configuration sets; no ε pays for its choice."


def _named(row: pd.Series) -> str:
    """Return the name of a cell: its method, its variant if it has one, and a missing proof."""
    return cell_words.label(row) + f" ({row['variant']})" * bool(row["variant"])


def _because(cells: pd.DataFrame) -> str:
    """Return why budgets are refuted, where they are."""
    reasons = dict.fromkeys(r for r in cells["privacy_reasons"] if r)
    refuted = cells["privacy"].str.contains("refuted").all()
    return f": {'; '.join(reasons)}" if refuted else ""


def _by_text(cells: pd.DataFrame, column: str, head: str) -> list[str]:
    """Tell each text of a column once, with the methods that it is about."""
    return [
        f"{head} {listed(own['method'].unique())}: {text.removesuffix('.')}."
        for text, own in cells.groupby(column, sort=False)
    ]

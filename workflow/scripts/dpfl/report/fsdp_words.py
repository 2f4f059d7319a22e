"""Sentences about FSDP's studies: beside what the paper printed, and which cells are one run."""

from itertools import groupby

import pandas as pd

from dpfl.report.narrative import counted, listed, name_of, percent, setting
from dpfl.tables import verdicts


def against_print(study: dict, cells: pd.DataFrame) -> list[str]:
    """Set every cell beside the accuracies that were printed for it: difference and verdict."""
    lines = []
    for cell, (_, row) in zip(study["cells"], cells.iterrows(), strict=True):
        for printed in cell["published"]:
            reading = f", read as {printed['reading']} it" if printed["reading"] else ""
            gap = row["accuracy_mean"] - printed["value"]
            lines.append(
                f"{name_of(row)}, {setting(row['epsilon'])}: {percent(row)} here, "
                f"{printed['value']:g} % printed ({printed['table']}, {printed['row']}{reading}), "
                f"{gap:+.2f} points; {row['verdict']}; certified ε: {_certified(row)}."
            )
    if not lines and study["dataset"] in verdicts.DEMONSTRATIONS:
        lines.append(f"No source reports on {study['dataset']}.")
    return lines


def same_runs(study: dict) -> list[str]:
    """Say which cells are identical by definition: their settings resolve to the same runs."""
    by_runs = sorted(study["cells"], key=lambda cell: cell["runs"])
    found = {}
    for _, group in groupby(by_runs, key=lambda cell: cell["runs"]):
        methods = [cell["method"] for cell in group]
        if len(methods) > 1:
            found[tuple(methods)] = None
    if not found:
        return []
    pairs = [listed(methods) for methods in found]
    return [
        f"Identical by definition, the same runs shown twice in {counted(len(pairs), 'case')}: "
        f"{'; '.join(pairs)}."
    ]


def _certified(row: pd.Series) -> str:
    proof = row["eps_certified"]
    return f"{proof:.3f}" if pd.notna(proof) else f"none ({row['reasons']})"

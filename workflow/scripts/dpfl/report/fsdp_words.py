"""What to say about FSDP's studies: beside what the paper printed, and which cells are one run."""

from collections.abc import Iterator

import pandas as pd

from dpfl.report.narrative import counted, listed, name_of
from dpfl.tables import rendering, results, verdicts

HEADS = [
    *("method", "ε", "printed, %", "where", "here, %", "difference, points", "verdict"),
    "ε certified",
]


def beside_print(study: dict, cells: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return a table, heads and lines, of every printed accuracy beside the one found here."""
    lines = [
        [
            name_of(row),
            f"{row['epsilon']:g}",
            f"{printed['value']:g}",
            ", ".join(filter(None, [printed["table"], printed["row"], _reading(printed)])),
            rendering.mean_and_interval(row),
            f"{row['accuracy_mean'] - printed['value']:+.2f}",
            _verdict(study, row, printed),
            rendering.certified(row),
        ]
        for row, printed in _printed(study, cells)
    ]
    return HEADS, lines


def against_print(study: dict, cells: pd.DataFrame) -> list[str]:
    """Say of every method how many printed accuracies it matches, and how far the others are."""
    found: dict[str, list[tuple[str, float]]] = {}
    for row, printed in _printed(study, cells):
        gap = row["accuracy_mean"] - printed["value"]
        found.setdefault(row["label"], []).append((_verdict(study, row, printed), gap))
    lines = []
    for label, judged in found.items():
        words, gaps = zip(*judged, strict=True)
        counts = [f"{word} in {words.count(word)}" for word in dict.fromkeys(words)]
        lines.append(
            f"{label}, against {counted(len(judged), 'printed value')}: {listed(counts)}; "
            f"here minus printed goes from {min(gaps):+.2f} to {max(gaps):+.2f} points."
        )
    if not lines and verdicts.demonstrates(study["dataset"]):
        lines.append(f"No source reports on {study['dataset']}.")
    return lines


def same_runs(study: dict) -> list[str]:
    """Say which cells are identical by definition: their settings resolve to the same runs."""
    groups = [group for group in results.same_runs(study) if len(group) > 1]
    if not groups:
        return []
    named = (listed([study["cells"][index]["method"] for index in group]) for group in groups)
    pairs = list(dict.fromkeys(named))
    return [
        f"Identical by definition, the same runs shown twice in {counted(len(pairs), 'case')}: "
        f"{'; '.join(pairs)}."
    ]


def _printed(study: dict, cells: pd.DataFrame) -> Iterator[tuple[pd.Series, dict]]:
    """Yield every cell with each accuracy that was printed for it."""
    for cell, (_, row) in zip(study["cells"], cells.iterrows(), strict=True):
        for printed in cell["published"]:
            yield row, printed


def _reading(printed: dict) -> str:
    return f"read as {printed['reading']} it" if printed["reading"] else ""


def _verdict(study: dict, row: pd.Series, printed: dict) -> str:
    ends = (row[name] if rendering.known(row[name]) else None for name in ("ci_low", "ci_high"))
    measured = verdicts.Interval(row["accuracy_mean"], *ends, int(row["n"]), None)
    return verdicts.cell_verdict(measured, printed["value"], study["margin"])

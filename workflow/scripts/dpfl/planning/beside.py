"""Which printed numbers stand beside which cells of a study.

A study's `published` names a `table` of its paper. It says which rows each method or each network
stands for (`methods`, `models`); `reading` tells readings of one table apart. A number stands
beside a cell if all its coordinates are the cell's settings. `beside` lists what the study varies
and the table says nothing of. The number then stands beside each of its values.
"""

from collections.abc import Iterator
from typing import Any

from dpfl.papers import datasets, folder, published
from dpfl.planning.methods import SHORT, Composition, Epsilon, cells, settings_in
from dpfl.words.numerals import counted


def numbers_beside(cell: Composition, epsilon: Epsilon) -> list[dict[str, Any]]:
    """Return the accuracies printed for a cell, percent, each with paper, table and reading.

    `by` is the other paper that a number comes from, "" for one of the paper itself.
    """
    return [
        {
            "paper": paper,
            "table": row.table,
            "row": row.row,
            "reading": reference.get("reading", ""),
            "value": row.value,
            "line": row.line,
            "by": published.by(folder.load(paper).about, row.table),
            "compared": published.compared(paper, row, _length(cell)),
        }
        for reference in cell.study.get("published", [])
        for paper in [printed_in(reference, cell.config)]
        for row in matching(reference, cell, epsilon)
    ]


def printed_in(reference: dict, config: dict) -> str:
    """Return the paper that printed a table."""
    return reference.get("paper", config["paper"])


def matching(reference: dict, cell: Composition, epsilon: Epsilon) -> list[published.Printed]:
    """Return the rows of a table that a method, or else its network, stands for in a cell."""
    name = reference.get("methods", {}).get(cell.method)
    name = reference.get("models", {}).get(cell.variant.get("model"), name)
    rows = [
        row
        for row in accuracies(printed_in(reference, cell.config))
        if (row.table, row.row) == (reference["table"], name)
        and published.same(row.coordinate("epsilon") or "nan", epsilon)
    ]
    ours = coordinates(cell, epsilon) if rows else {}  # mostly nothing is to be looked up
    return [row for row in rows if all(published.same(v, ours.get(n)) for n, v in row.coordinates)]


def cells_beside(
    reference: dict, config: dict, study: dict
) -> Iterator[tuple[Composition, published.Printed]]:
    """Yield the cells of a study, each with the numbers of a table that stand beside it."""
    for cell, epsilon in cells(config, study):
        yield from ((cell, row) for row in matching(reference, cell, epsilon))


def coordinates(cell: Composition, epsilon: Epsilon | None) -> dict[str, Any]:
    """Return all that a number may be printed for, by its name or short name, of a cell."""
    federation, found = cell.federation, dict(settings_in(cell.parts))
    return {
        **found,
        **{short: found[path] for short, path in SHORT.items() if path in found},
        "dataset": datasets.base(cell.study["dataset"]),
        "epsilon": epsilon,
        "delta": cell.config["delta"],
        "model": cell.model,
        "epochs": federation["rounds"] * (federation["local_epochs"] or 0),
    }


def unmatched(paper: str, scales: list[dict]) -> Iterator[str]:
    """Find printed accuracies of a paper that stand beside no cell at any of some scales.

    One with a reason in `not_run` may; it is a mistake if it stands beside a cell all the same.
    `scales` are configurations, also of other papers whose studies stand beside its numbers. Tables
    that an analysis prices are left to it.
    """
    analyses = [analysis for config in scales for analysis in config["analyses"].values()]
    priced = {table for analysis in analyses for table in analysis.get("prices", [])}
    rows = [row for row in accuracies(paper) if row.table not in priced]
    found = {line for config in scales for line in _lines(config, paper)} if rows else set()
    for row in rows:
        reason = dict(row.told).get("not_run")
        if (row.line in found) == bool(reason):
            said = ", ".join(f"{name}={value}" for name, value in row.coordinates)
            told = f"{row.table}, row {row.row!r}, {said}"
            nowhere = "stands beside no cell of any study at any scale; say why in not_run"
            wrong = f"not_run {reason!r}, but a study runs it" if reason else nowhere
            yield f"{published.shown(paper)}, line {row.line}: {told}: {wrong}"


def _lines(config: dict, paper: str) -> Iterator[int]:
    """Yield the lines of a paper's numbers that stand beside cells of selected studies."""
    for study in (config["studies"].get(name, {}) for name in config["select"]):
        for reference in study.get("published", []):
            if printed_in(reference, config) == paper:
                yield from (row.line for _, row in cells_beside(reference, config, study))


def accuracies(paper: str) -> list[published.Printed]:
    """Return the printed numbers that are accuracies."""
    return [row for row in published.read(paper) if row.metric == published.ACCURACY]


def _length(cell: Composition) -> str:
    """Return how long a cell is trained: passes over the data if it counts them, or rounds."""
    rounds, epochs = cell.federation["rounds"], cell.federation["local_epochs"]
    return counted(rounds * epochs, "epoch") if epochs else counted(rounds, "round")

"""Which printed numbers stand beside which cells of a study.

A study's `published` names a `table` of its paper and which of its rows each method or each network
stands for (`methods`, `models`); `reading` tells readings of one table apart. A number stands
beside a cell if all its coordinates are the cell's settings. What the table says nothing of, but
the study varies, is listed in `beside`: the number then stands beside each of its values.
"""

from collections.abc import Iterator
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.papers import datasets, folder, measures, published
from dpfl.planning.methods import SHORT, Epsilon, cells, components, settings_in, variants
from dpfl.words.numerals import counted


class Beside:
    """The printed numbers of a study in the configuration of its paper."""

    def __init__(self, paper: str, name: str, config: dict):
        self._paper, self._name, self._config = paper, name, config
        self._study = config["studies"][name]
        self._references = self._study.get("published", [])

    def cell(self, method: str, variant: dict, epsilon: Epsilon) -> list[dict[str, Any]]:
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
                "by": measures.by(folder.load(paper).about, row.table),
                "compared": measures.compared(paper, row, self._length(method, variant)),
            }
            for reference in self._references
            for paper in [self._printed_in(reference)]
            for row in self._matching(reference, method, variant, epsilon)
        ]

    def mistakes(self) -> Iterator[str]:
        """Find coordinates that the study does not have, and numbers beside two of its cells."""
        for number, reference in enumerate(self._references):
            try:
                rows = published.table(self._printed_in(reference), reference["table"])
            except UserError as error:
                yield f"config: studies.{self._name}.published.{number}.table: {error}"
                continue
            yield from self._unknown_coordinates(reference, rows)
            yield from self._ambiguous(number, reference)

    def lines(self, paper: str) -> set[int]:
        """Return the lines of a paper's printed numbers that stand beside some cell."""
        own = [reference for reference in self._references if self._printed_in(reference) == paper]
        return {row.line for reference in own for *_, row in self._all(reference)}

    def _printed_in(self, reference: dict) -> str:
        """Return the paper that printed a table."""
        return reference.get("paper", self._paper)

    def _length(self, method: str, variant: dict) -> str:
        """Return how long a cell is trained: passes over the data if it counts them, or rounds."""
        federation = components(self._config, method, variant)["federation"]
        rounds, local = federation["rounds"], federation["local_epochs"]
        lasts = (rounds * local, "epoch") if local else (rounds, "round")
        return counted(*lasts)

    def _all(self, reference: dict) -> Iterator[tuple[str, dict, published.Printed]]:
        """Yield every cell of the study with each of its numbers."""
        for method, variant, epsilon in cells(self._study):
            for row in self._matching(reference, method, variant, epsilon):
                yield method, variant, row

    def _matching(
        self, reference: dict, method: str, variant: dict, epsilon: Epsilon
    ) -> list[published.Printed]:
        """Return the rows of a table that a method, or else its network, stands for in a cell."""
        name = reference.get("methods", {}).get(method)
        name = reference.get("models", {}).get(variant.get("model"), name)
        rows = [
            row
            for row in accuracies(self._printed_in(reference))
            if (row.table, row.row) == (reference["table"], name)
            and published.same(row.coordinate("epsilon") or "nan", epsilon)
        ]
        if not rows:  # most often, before any setting is looked up
            return []
        ours = self._coordinates(method, variant, epsilon)
        return [
            row
            for row in rows
            if all(published.same(value, ours.get(key)) for key, value in row.coordinates)
        ]

    def _coordinates(self, method: str, variant: dict, epsilon: object) -> dict[str, Any]:
        """Return all that a number may be printed for, by its name or short name, of a cell."""
        parts = components(self._config, method, variant)
        federation, dataset = parts["federation"], self._study["dataset"]
        found = dict(settings_in(parts))
        return {
            **found,
            **{short: found[path] for short, path in SHORT.items() if path in found},
            "dataset": datasets.base(dataset),
            "epsilon": epsilon,
            "delta": self._config["delta"],
            "model": variant.get("model", self._config["models"].get(dataset)),
            "epochs": federation["rounds"] * (federation["local_epochs"] or 0),
        }

    def _unknown_coordinates(self, reference: dict, rows: list[published.Printed]) -> Iterator[str]:
        """Find coordinates that are no setting of any method of the study."""
        known: set[str] = set()
        for method in self._study["methods"]:
            for variant in variants(self._study, method)[:1]:
                known |= self._coordinates(method, variant, None).keys()
        named = dict.fromkeys(name for row in rows for name, _ in row.coordinates)
        where = published.shown(self._printed_in(reference))
        told = f" of {rows[0].table} is no setting of study {self._name}"
        yield from unknown(named, sorted(known), f"{where}: column", told)

    def _ambiguous(self, number: int, reference: dict) -> Iterator[str]:
        """Find printed numbers beside two cells that differ in more than `beside` lists."""
        free = set(reference.get("beside", []))
        seen: dict[tuple, dict] = {}
        for method, variant, row in self._all(reference):
            fixed = {key: value for key, value in variant.items() if key not in free}
            other = seen.setdefault((method, row.line), fixed)
            if other != fixed:
                key = next(k for k in fixed if other.get(k) != fixed[k])
                where = published.shown(self._printed_in(reference))
                yield (
                    f"{where}, line {row.line}: {row.table}, row "
                    f"{row.row!r}, stands beside two cells of study {self._name}, {key}="
                    f"{other.get(key)} and {key}={fixed[key]}; list {key} in published.{number}."
                    "beside, or say it in a column"
                )
                return


def unmatched(paper: str, scales: list[dict], priced: set[str]) -> Iterator[str]:
    """Find printed accuracies of a paper that stand beside no cell at any of some scales.

    `scales` are configurations, also of other papers whose studies stand beside its numbers; tables
    that an analysis prices are left to it.
    """
    rows = [row for row in accuracies(paper) if row.table not in priced]
    studies = ((config, n) for config in scales for n in config["select"] if n in config["studies"])
    beside = (Beside(config["paper"], name, config) for config, name in studies)
    found = {line for study in beside for line in study.lines(paper)} if rows else set()
    for row in rows:
        if row.line not in found:
            said = ", ".join(f"{name}={value}" for name, value in row.coordinates)
            yield (
                f"{published.shown(paper)}, line {row.line}: {row.table}, row {row.row!r}, {said}: "
                "stands beside no cell of any study at any scale"
            )


def accuracies(paper: str) -> list[published.Printed]:
    """Return the printed numbers that are accuracies."""
    return [row for row in published.read(paper) if row.metric == published.ACCURACY]

"""Finds mistakes in what a study says of printed numbers, and numbers beside two of its cells."""

from collections.abc import Iterator

from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.papers import published
from dpfl.planning.beside import cells_beside, coordinates, printed_in
from dpfl.planning.methods import COMPONENTS, SHORT, compositions

SETTINGS = (*COMPONENTS, *SHORT, "model")
"""What `beside` may list, besides dotted paths."""


def printed_errors(config: dict) -> Iterator[str]:
    """Find tables, rows, sides and columns that there are not, and numbers beside two cells."""
    for name, study in config["studies"].items():
        for number, reference in enumerate(study.get("published", [])):
            where = f"config: studies.{name}.published.{number}"
            found = list(_unknown_names(config, where, study, reference))
            yield from found
            if name in config["select"] and not found:
                yield from _unknown_columns(config, name, reference)
                yield from _ambiguous(config, name, number)


def _unknown_names(config: dict, where: str, study: dict, reference: dict) -> Iterator[str]:
    """Find a table, rows of it, methods, models and settings that nothing defines."""
    try:
        table = published.table(printed_in(reference, config), reference["table"])
    except UserError as error:
        yield f"{where}.table: {error}"
        return
    rows = sorted({number.row for number in table})
    sides = {"methods": config["methods"], "models": study.get("vary", {}).get("model", [])}
    for side, known in sides.items():
        named, place = reference.get(side, {}), f"{where}.{side}"
        yield from unknown(named, known, f"{place} has", f", expected one of the {side}")
        yield from unknown(named.values(), rows, f"{place}: no row", " in the table")
    short = [key for key in reference.get("beside", []) if "." not in key]
    yield from unknown(short, SETTINGS, f"{where}.beside has", ", no setting")


def _unknown_columns(config: dict, name: str, reference: dict) -> Iterator[str]:
    """Find coordinates that are no setting of any method of the study."""
    table, paper = reference["table"], printed_in(reference, config)
    methods = compositions(config, config["studies"][name])
    known = {key for method in methods for key in coordinates(method, None)}
    columns = dict.fromkeys(n for row in published.table(paper, table) for n, _ in row.coordinates)
    told = f" of {table} is no setting of study {name}"
    yield from unknown(columns, sorted(known), f"{published.shown(paper)}: column", told)


def _ambiguous(config: dict, name: str, number: int) -> Iterator[str]:
    """Find printed numbers beside two cells that differ in more than `beside` lists."""
    reference = config["studies"][name]["published"][number]
    where = published.shown(printed_in(reference, config))
    seen: dict[tuple, dict] = {}
    for cell, row in cells_beside(reference, config, config["studies"][name]):
        free = reference.get("beside", [])
        fixed = {key: value for key, value in cell.variant.items() if key not in free}
        other = seen.setdefault((cell.method, row.line), fixed)
        if other != fixed:
            key = next(k for k in fixed if other.get(k) != fixed[k])
            two = f"two cells of study {name}, {key}={other.get(key)} and {key}={fixed[key]}"
            mended = f"list {key} in published.{number}.beside, or say it in a column"
            row_of = f"{row.table}, row {row.row!r}"
            yield f"{where}, line {row.line}: {row_of}, stands beside {two}; {mended}"
            return

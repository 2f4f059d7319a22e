"""Tables for readers: rounded Markdown and LaTeX (booktabs) beside the raw CSV."""

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.tables import results
from dpfl.words import columns
from dpfl.words.cell_words import choice, labels, mean_and_interval
from dpfl.words.numerals import text

if TYPE_CHECKING:
    import pandas as pd


Grid = tuple[list[str], list[list[str]]]
"""The heads of a table, and its lines."""


def columns_of(table: "pd.DataFrame", kind: str) -> dict[str, columns.Column]:
    """Return what readers see of a table of a study: what optimizers add stands last."""
    added = [name for name in results.of_optimizers() if name in table]
    settings = [name for name in table if name not in {*results.declared(kind), *added}]
    return columns.shown(kind, settings, added)


def write(stem: Path, table: "pd.DataFrame", shown: "Mapping[str, columns.Column]") -> None:
    """Write stem.csv with the raw numbers, stem.md and stem.tex with columns made for reading."""
    heads, lines = readable(table, shown)
    files.write_table(f"{stem}.csv", table)
    files.write_text(f"{stem}.md", markdown(heads, lines))
    files.write_text(f"{stem}.tex", latex(heads, lines))


def readable(table: "pd.DataFrame", shown: "Mapping[str, columns.Column]") -> Grid:
    """Return heads and lines of a table made for reading, without columns that are empty."""
    unit, rows = unit_of(table), [row for _, row in table.iterrows()]
    told = {head_of(head, unit): [column(row) for row in rows] for head, column in shown.items()}
    kept = {head: texts for head, texts in told.items() if not rows or any(texts)}
    return [*kept], [list(line) for line in zip(*kept.values(), strict=True)]


def unit_of(table: "pd.DataFrame") -> str:
    """Return the one unit of a table's epsilons; UserError for two, which share no column."""
    units = sorted(set(table["unit"])) if "unit" in table else []
    if len(units) > 1:
        raise UserError(f"epsilons of the units {' and '.join(units)}, expected one in a table")
    return units[0] if units else "example"


def head_of(head: str, unit: str) -> str:
    """Return the head of a column, which names the unit of epsilons that protect whole clients."""
    return f"{head} ({unit})" if head.startswith("ε") and unit != "example" else head


def markdown(heads: list[str], lines: list[list[str]]) -> str:
    """Return a Markdown table; a bar or a line break in a cell does not end it, a tag is text."""
    shown = [heads, ["---"] * len(heads), *lines]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in shown)


def without_tags(text: str) -> str:
    """Return Markdown in which what could begin an HTML tag is text."""
    return re.sub(r"<(?=[A-Za-z/!?])", "&lt;", text)


def _cell(text: str) -> str:
    return " ".join(without_tags(text).replace("|", "\\|").split())


def grid(cells: "pd.DataFrame", settings: Sequence[str]) -> Grid:
    """Return heads and lines of accuracies: a line per method and settings, a column per epsilon.

    `settings` are what the study varies.
    """
    epsilons, unit = sorted(cells["epsilon"].unique()), unit_of(cells)
    budgets = ["non-private" if math.isinf(e) else head_of(f"ε = {e:g}", unit) for e in epsilons]
    lines = []
    for place, group in cells.groupby([labels(cells), *settings], sort=False, dropna=False):
        shown = {r["epsilon"]: mean_and_interval(r) + choice(r) for _, r in group.iterrows()}
        lines.append([*map(text, place), *(shown.get(e, "") for e in epsilons)])
    return ["method", *settings, *budgets], lines


TEX = {
    **{c: f"\\{c}" for c in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "ε": r"$\varepsilon$",
    "α": r"$\alpha$",
    "∞": r"$\infty$",
    "≥": r"$\geq$",
    "−": r"$-$",
    "–": "--",
    "<": r"$<$",
    ">": r"$>$",
}


def latex(heads: list[str], lines: list[list[str]]) -> str:
    """Return a LaTeX tabular with booktabs rules; every special character is escaped."""
    head, *body = [" & ".join(map(tex, line)) + r" \\" for line in [heads, *lines]]
    begin = rf"\begin{{tabular}}{{{'l' * len(heads)}}}"
    parts = [begin, r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}"]
    return "\n".join(parts) + "\n"


def tex(text: str) -> str:
    """Escape a text for LaTeX."""
    return "".join(TEX.get(character, character) for character in text)

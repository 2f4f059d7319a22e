"""Tables for readers: rounded Markdown and LaTeX (booktabs) beside the raw CSV."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.words.cell_words import at_edge, labels, mean_and_interval

if TYPE_CHECKING:
    import pandas as pd

    from dpfl.tables.columns_shown import Column


def write(
    stem: Path, table: "pd.DataFrame", columns: "Mapping[str, Column]", unit: str | None = None
) -> None:
    """Write stem.csv with the raw numbers, stem.md and stem.tex with columns made for reading.

    `unit` is whom the epsilons protect, by default what the table's own column says.
    """
    heads, shown = readable(table, columns, unit)
    files.write_table(f"{stem}.csv", table)
    files.write_text(f"{stem}.md", markdown(heads, shown))
    files.write_text(f"{stem}.tex", latex(heads, shown))


def readable(
    table: "pd.DataFrame", columns: "Mapping[str, Column]", unit: str | None = None
) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of a table made for reading, without columns that are empty."""
    unit = unit or unit_of(table)
    shown = [[column(row) for column in columns.values()] for _, row in table.iterrows()]
    heads = [head_of(head, unit) for head in columns]
    kept = [i for i in range(len(heads)) if not shown or any(line[i] for line in shown)]
    return [heads[i] for i in kept], [[line[i] for i in kept] for line in shown]


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
    """Return a Markdown table; a bar or a line break in a cell does not end it."""
    shown = [heads, ["---"] * len(heads), *lines]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in shown)


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


def grid(cells: "pd.DataFrame") -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of accuracies: a line per method and variant, a column per epsilon."""
    epsilons, unit = sorted(cells["epsilon"].unique()), unit_of(cells)
    budgets = ["non-private" if math.isinf(e) else head_of(f"ε = {e:g}", unit) for e in epsilons]
    heads = ["method", *budgets]
    lines = []
    for (label, variant), group in cells.groupby([labels(cells), "variant"], sort=False):
        shown = {r["epsilon"]: mean_and_interval(r) + at_edge(r) for _, r in group.iterrows()}
        name = f"{label}, {variant}" if variant else label
        lines.append([name, *(shown.get(e, "") for e in epsilons)])
    return heads, lines


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

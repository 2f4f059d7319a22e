"""The picture that README.md shows first: a bar per paper of what became of its results."""

from collections.abc import Iterable

from dpfl.report import answers, markup
from dpfl.report.answers import CLASSES, Row

PICTURE, TEMPLATE = "docs/hero.svg", "hero.svg.jinja"
INKS = (("#0072b2", "#fff"), ("#e69f00", "#000"), ("#b2431a", "#fff"), ("#c9ced3", "#000"))
"""Colours of a part and of its text by CLASSES; told apart without red and green."""


def picture(rows: Iterable[Row]) -> str:
    """Return it as Markdown, with what it shows in words."""
    said = "; ".join(f"{row.paper}: {answers.tally(row.results)}" for row in rows if row.results)
    return f"![What became of the results on each paper. {said}.]({PICTURE})"


def svg(rows: Iterable[Row]) -> str:
    """Return the file: the key, then a bar per paper with results, all bars of one length."""
    bars = [("results", dict.fromkeys(CLASSES, 1), {name: name for name in CLASSES})]
    for row in rows:
        if row.results:
            bars.append((f"{row.paper}: {sum(row.results.values())}", row.results, row.results))
    template = markup.environment().get_template(TEMPLATE)
    return template.render(bars=bars, inks=dict(zip(CLASSES, INKS, strict=True))) + "\n"

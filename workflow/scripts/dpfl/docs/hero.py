"""The picture that README.md shows first: a bar per paper of what became of its results."""

from collections.abc import Iterable
from html import escape

from dpfl.report import answers
from dpfl.report.answers import Row

PICTURE = "docs/hero.svg"
WIDTH, LEFT, BAR, STEP, TOP = 860, 210, 22, 34, 44
"""Pixels: of the picture, of the names, of a bar, from bar to bar, and above the first one."""
COLOURS = {
    answers.HOLDS: ("#0072b2", "#ffffff"),
    answers.UNPROVEN: ("#e69f00", "#000000"),
    answers.FAILS: ("#b2431a", "#ffffff"),
    answers.UNDECIDED: ("#c9ced3", "#000000"),
}
"""Of a part of a bar and of the number in it; told apart without red and green."""


def picture(rows: Iterable[Row]) -> str:
    """Return it as Markdown, with what it shows in words."""
    said = "; ".join(f"{row.paper}: {answers.tally(row.results)}" for row in rows if row.results)
    return f"![What became of the results on each paper. {said}.]({PICTURE})"


def svg(rows: Iterable[Row]) -> str:
    """Return the file: a bar per paper with results, all bars of one length, counts in them."""
    shown = [row for row in rows if row.results]
    height = TOP + STEP * len(shown)
    parts = [f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>', *_legend()]
    for place, row in enumerate(shown):
        y = TOP + STEP * place
        parts.append(_text(8, y + 16, f"{row.paper}: {sum(row.results.values())}"))
        parts += _bar(row.results, y)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img"'
    font = 'font-family="system-ui, sans-serif" font-size="14"'
    return "\n".join([f"{head} {font}>", *parts, "</svg>", ""])


def _legend() -> list[str]:
    made, x = [], LEFT
    for name, (colour, _) in COLOURS.items():
        made += [f'<rect x="{x}" y="12" width="14" height="14" fill="{colour}"/>']
        made += [_text(x + 20, 24, name)]
        x += 50 + 8 * len(name)
    return made


def _bar(results: dict[str, int], y: int) -> list[str]:
    made, x, whole = [], float(LEFT), WIDTH - LEFT - 10
    for name, n in results.items():
        width = whole * n / sum(results.values())
        fill, ink = COLOURS[name]
        made += [f'<rect x="{x:.1f}" y="{y}" width="{width:.1f}" height="{BAR}" fill="{fill}"/>']
        made += [_text(x + width / 2, y + 16, str(n), f' fill="{ink}" text-anchor="middle"')]
        x += width
    return made


def _text(x: float, y: float, words: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y}"{more}>{escape(words)}</text>'

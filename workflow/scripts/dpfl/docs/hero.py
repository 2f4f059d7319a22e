"""The picture that README.md shows first: a bar per paper of what became of its results."""

from collections.abc import Iterable, Mapping
from html import escape

from dpfl.report import answers
from dpfl.report.answers import CLASSES, Row

PICTURE = "docs/hero.svg"
WIDTH, LEFT, BAR, STEP = 880, 232, 22, 34
"""Pixels: of the picture, of names, of a bar, and from bar to bar."""
INKS = (("#0072b2", "#fff"), ("#e69f00", "#000"), ("#b2431a", "#fff"), ("#c9ced3", "#000"))
"""Colours of a part and of its text by CLASSES; told apart without red and green."""


def picture(rows: Iterable[Row]) -> str:
    """Return it as Markdown, with what it shows in words."""
    said = "; ".join(f"{row.paper}: {answers.tally(row.results)}" for row in rows if row.results)
    return f"![What became of the results on each paper. {said}.]({PICTURE})"


def svg(rows: Iterable[Row]) -> str:
    """Return the file: the key, then a bar per paper with results, all bars of one length."""
    key = _bar("results", dict.fromkeys(CLASSES, 1), {name: name for name in CLASSES})
    own = (
        _bar(f"{row.paper}: {sum(row.results.values())}", row.results, row.results)
        for row in rows
        if row.results
    )
    bars = [key, *own]
    placed = (f'<g transform="translate(0 {STEP * n + 6})">{bar}</g>' for n, bar in enumerate(bars))
    size = f'viewBox="0 0 {WIDTH} {STEP * len(bars)}"'
    font = 'font-family="system-ui, sans-serif" font-size="14"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" {font}>'
    return "\n".join([head, '<rect width="100%" height="100%" fill="#fff"/>', *placed, "</svg>\n"])


def _bar(name: str, sizes: Mapping[str, int], words: Mapping[str, object]) -> str:
    """Return a bar with a part per class, as wide as its share, and words in each part."""
    made, x = [f'<text x="8" y="16">{escape(name)}</text>'], float(LEFT)
    for (fill, ink), of in zip(INKS, CLASSES, strict=True):
        width = (WIDTH - LEFT - 10) * sizes.get(of, 0) / sum(sizes.values())
        place = f'x="{x + width / 2:.1f}" y="16" fill="{ink}" text-anchor="middle"'
        if width:
            made.append(f'<rect x="{x:.1f}" width="{width:.1f}" height="{BAR}" fill="{fill}"/>')
            made.append(f"<text {place}>{words[of]}</text>")
        x += width
    return "".join(made)

"""A badge per paper: how many of its claims hold, as an SVG picture that needs nothing else."""

import html
from collections.abc import Sequence

from dpfl.words.vocabulary import FAILS, HOLDS, UNJUDGED

GREEN, RED, AMBER, GREY = "#2e7d32", "#c62828", "#a15c00", "#555555"
LETTER, PAD, HEIGHT = 6.6, 10, 20
"""Pixels: of a letter of 11 px Verdana on average, at each side of a text, and high."""


def words(verdicts: Sequence[str]) -> tuple[str, str]:
    """Return what a badge says of the verdicts of a paper, and its colour."""
    hold = sum(verdict in HOLDS for verdict in verdicts)
    fail = sum(verdict in FAILS for verdict in verdicts)
    judged = [verdict for verdict in verdicts if verdict not in UNJUDGED]
    if not judged:
        return "no claim judged at this scale", GREY
    left = len(judged) - hold - fail
    colour = RED if fail > hold else GREEN if hold and not fail else AMBER
    return f"{hold} hold, {fail} fail, {left} open", colour


def draw(label: str, verdicts: Sequence[str]) -> str:
    """Return the badge of a paper."""
    message, colour = words(verdicts)
    left, right = (len(text) * LETTER + 2 * PAD for text in (label, message))
    texts = ((label, left / 2), (message, left + right / 2))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right:.0f}" height="{HEIGHT}" '
        f'role="img" aria-label="{html.escape(f"{label}: {message}")}">\n'
        f'<rect width="{left:.0f}" height="{HEIGHT}" fill="{GREY}"/>\n'
        f'<rect x="{left:.0f}" width="{right:.0f}" height="{HEIGHT}" fill="{colour}"/>\n'
        '<g fill="#fff" text-anchor="middle" font-family="Verdana,sans-serif" font-size="11">\n'
        + "".join(f'<text x="{at:.0f}" y="14">{html.escape(text)}</text>\n' for text, at in texts)
        + "</g>\n</svg>\n"
    )

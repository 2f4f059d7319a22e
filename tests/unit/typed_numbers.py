"""Finds results that were typed into a page by hand, where a value of a table belongs."""

import re
from collections.abc import Iterator
from pathlib import Path

import jinja2
from jinja2 import nodes

from dpfl.report.prose import environment

APART = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|<[^>]*>|(?:doi|arXiv)[: ]\S+", re.DOTALL)
"""Where digits are no results: code, addresses of links, HTML, identifiers of papers."""

RESULT = re.compile(
    r"""
    \d+[.]\d+                      # a decimal number
    | \d,\d{3}\b                  # thousands
    | \d\s*(?:%|percent|points?\b|core-hours?|minutes)
    | [±+−]\s?\d                   # a half-width, a gain
    | \bn\s?=\s?\d | \bp\s?[<=]\s?[.\d]
    """,
    re.VERBOSE,
)
"""Decimal numbers, shares, differences, n and p; section and table numbers, years and epsilons
of one digit stay allowed, and settings such as a clip norm belong in code spans."""


def in_page(page: Path) -> list[str]:
    """Return a line for every number typed by hand: file, line and what was found."""
    tree = environment(page.parent).parse(page.read_text(encoding="utf-8"))
    return [
        f"{page}:{number}: {found.group()!r} is typed by hand"
        for number, text in _texts(tree)
        for found in RESULT.finditer(APART.sub("", text))
    ]


def _texts(tree: jinja2.nodes.Template) -> Iterator[tuple[int, str]]:
    """Yield what a page writes as it stands: its prose, and constants, even if it formats them."""
    for output in tree.find_all(nodes.Output):
        for node in output.nodes:
            if isinstance(node, nodes.TemplateData):
                yield node.lineno, node.data
            while isinstance(node, nodes.Filter):
                node = node.node
            if isinstance(node, nodes.Const):
                yield node.lineno, str(node.value)

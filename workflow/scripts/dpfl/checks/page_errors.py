"""Finds mistakes in a paper's page.md before anything trains: syntax, names, forms of numbers."""

from collections.abc import Iterator

from jinja2 import Environment, TemplateSyntaxError, nodes

from dpfl.base.suggestions import unknown
from dpfl.papers import folder
from dpfl.words import cell_words, forms, numerals

NAMES = ("kept", "run", "printed", "guard")
"""What a page is given, beside what Jinja has."""


def page_errors(config: dict) -> Iterator[str]:
    """Find what Jinja could not read of page.md."""
    page = folder.path_of(config["paper"], folder.PAGE)
    if page.exists():
        yield from _unreadable(page.read_text(encoding="utf-8"), folder.shown(page))


def _unreadable(text: str, where: str) -> Iterator[str]:
    """Find a mistake of syntax, and names and forms of numbers that there are not."""
    language = Environment(extensions=["jinja2.ext.do"])
    for module in (cell_words, forms, numerals):
        language.filters.update(vars(module))
    language.filters["apart"] = numerals.difference
    try:
        language.compile(text)
    except TemplateSyntaxError as error:
        yield f"{where}, line {error.lineno}: {error.message}"
        return
    tree = language.parse(text)
    known = {*language.globals, *(n.name for n in tree.find_all(nodes.Name) if n.ctx != "load")}
    for name in (n for n in tree.find_all(nodes.Name) if n.name not in known):
        yield from unknown([name.name], NAMES, f"{where}, line {name.lineno}: no")

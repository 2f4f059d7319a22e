"""What all pages share: their frame, and the links from each to all others."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from dpfl.base import files
from dpfl.report import markup

LINKS = {
    "index": ("Claims", "Which claims hold?"),
    "leaderboard": ("Leaderboard", "The most accurate results with a proof"),
    "compare": ("Compare methods", "Two methods side by side"),
    "method": ("How verdicts are made", "Rules of verdicts, what ε means, where numbers come from"),
}
"""Every page beside those of papers: its name in links, and its title."""

ACROSS = ("leaderboard", "compare")
"""Of these, the pages that kept results of all scales share: they lie beside that of all kept."""

ALL_KEPT = ("../../index.html", "All stored results")
"""The way from a page of kept results, {scale}/reports, to the list of all of them."""


def links(is_kept: bool) -> list[tuple[str, str]]:
    """Return the way from a page to all others of a results folder, of kept ones to all kept."""
    up = above(is_kept)
    own = [(f"{up * (name in ACROSS)}{name}.html", told) for name, (told, _) in LINKS.items()]
    return [ALL_KEPT, *own] if is_kept else own


def above(is_kept: bool) -> str:
    """Return the way from a page to the folder of what all scales share."""
    return "../../" if is_kept else ""


def write_paper(page: Any, body: Markup) -> None:
    """Write a paper's page, a `paper_page.Page`, with a body into the folder of pages."""
    key, way = page.of.key, links(page.results.is_kept)
    shown = render("paper", key, way, title=page.of.short, body=body)
    files.write_text(page.results.reports / f"{key}.html", shown)


def render(template: str, here: str, links: Sequence[tuple[str, str]], **shown: Any) -> Markup:
    """Return a page that leads where `links` says."""
    told = LINKS[here][0] if here in LINKS else ""
    made = markup.environment().get_template(f"{template}.html.jinja")
    return Markup(made.render(links=links, here=told, **shown))

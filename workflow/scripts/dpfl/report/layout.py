"""What all pages share: their frame, and the links from each to all others."""

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from dpfl.report import markup

LINKS = {
    "index": ("Claims", "Claims"),
    "explore": ("Figure", "Accuracy against ε, all methods"),
    "cells": ("Cells", "Every cell"),
    "privacy": ("Privacy", "What ε means, and who has a proof"),
    "statistics": ("Statistics", "How verdicts are made"),
    "provenance": ("Provenance", "Where the numbers come from"),
}
"""Every page beside those of papers: its name in links, and its title."""


def render(
    template: str, here: str, links: Sequence[tuple[str, str]] | None = None, **shown: Any
) -> Markup:
    """Return a page that leads to all others, or where `links` says."""
    if links is None:
        links = [(f"{name}.html", told) for name, (told, _) in LINKS.items()]
    told = LINKS[here][0] if here in LINKS else ""
    made = markup.environment().get_template(f"{template}.html.jinja")
    return Markup(made.render(links=links, here=told, **shown))

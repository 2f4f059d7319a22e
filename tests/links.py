"""Local links of pages, followed."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """Collects the local links of a page and the places that it has."""

    def __init__(self, path: Path):
        super().__init__()
        self.links, self.places = set(), {""}
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        own = dict(attributes)
        self.places.add(own.get("id"))
        found = {own[key] for key in ("href", "src") if own.get(key)}
        self.links |= {link for link in found if not re.match("[a-z]+:", link)}


def dead_links(home: Path) -> Iterator[tuple[Path, str]]:
    """Return the local links of all pages below a folder that lead to no file or no place."""
    pages = {path: Page(path) for path in home.glob("**/*.html")}
    for path, page in pages.items():
        for link in page.links:
            file, _, place = link.partition("#")
            to = (path.parent / file).resolve() if file else path
            if not to.exists() or (to in pages and place not in pages[to].places):
                yield path.relative_to(home), link

"""Pages read as a reader's program does: text, links, places, pictures; and dead links found."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path


class Page(HTMLParser):
    """Collects links, names of places, tags, attributes, what pictures say, and text."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.sources: list[str] = []
        self.places: set[str] = set()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.alts: list[str | None] = []
        self.text = ""
        self.feed(text)
        self.words = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.attributes |= set(found)
        self.links += [found["href"]] if "href" in found else []
        self.sources += [found["src"]] if "src" in found else []
        self.places |= {found["id"]} if "id" in found else set()
        self.alts += [found.get("alt")] if tag == "img" else []

    def handle_data(self, data: str) -> None:
        self.text += f" {data}"


def dead_links(home: Path) -> Iterator[tuple[Path, str]]:
    """Return the local links of all pages below a folder that lead to no file or no place."""
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in home.glob("**/*.html")}
    for path, page in pages.items():
        local = [link for link in {*page.links, *page.sources} if not re.match("[a-z]+:|$", link)]
        for link in local:
            file, _, place = link.partition("#")
            to = (path.parent / file).resolve() if file else path
            known = to.exists() and (not place or to not in pages or place in pages[to].places)
            if not known:
                yield path.relative_to(home), link

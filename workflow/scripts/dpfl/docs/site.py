"""Lays docs/ out for a site: what pages link to outside of it is copied beside them."""

import os
import re
import shutil
from pathlib import Path

FENCED = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"^```(\w+) ([\w.]+)$", re.MULTILINE)
"""The first line of a block that bears the name of a file."""
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGES, BESIDE = "pages", "files"
"""Of the site: the pages of papers, from kept results, and what lies outside docs/."""
REFERENCE = re.compile(r"\[([^]]*)\]\([./]*/results/reference/([\w-]+)/([\w-]+)\)")
"""A link to what is kept of a paper at a scale."""
TEXT = re.compile(r"\[([^]]*)\]\([./]*/workflow/papers/[\w-]+/page\.md\)")
"""A link to the text of a paper, which only its built pages fill with numbers."""


def lay_out(root: Path, source: Path) -> None:
    """Copy docs/ to `source`, and every file outside of it that a page links to."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(root / "docs", source)
    for page in sorted(source.rglob("*.md")):
        parts = FENCED.split(page.read_text(encoding="utf-8"))
        parts[::2] = [_moved(part, page, root, source) for part in parts[::2]]
        parts[1::2] = [NAMED.sub(r'```\1 title="\2"', part) for part in parts[1::2]]
        page.write_text("".join(parts), encoding="utf-8")


def _moved(text: str, page: Path, root: Path, source: Path) -> str:
    """Return a text of a page with links as they lead in `source`; copy what they lead to.

    Those to pages of papers are HTML: Zensical does not know of pages that it has not built.
    Markdown outside docs/ is shown as it is, for its own links are not followed.
    """
    origin, pages = root / "docs" / page.relative_to(source), _from(page, source / PAGES)
    text = REFERENCE.sub(rf'<a href="{pages}/\3/reports/\2.html">\1</a>', text)
    text = TEXT.sub(rf'<a href="{pages}/index.html">\1</a>', text)

    def moved(link: re.Match) -> str:
        target = (origin.parent / link[1].partition("#")[0]).resolve()
        if "://" in link[1] or not target.exists() or target.is_relative_to(root / "docs"):
            return link[0]
        if target == root / "README.md":
            return f"]({_from(page, source / 'index.md')})"
        place = source / BESIDE / target.relative_to(root)
        place = place.with_suffix(".txt") if place.suffix == ".md" else place
        if target.is_file():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(target, place)
        return f"]({_from(page, place)})"

    return LINK.sub(moved, text)


def _from(page: Path, place: Path) -> str:
    return Path(os.path.relpath(place, page.parent)).as_posix()

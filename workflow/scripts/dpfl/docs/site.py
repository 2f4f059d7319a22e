"""Lays docs/ out for a site: what pages link to outside of it is copied beside them."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

FENCED = re.compile(r"(^```.*?^```|`[^`\n]*`)", re.DOTALL | re.MULTILINE)
NAMED = re.compile(r"^```(\w+) ([\w.]+)$", re.MULTILINE)
"""The first line of a block that bears the name of a file."""
LINK = re.compile(r"\]\(([^)\s]+)\)")
PAGES = "pages"
"""The folder of the site that holds the pages of papers, from kept results."""
BESIDE = "files"
"""The folder of the site that holds what lies outside docs/, at its path from the root."""
REFERENCE = re.compile(r"\[([^]]*)\]\([./]*/results/reference/([\w-]+)/([\w-]+)\)")
"""A link to what is kept of a paper at a scale."""
TEXT = re.compile(r"\[([^]]*)\]\([./]*/workflow/papers/[\w-]+/page\.md\)")
"""A link to the text of a paper, which only its built pages fill with numbers."""
HOME, README = "index.md", Path("README.md")
"""The page of the site that stands for README.md."""


def lay_out(root: Path, source: Path) -> None:
    """Copy docs/ to `source`, and every file outside of it that a page links to."""
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(root / "docs", source)
    for page in sorted(source.rglob("*.md")):
        origin = root / "docs" / page.relative_to(source)
        text, outside = _moved(page, origin, root, source)
        page.write_text(text, encoding="utf-8")
        for path in outside:
            _copy(root / path, _place(path, source))


def _moved(page: Path, origin: Path, root: Path, source: Path) -> tuple[str, list[Path]]:
    """Return a page with links as they lead in `source`, and what they need there.

    Those to pages of papers are HTML: Zensical does not know of pages that it has not built.
    """
    pages = Path(os.path.relpath(source / PAGES, page.parent)).as_posix()
    parts, outside = FENCED.split(page.read_text(encoding="utf-8")), []
    for number, part in enumerate(parts):
        if number % 2 == 0:
            part = REFERENCE.sub(rf'<a href="{pages}/\3/reports/\2.html">\1</a>', part)
            part = TEXT.sub(rf'<a href="{pages}/index.html">\1</a>', part)
            for link, target in _outside(part, origin, root):
                outside += [target] * (target != README)
                part = part.replace(f"]({link})", f"]({_address(target, page, source)})")
            parts[number] = part
        else:
            parts[number] = NAMED.sub(r'```\1 title="\2"', part)
    return "".join(parts), outside


def _outside(text: str, origin: Path, root: Path) -> Iterator[tuple[str, Path]]:
    """Yield links that lead out of docs/ to a file, and what they lead to, from the root."""
    for link in dict.fromkeys(LINK.findall(text)):
        path = (origin.parent / link.partition("#")[0]).resolve()
        if "://" not in link and path.exists() and not path.is_relative_to(root / "docs"):
            yield link, path.relative_to(root)


def _address(target: Path, page: Path, source: Path) -> str:
    """Return where a link leads: a copy, or the site's own first page for README.md."""
    place = source / HOME if target == README else _place(target, source)
    return Path(os.path.relpath(place, page.parent)).as_posix()


def _place(target: Path, source: Path) -> Path:
    """Return where a copy lies; Markdown is shown as it is, for its own links are not followed."""
    path = source / BESIDE / target
    return path.with_suffix(".txt") if path.suffix == ".md" else path


def _copy(path: Path, place: Path) -> None:
    """Copy a file; a folder is shown by what of it pages link to."""
    if path.is_file():
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)

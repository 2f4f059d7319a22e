"""How a paper is cited: in a sentence and in full.

A citation is what the `citation` of a paper.yaml holds, the keys of a reference in the Citation
File Format 1.2; the title stands beside it. A text without one is called by its title.
"""

from collections.abc import Mapping
from typing import Any

About = Mapping[str, Any]
ARXIV = "arXiv:"


def short(about: About) -> str:
    """Return the short form, such as `Meng, Liu and Xie (2023)`; some authors are no persons."""
    cited = about.get("citation", {})
    found = [one.get("family-names") or one["name"] for one in cited.get("authors", [])]
    if not found:
        return english(about)
    *rest, last = found
    people = f"{', '.join(rest)} and {last}" if rest else last
    if len(rest) > 2:
        people = f"{rest[0]} et al."
    return f"{people} ({cited.get('year')})"


def english(about: About) -> str:
    """Return the title that an English reader understands."""
    return about.get("title_en") or about["title"]


def full(about: About) -> str:
    """Return the whole citation in one line of text."""
    found = about.get("citation", {})
    translated = f" [{about['title_en']}]" if about.get("title_en") else ""
    people = ", ".join(_given(author) for author in found.get("authors", []))
    names = [str(each["value"]) for each in found.get("identifiers", [])]
    where = found.get("journal") or found.get("collection-title")
    number = f"({found['issue']})" if "issue" in found else ""
    volume = f" {found['volume']}{number}" if "volume" in found else ""
    pages = "–".join(str(found[name]) for name in ("start", "end") if name in found)
    parts = [
        people,
        f"{about['title']}{translated}",
        f"{where}{volume}" if where else "",
        f"pages {pages}" if "start" in found else "",
        str(found.get("year", "")),
        f"doi {found['doi']}" if "doi" in found else "",
        *(f"arXiv {name.removeprefix(ARXIV)}" for name in names if name.startswith(ARXIV)),
    ]
    return f"{'. '.join(part for part in parts if part)}."


def link(about: About) -> str:
    """Return the address of a paper, or nothing."""
    found = about.get("citation", {})
    return f"https://doi.org/{found['doi']}" if "doi" in found else found.get("url", "")


def _given(author: Mapping[str, str]) -> str:
    return author.get("name") or f"{author.get('given-names', '')} {author['family-names']}".strip()

"""What kept results say of a paper: its page's prose, and the short form of it."""

import os
from functools import cache
from pathlib import Path

from dpfl.report import prose

PRICES = "prices"
"""The scale of a paper that needs neither data nor training: a page's run, where no other is."""


@cache
def page(home: Path, reference: Path, place: Path) -> str:
    """Return a paper's page, its pictures linked from the folder `place`."""

    def picture(path: Path, alt: str) -> str:
        return prose.linked(Path(os.path.relpath(path, place)), alt)

    return prose.of_paper(home, reference / home.name / PRICES / "tables", reference, picture)


def short(home: Path, reference: Path) -> str:
    """Return the answer that a paper's page gives first, nothing where it gives none."""
    return prose.in_short(page(home, reference, reference))

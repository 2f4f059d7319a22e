"""What kept results say of a paper: its page's prose, and the short form of it."""

import os
from functools import cache
from pathlib import Path

from dpfl.docs import prices
from dpfl.report import prose


@cache
def page(home: Path, reference: Path, place: Path) -> str:
    """Return a paper's page, its pictures linked from the folder `place`."""

    def picture(path: Path, alt: str) -> str:
        return prose.linked(Path(os.path.relpath(path, place)), alt)

    return prose.of_paper(home, prices.home(reference) / "tables" / home.name, reference, picture)


def short(home: Path, reference: Path) -> str:
    """Return the answer that a paper's page gives first, nothing where it gives none."""
    return prose.in_short(page(home, reference, reference))

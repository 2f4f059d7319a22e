"""Parts of a page that are generated: what stands between two comments that name them."""

import re
from collections.abc import Callable, Mapping

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest

BLOCK = re.compile(
    r"<!-- (?P<name>[a-z-]+): written by make docs -->\n.*?<!-- end of (?P=name) -->", re.DOTALL
)


def names(text: str) -> list[str]:
    """Return the names of the blocks of a page."""
    return [found["name"] for found in BLOCK.finditer(text)]


def renewed(text: str, blocks: Mapping[str, Callable[[], str]]) -> str:
    """Return a page with its blocks made anew; UserError for a name that nobody makes."""
    return BLOCK.sub(lambda found: _made(found["name"], blocks), text)


def without(text: str) -> str:
    """Return a page without what is generated: what was typed."""
    return BLOCK.sub("", text)


def _made(name: str, blocks: Mapping[str, Callable[[], str]]) -> str:
    if name not in blocks:
        raise UserError(f"no block {name!r}: {nearest(name, list(blocks))}")
    return f"<!-- {name}: written by make docs -->\n\n{blocks[name]()}\n\n<!-- end of {name} -->"

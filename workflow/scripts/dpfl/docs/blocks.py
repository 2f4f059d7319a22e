"""Parts of a file that are generated: what stands between two comments that name them."""

import re
from collections.abc import Callable, Mapping

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest

BLOCK = re.compile(
    r"(?P<lead> *#? ?)<!-- (?P<name>[a-z-]+): written by make docs -->\n"
    r".*?(?P=lead)<!-- end of (?P=name) -->",
    re.DOTALL,
)


def renewed(text: str, blocks: Mapping[str, Callable[[], str]]) -> str:
    """Return a text with its blocks made anew; UserError for a name that nobody makes."""

    def made(found: re.Match) -> str:
        lead, name = found["lead"], found["name"]
        if name not in blocks:
            raise UserError(f"no block {name!r}: {nearest(name, list(blocks))}")
        head = f"{lead}<!-- {name}: written by make docs -->"
        return f"{head}\n\n{blocks[name]()}\n\n{lead}<!-- end of {name} -->"

    return BLOCK.sub(made, text)


def without(text: str) -> str:
    """Return a page without what is generated: what was typed."""
    return BLOCK.sub("", text)

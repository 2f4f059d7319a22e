"""Families of methods: one colour and one marker each, in all figures of all papers.

They stand in workflow/components.yaml, with what readers call each method; papers add their own
methods in studies.yaml. Members of a family share both and differ in shade, edge and size. The
colours are apart for three kinds of colour-blind readers, and stand out from white; a test measures
both. Black is left for printed numbers. A method of no family gets a look by its number in its
paper (`looks`).
"""

import re
from dataclasses import dataclass
from functools import cache

from dpfl.papers import folder


@dataclass(frozen=True)
class Family:
    """How the methods of a family are drawn, and what each is called: {method: title}."""

    title: str
    colour: str
    marker: str
    methods: dict[str, str]


@cache
def declared() -> dict[str, Family]:
    """Return all families by name; UserError for a file that cannot be read."""
    found = folder.shared("families").items()
    return {name: Family(**{"methods": {}, **own}) for name, own in found}


def family_of(method: str) -> str | None:
    """Return the name of a method's family, None for a method of no family."""
    return next((name for name, one in declared().items() if method in one.methods), None)


def title(method: str) -> str:
    """Return what a method or a network is called for readers; its own name if nothing says it."""
    name = family_of(method)
    known = declared()[name].methods if name else folder.shared("networks")
    return known.get(method, method)


def named(text: str) -> str:
    """Return a text for readers, with titles where names of methods stand in it as whole words.

    A name that is a word of English too, such as `strong`, has its title as a side of `A against
    B`, before a setting, and where nothing else is in the text.
    """
    whole = title(text)
    return whole if whole != text else _names().sub(lambda found: title(found[0]), text)


@cache
def _names() -> re.Pattern:
    """Return what matches the names of methods in a text, but for values such as `rule=dpsgd`."""
    titles = {name: told for one in declared().values() for name, told in one.methods.items()}
    words = "|".join(name for name, told in titles.items() if _is_english(name, told))
    others = "|".join(re.escape(name) for name in titles if not _is_english(name, titles[name]))
    sides = rf"(?<=against )(?:{words})|(?:{words})(?= against |, \w+=)"
    return re.compile(rf"(?<![\w=-])(?:{others}|{sides})(?![\w-])")


def _is_english(name: str, told: str) -> bool:
    """Tell whether a name is a word: of letters, and not its title in small ones."""
    return name.isalpha() and told.replace("-", "").lower() != name

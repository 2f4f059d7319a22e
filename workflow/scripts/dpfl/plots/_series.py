"""Looks for lines that are not methods: the values of what a study varies, in its own order."""

from collections.abc import Iterable

from dpfl.plots import _style


def looks(names: Iterable[str]) -> dict[str, _style.Look]:
    """Return a look for each line; the first ten differ in everything."""
    values = (_style.COLOURS, _style.MARKERS, _style.DASHES)
    return {
        name: _style.Look(*(part[number % len(part)] for part in values))
        for number, name in enumerate(dict.fromkeys(names))
    }

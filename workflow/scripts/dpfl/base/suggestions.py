"""What a message about a mistake adds, so that its reader can mend it at once."""

import difflib
import re
from collections.abc import Iterable, Iterator
from typing import Any

LONGEST = 80
"""Characters of a value in a message."""


def nearest(name: Any, known: Iterable[str]) -> str:
    """Ask for the known name that is most like this one; if none is, list them all."""
    known = list(known)
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"there are: {', '.join(known) or 'none'}"


def unknown(
    names: Iterable[str], known: Iterable[str], before: str, after: str = ""
) -> Iterator[str]:
    """Yield `before 'name' after; the nearest known one` for every name that is not known."""
    known = list(known)
    for name in names:
        if name not in known:
            yield f"{before} {name!r}{after}; {nearest(name, known)}"


def shortened(value: Any) -> str:
    """Return a value as Python writes it, in one line that a terminal holds."""
    written = repr(value)
    return written if len(written) <= LONGEST else f"{written[: LONGEST - 3]}..."


def as_text(value: Any) -> str:
    """Explain how a number became text; nothing for other values.

    To YAML 1.1, 1e-5 is text and 1.0e-5 a number. To Snakemake's --config all in a mapping is text.
    """
    written = value if isinstance(value, str) else ""
    if found := re.fullmatch(r"(\d+)(e[-+]?\d+)", written):
        return f" (YAML reads it as text: write {found[1]}.0{found[2]})"
    plain = re.fullmatch(r"[-+]?\d+(\.\d*)?|true|false", written)
    return " (it is text, as all is in a mapping of --config: use a --configfile)" * bool(plain)

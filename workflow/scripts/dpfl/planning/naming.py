"""What names are made of: a digest of everything that a reader does not see in them."""

from collections.abc import Collection

from dpfl.runs import finished

DIGITS = 8
"""Of a digest: those that a name ends with."""


def digest(content: object) -> str:
    """Return the digits of a name that change with the content."""
    return finished.digest(content)[:DIGITS]


def pattern(wanted: Collection[str], names: Collection[str]) -> str:
    """Return a regular expression that some of the names match whole, and none of the others.

    It says the digests at their ends, of those or of the others, whichever are fewer: Snakemake
    reads it again for every job.
    """
    others = set(names) - set(wanted)
    ends = {name: name[-DIGITS:] for name in names}
    if len(set(ends.values())) < len(ends):
        ends = {name: name for name in names}
    if len(wanted) <= len(others):
        return f"[a-z0-9.-]*(?:{'|'.join(ends[name] for name in wanted)})" if wanted else "(?!)"
    without = "|".join(ends[name] for name in sorted(others))
    return f"(?![a-z0-9.-]*(?:{without})(?![a-z0-9.-]))" * bool(others) + "[a-z0-9.-]+"

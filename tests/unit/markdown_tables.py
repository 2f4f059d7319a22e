"""Tables of Markdown, read as a reader sees them."""

from itertools import takewhile


def read(text: str, first: str = "") -> tuple[list[str], list[list[str]]]:
    """Return head and rows of the first table of a text whose head begins with a word."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first}"))
    block = takewhile(lambda line: line.startswith("|"), lines[start:])
    head, _, *rows = ([cell.strip() for cell in line[1:-1].split(" |")] for line in block)
    return head, rows

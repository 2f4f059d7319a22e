"""The figure that README.md shows first: one figure of kept runs, named here alone."""

from pathlib import Path

from dpfl.base.errors import UserError

PLACE = "meng2023/mnist"
FIGURE = "figures/cadabelief/differences.png"
"""A verdict rests on paired differences."""
PICTURE = "docs/hero.png"
"""Where `make docs` copies it to, for readers of the repository."""


def source(derived: Path) -> Path:
    """Return the file of the figure; UserError if it is not derived."""
    path = derived / PLACE / FIGURE
    if not path.exists():
        raise UserError(f"{path}: missing, the figure that README.md shows first")
    return path


def picture(derived: Path) -> str:
    """Return it as a Markdown picture, with what it shows in words."""
    words = source(derived).with_suffix(".txt").read_text(encoding="utf-8")
    return f"![{' '.join(words.split())}]({PICTURE})"

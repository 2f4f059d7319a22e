"""The figure that README.md shows first: one figure of kept runs, named here alone."""

from pathlib import Path

from dpfl.base.errors import UserError

PLACE = "meng2023/mnist"
FIGURES = ("cadabelief/differences", "cadabelief/accuracy")
"""The first of them that is kept is shown: a verdict rests on paired differences."""
ALT = "Test accuracy on MNIST by method and privacy budget, from kept results of CAdabelief"


PICTURE = "docs/hero.png"
"""Where `make docs` copies it to, for readers of the repository."""


def source(derived: Path) -> Path:
    """Return the file of the figure; UserError if none of FIGURES is derived."""
    for figure in FIGURES:
        path = derived / PLACE / "figures" / f"{figure}.png"
        if path.exists():
            return path
    raise UserError(f"{derived / PLACE}: none of the figures {', '.join(FIGURES)}")


def picture(derived: Path) -> str:
    """Return it as a Markdown picture, with what it shows in words."""
    words = source(derived).with_suffix(".txt")
    alt = words.read_text(encoding="utf-8") if words.exists() else ALT
    return f"![{' '.join(alt.split())}]({PICTURE})"

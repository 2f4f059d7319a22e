"""The figure that README.md shows first: one kept figure, named here alone."""

from pathlib import Path

from dpfl.base.errors import UserError

PLACE = "meng2023/mnist"
FIGURES = ("cadabelief/differences", "cadabelief/accuracy")
"""The first of them that is kept is shown: a verdict rests on paired differences."""
ALT = "Test accuracy on MNIST by method and privacy budget, from kept results of CAdabelief"


def picture(reference: Path, root: Path) -> str:
    """Return the figure as a Markdown picture, its path relative to `root`; UserError for none."""
    for figure in FIGURES:
        path = reference / PLACE / "figures" / f"{figure}.png"
        if path.exists():
            words = path.with_suffix(".txt")
            alt = words.read_text(encoding="utf-8") if words.exists() else ALT
            return f"![{' '.join(alt.split())}]({path.relative_to(root).as_posix()})"
    raise UserError(f"{reference / PLACE}: none of the figures {', '.join(FIGURES)}")

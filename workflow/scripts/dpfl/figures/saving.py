"""Figures as files, all of one figure or none; equal numbers give equal bytes."""

from contextlib import ExitStack
from pathlib import Path

from matplotlib.figure import Figure

from dpfl.base import files
from dpfl.figures.drawn import Drawn

# Dates and the names of tools would change the bytes of equal figures.
FORMATS = {
    ".png": {"dpi": 160, "metadata": {"Software": None}},
    ".pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}
DATA, WORDS = ".csv", ".txt"


def save(figure: Figure, stem: Path | str, words: str = "") -> None:
    """Write stem.png and stem.pdf, and words for those who cannot see them as stem.txt."""
    with ExitStack() as stack:
        if words:
            told = stack.enter_context(files.atomic(f"{stem}{WORDS}"))
            told.write_text(words, encoding="utf-8")
        _draw(figure, stem, stack)


def save_all(drawn: Drawn, stem: Path | str) -> None:
    """Write stem.png, stem.pdf, the numbers as stem.csv and the words as stem.txt."""
    with ExitStack() as stack:
        data, words = (stack.enter_context(files.atomic(f"{stem}{e}")) for e in (DATA, WORDS))
        drawn.data.to_csv(data, index=False, na_rep="", lineterminator="\n")
        words.write_text(drawn.words, encoding="utf-8")
        _draw(drawn.figure, stem, stack)


def _draw(figure: Figure, stem: Path | str, stack: ExitStack) -> None:
    """Draw into files that appear when the stack ends."""
    for ending, keywords in FORMATS.items():
        figure.savefig(stack.enter_context(files.atomic(f"{stem}{ending}")), **keywords)

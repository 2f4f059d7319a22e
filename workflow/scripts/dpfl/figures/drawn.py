"""A figure together with its numbers and its words, all made of one table, and as files.

All files of a figure are written, or none. Equal numbers give equal bytes.
"""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from dpfl.base import files
from dpfl.figures import style

# Dates and the names of tools would change the bytes of equal figures.
FORMATS = {
    ".png": {"dpi": 160, "metadata": {"Software": None}},
    ".pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}


@dataclass(frozen=True)
class Drawn:
    """A figure, the table that it shows, what was found, and what the figure is a picture of."""

    figure: Figure
    data: pd.DataFrame
    finding: str
    shows: str

    @property
    def words(self) -> str:
        """Return the finding and the picture in words, for those who cannot see it."""
        return f"{self.finding.rstrip('.')}. {self.shows.rstrip('.')}.\n"

    def save(self, stem: Path | str, endings: Sequence[str] = tuple(FORMATS)) -> None:
        """Write stem.png, stem.pdf, the numbers as stem.csv and the words as stem.txt."""
        save(self.figure, stem, self.words, self.data, endings)


def save(
    figure: Figure,
    stem: Path | str,
    words: str,
    data: pd.DataFrame | None = None,
    endings: Sequence[str] = tuple(FORMATS),
) -> None:
    """Write stem.png and stem.pdf, the words as stem.txt, and stem.csv if there are data."""
    with ExitStack() as stack:
        places = {e: files.atomic(f"{stem}{e}") for e in (*endings, ".csv", ".txt")}
        if data is not None:
            place = stack.enter_context(places[".csv"])
            data.to_csv(place, index=False, na_rep="", lineterminator="\n")
        stack.enter_context(places[".txt"]).write_text(words, encoding="utf-8")
        for ending in endings:
            figure.savefig(stack.enter_context(places[ending]), **FORMATS[ending])


def titled(figure: Figure, data: pd.DataFrame, finding: str, shows: str) -> Drawn:
    """Put the finding over a figure, and return both with the numbers.

    Several numbers in one place of the table, such as those of seeds, become a text.
    """
    finding = finding[:1].upper() + finding[1:]
    style.title(figure, finding)
    return Drawn(figure, data.map(_written), finding, shows)


def nothing(message: str) -> Drawn:
    """Return a figure that says why it is empty."""
    figure, axes = style.canvas(panel=(6.4, 1.6))
    axes[0, 0].set_axis_off()
    text = style.literal(message)
    axes[0, 0].text(0.5, 0.5, text, ha="center", va="center", color="0.35")
    return Drawn(figure, pd.DataFrame({"nothing": [message]}), message, "Empty")


def _written(value: object) -> object:
    return " ".join(f"{one:.10g}" for one in value) if isinstance(value, tuple) else value

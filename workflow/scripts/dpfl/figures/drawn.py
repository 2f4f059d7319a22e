"""A figure together with its numbers and its words, all made of one table."""

from dataclasses import dataclass

import pandas as pd
from matplotlib.figure import Figure

from dpfl.figures import style


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


def told(figure: Figure, data: pd.DataFrame, finding: str, shows: str) -> Drawn:
    """Put the finding over a figure, and return both with the numbers."""
    finding = finding[:1].upper() + finding[1:]
    style.title(figure, finding)
    return Drawn(figure, data, finding, shows)


def nothing(message: str) -> Drawn:
    """Return a figure that says why it is empty."""
    return Drawn(style.nothing(message), pd.DataFrame({"nothing": [message]}), message, "Empty")

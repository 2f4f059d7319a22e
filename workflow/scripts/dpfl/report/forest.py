"""A claim's difference as a small picture: dot, interval, band that decides, printed diamond.

The diamond is grey where another paper prints the number, of the same method run again.

Every bar has the finest scale that holds it, written at its end: narrow intervals stay visible.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dpfl.judging import claims
from dpfl.words.numerals import known

STEPS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0)
"""How far a scale may reach to either side, points."""
WIDTH, EDGE = 220, 4
"""Of the drawing, in pixels, without what says its scale."""


@dataclass(frozen=True)
class Bar:
    """Differences in points: one, or those of the parts of a claim that has none as a whole.

    `ends` are those of its interval; `printed` is where the printed number stands; `band` goes from
    where to where the verdict draws its line; each is None where there is none. `rerun` says that
    another paper has printed the number.
    """

    dots: tuple[float, ...]
    ends: tuple[float, float] | None = None
    printed: float | None = None
    band: tuple[float, float] | None = None
    rerun: bool = False

    @property
    def scale(self) -> float:
        """Return how far its scale reaches: the first of STEPS that holds all, else 100."""
        printed = () if self.printed is None else (self.printed,)
        reach = max(map(abs, (*self.dots, *(self.ends or ()), *printed, *(self.band or ()))))
        return next((step for step in STEPS if step >= reach), 100.0)

    def x(self, place: float) -> float:
        """Return where a difference is drawn, pixels from the left."""
        return round(EDGE + (place / self.scale + 1) / 2 * (WIDTH - 2 * EDGE), 1)


def bar_of(
    row: Mapping[str, Any], parts: Iterable[Mapping[str, Any]], margin: float, rerun: bool = False
) -> Bar | None:
    """Return the bar of a judged claim; None if its difference is not in points, or unknown.

    The printed number stands as far from what is drawn as it is from ours.
    """
    drawn = claims.drawn(row["kind"]) if known(row["kind"]) else None
    if drawn is None:
        return None
    whole = known(row[drawn])
    dots = tuple(float(own[drawn]) for own in ([row] if whole else parts) if known(own[drawn]))
    if not dots:
        return None
    low, high = row[f"{drawn}_low"], row[f"{drawn}_high"]
    beside = whole and known(row["printed"]) and known(row["ours"])
    return Bar(
        dots,
        (float(low), float(high)) if known(low) else None,
        row[drawn] + row["printed"] - row["ours"] if beside else None,
        claims.band(row["kind"], row["printed"], margin),
        rerun and beside,
    )

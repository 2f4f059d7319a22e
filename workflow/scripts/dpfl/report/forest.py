"""A claim's difference as a small picture: dot, interval, band that decides, printed diamond.

The diamond is grey where another paper prints the number, of the same method run again.

All bars of a page share one scale, in points; what lies beyond it is an arrow at the edge.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from dpfl.judging import claims
from dpfl.report import markup
from dpfl.words import numerals
from dpfl.words.numerals import known

STEPS = (1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
"""How far a scale may reach to either side, points."""
WIDTH, HEIGHT, EDGE = 180, 26, 8


@dataclass(frozen=True)
class Bar:
    """A difference in points; `low` and `high` are None without an interval.

    `printed` is where the printed number stands, None without one; `band` goes from where to where
    the verdict draws its line, None where each part has a line of its own; `parts` are the
    differences of the parts of a claim that has none as a whole; `by` is the other paper that the
    printed number comes from, empty for the paper itself.
    """

    middle: float | None
    low: float | None
    high: float | None
    printed: float | None
    band: tuple[float, float] | None
    parts: tuple[float, ...] = ()
    by: str = ""

    @property
    def places(self) -> list[float]:
        """Return every place that is drawn."""
        ends = (self.middle, self.low, self.high, self.printed, *(self.band or ()))
        return [place for place in (*ends, *self.parts) if place is not None]


def of(
    row: Mapping[str, Any], parts: Iterable[Mapping[str, Any]], margin: float, by: str = ""
) -> Bar | None:
    """Return the bar of a judged claim; None if its difference is not in points, or unknown.

    `by` is the other paper that its printed number comes from.
    """
    drawn = claims.drawn(row["kind"]) if known(row["kind"]) else None
    if drawn is None:
        return None
    middle, low, high = (_number(row[f"{drawn}{end}"]) for end in ("", "_low", "_high"))
    dots = tuple(part[drawn] for part in parts if known(part[drawn])) if middle is None else ()
    if middle is None and not dots:
        return None
    band = claims.band(row["kind"], row["printed"], margin)
    printed = _printed(row, middle)
    source = by if printed is not None else ""
    return Bar(middle, low, high, printed, band, dots, source)


def reach(bars: Iterable[Bar | None]) -> float:
    """Return how far one scale must reach for all bars, at most the last of STEPS."""
    places = [abs(place) for bar in bars if bar for place in bar.places]
    return next((step for step in STEPS if step >= max(places, default=0)), STEPS[-1])


def draw(bar: Bar | None, most: float, said: str) -> Markup:
    """Return a bar as an inline SVG from -most to +most, with words for those who cannot see it."""
    if bar is None:
        return Markup("")
    x = _scale(most)
    shown = {
        "band": tuple(map(x, bar.band)) if bar.band else None,
        "zero": x(0),
        "ends": (x(bar.low), x(bar.high)) if bar.low is not None else None,
        "dots": [x(place) for place in ([bar.middle] if bar.middle is not None else bar.parts)],
        "arrows": [_arrow(place, most) for place in (bar.middle, *bar.parts) if _out(place, most)],
        "diamond": x(bar.printed) if bar.printed is not None else None,
        "rerun": bool(bar.by),
    }
    return markup.part("forest", shown, WIDTH, HEIGHT, said)


def words(bar: Bar | None) -> str:
    """Say what a bar shows."""
    if bar is None:
        return ""
    if bar.middle is None:
        low, high = min(bar.parts), max(bar.parts)
        return f"{len(bar.parts)} differences from {low:+.2f} to {high:+.2f} points"
    said = numerals.difference({"difference": bar.middle, "low": bar.low, "high": bar.high})
    source = f" in {bar.by}, of a rerun," if bar.by else ""
    printed = f"; printed{source} at {bar.printed:+.2f}" if bar.printed is not None else ""
    band = "; band from {:+g} to {:+g}".format(*bar.band) if bar.band else ""
    return f"{said}{printed}{band}"


def _printed(row: Mapping[str, Any], middle: float | None) -> float | None:
    """Return where the printed number stands: as far from what is drawn as it is from ours."""
    if middle is None or not (known(row["printed"]) and known(row["ours"])):
        return None
    return middle + row["printed"] - row["ours"]


def _number(value: Any) -> float | None:
    return float(value) if known(value) else None


def _scale(most: float):
    def at(place: float) -> float:
        share = (min(max(place, -most), most) + most) / (2 * most)
        return round(EDGE + share * (WIDTH - 2 * EDGE), 1)

    return at


def _out(place: float | None, most: float) -> bool:
    return place is not None and abs(place) > most


def _arrow(place: float, most: float) -> dict[str, float]:
    return {"at": WIDTH - 1 if place > 0 else 1, "back": -6 if place > 0 else 6}

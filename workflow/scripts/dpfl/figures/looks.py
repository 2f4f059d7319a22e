"""How a line is drawn: colour, marker, and whether it has a proof.

Hollow markers and dashed lines mean that nothing proves the privacy budget, in every figure, and
nothing else is hollow or dashed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from matplotlib.colors import to_hex, to_rgb

from dpfl.figures import families

PRINTED = {"color": "black", "marker": "D", "linestyle": "none", "markersize": 5.5, "zorder": 6}
"""A number that the paper prints."""
RERUN = PRINTED | {"color": "#767676", "markersize": 5}
"""A number that another paper prints, of the same method run again."""
NO_PROOF = (0, (4, 2))
SHADES, EDGES, SIZES = (0.0, 0.3, 0.55), ("white", "black"), (1.0, 0.75, 1.3)
NEUTRAL = "#48515C"
INKS = {"good": "#00603F", "doubt": "#8F5F00", "bad": "#9C3500", "even": NEUTRAL, "open": NEUTRAL}
"""Of the words of a verdict, by its `seeds.verdicts.tone`."""
DARK = 0.3
"""Mean of red, green and blue below which a shade is lighter, so that it differs."""
LIGHTER = 0.55
"""Times the shade of a light colour, so that contrast stays."""


@dataclass(frozen=True)
class Look:
    """How one line is drawn."""

    colour: str
    marker: str
    edge: str = "white"
    size: float = 1.0

    def line(self, proven: bool = True) -> dict[str, object]:
        """Return the keyword arguments of a matplotlib line."""
        solid = {
            "color": self.colour,
            "marker": self.marker,
            "linestyle": "-",
            "markersize": (9.5 if self.marker == "*" else 6.5) * self.size,
            "markeredgecolor": self.edge,
            "markeredgewidth": 0.5 if self.edge == "white" else 1.0,
        }
        hollow = {"markerfacecolor": "white", "markeredgecolor": self.colour}
        if proven:
            return solid
        width = 1.4 if self.edge == "white" else 2.6
        return solid | hollow | {"linestyle": NO_PROOF, "markeredgewidth": width}

    def mark(self, proven: bool = True) -> dict[str, object]:
        """Return the keyword arguments of markers without a line."""
        return self.line(proven) | {"linestyle": "none"}

    def printed(self, rerun: bool = False) -> dict[str, object]:
        """Return how a number is drawn that the paper, or another one, prints beside this line."""
        diamond = RERUN if rerun else PRINTED
        return diamond | {"markeredgecolor": self.colour, "markeredgewidth": 1.2}


def of_method(method: str) -> Look | None:
    """Return the look of a method, None where it has no family."""
    if (name := families.family_of(method)) is None:
        return None
    family = families.declared()[name]
    return member(Look(family.colour, family.marker), list(family.methods).index(method))


def member(look: Look, number: int) -> Look:
    """Return the look of a family's member: the first is the family's own."""
    shade, rest = number % len(SHADES), number // len(SHADES)
    edge, size = EDGES[rest % len(EDGES)], SIZES[rest // len(EDGES) % len(SIZES)]
    return replace(look, colour=shaded(look.colour, SHADES[shade]), edge=edge, size=size)


def shaded(colour: str, share: float) -> str:
    """Return a colour that is darker by a share, or lighter if it is dark itself."""
    parts = to_rgb(colour)
    if sum(parts) / 3 >= DARK:
        return to_hex([part * (1 - share) for part in parts]).upper()
    return to_hex([part + (1 - part) * share * LIGHTER for part in parts]).upper()


def look(number: int) -> Look:
    """Return the look of what is no method, by its number; the first twelve share no colour."""
    palette = list(families.declared().values())
    shifted = number + number // len(palette)
    colour, marker = palette[number % len(palette)], palette[shifted % len(palette)]
    return Look(colour.colour, marker.marker)


def numbered(names: Iterable[str]) -> dict[str, Look]:
    """Return a look for each line that is no method, in their own order."""
    return {name: look(number) for number, name in enumerate(dict.fromkeys(names))}


def of_study(study: dict) -> dict[str, Look]:
    """Return the look of each method of a study, in the order of every figure.

    A method of no family has the number that the plan gives it over all studies of its paper; one
    without a number comes after the others.
    """
    known = study.get("method_numbers", {})
    found = {m: known[m] for m in sorted(known, key=known.get)}
    for cell in study["cells"]:
        found.setdefault(cell["method"], 1 + max(found.values(), default=-1))
    return {method: of_method(method) or look(number) for method, number in found.items()}

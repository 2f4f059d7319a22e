"""The markers of matplotlib as shapes of Vega: names, or paths in a square from -1 to 1."""

from math import cos, pi, sin


def _polygon(corners: int, inner: float = 1.0) -> str:
    """Return a regular polygon; with `inner` below 1 a star, whose inner corners lie there."""
    radii = [1.0, inner] if inner < 1 else [1.0]
    count = corners * len(radii)
    points = []
    for number in range(count):
        radius, angle = radii[number % len(radii)], pi * (2 * number / count - 0.5)
        points.append(f"{radius * cos(angle):.3f},{radius * sin(angle):.3f}")
    return f"M{'L'.join(points)}Z"


SHAPES = {
    "o": "circle",
    "s": "square",
    "D": "diamond",
    "P": "cross",
    "^": "triangle-up",
    "v": "triangle-down",
    "<": "triangle-left",
    ">": "triangle-right",
    "X": "M-1,-.5L-.5,-1L0,-.5L.5,-1L1,-.5L.5,0L1,.5L.5,1L0,.5L-.5,1L-1,.5L-.5,0Z",
    "*": _polygon(5, 0.45),
    "p": _polygon(5),
    "h": _polygon(6),
}

"""Names at the ends of lines, in the margin right of a panel, in place of a legend."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from dpfl.figures import style
from dpfl.figures.looks import Look

HEIGHT = 1.45 * style.SMALL / 72
"""Of one name, inches."""
PLOT = 0.72
"""Share of a figure's height that the panels of one row take."""


def name(ax: Axes, ends: Mapping[str, tuple[float, Look, bool]], rows: int = 1) -> None:
    """Write names at the right of a panel: {name: (end of its line, look, has a proof)}.

    An end is in data of the vertical axis, whose limits are final. Names do not overlap.
    """
    low, high = sorted(ax.get_ylim())
    transform = ax.yaxis.get_transform()
    bottom, top = (float(transform.transform(value)) for value in (low, high))
    inches = ax.figure.get_figheight() * PLOT / rows
    wanted = [
        (float(transform.transform(min(max(end, low), high))) - bottom) / (top - bottom)
        for end, *_ in ends.values()
    ]
    placed = spread(wanted, HEIGHT / inches)
    for (text, (_, look, proven)), height in zip(ends.items(), placed, strict=True):
        _name(ax, text, height, look, proven)


def _name(ax: Axes, text: str, height: float, look: Look, proven: bool) -> None:
    """Write one name after its marker."""
    keywords = look.mark(proven) | {"clip_on": False, "label": f"_name of {text}"}
    ax.plot([1.02], [height], transform=ax.transAxes, **keywords)
    ax.annotate(
        style.literal(text),
        (1.02, height),
        (6, 0),
        xycoords="axes fraction",
        textcoords="offset points",
        va="center",
        fontsize=style.SMALL,
        color=style.INK,
        annotation_clip=False,
    )


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Return heights near those wanted, in their order, no two nearer than a gap.

    They stay between 0 and 1 if there is room for all.
    """
    order = sorted(range(len(wanted)), key=lambda number: wanted[number])
    heights: list[float] = []
    for number in order:
        lowest = heights[-1] + gap if heights else 0.0
        heights.append(max(wanted[number], lowest))
    highest = max(1.0, gap * (len(heights) - 1))
    for number in reversed(range(len(heights))):
        heights[number] = min(heights[number], highest)
        highest = heights[number] - gap
    found = dict(zip(order, heights, strict=True))
    return [found[number] for number in range(len(wanted))]

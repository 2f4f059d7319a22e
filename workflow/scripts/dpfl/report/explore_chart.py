"""Draws accuracy against epsilon as an interactive chart, with menus for data set and paper."""

from collections.abc import Iterable

import altair
import pandas as pd

from dpfl.figures import families
from dpfl.figures.families import FAMILIES
from dpfl.figures.looks import RERUN
from dpfl.report.symbols import SHAPES
from dpfl.seeds.verdicts import PERCENT

ALL = "all"
OTHER = "others"
"""The methods of no family."""
MENUS = {"data": "data set", "paper": "paper"}
NUMBERS = {"epsilon:Q": "ε claimed", "accuracy:Q": "accuracy, %"}
CELL = {"method:N": "method", "variant:N": "variant", "paper:N": "paper", "study:N": "study"}
CELL |= {"dataset:N": "data", **NUMBERS, "interval:N": f"{PERCENT} interval", "n:Q": "n"}
PRINTED = {
    "source:N": "printed in",
    "table:N": "table",
    "row:N": "row",
    "data:N": "data set",
    **NUMBERS,
}
"""What is told of a cell and of a printed number: columns with their names."""
HEIGHT, NARROW = 420, 600
"""Pixels: of the chart; of a width below which the legend has one column."""
LETTERS = {"labelFontSize": 12, "titleFontSize": 12}


def family(method: str) -> str:
    """Return the title of a method's family."""
    name = families.of(method)
    return FAMILIES[name].title if name else OTHER


def draw(found: pd.DataFrame, printed: pd.DataFrame) -> altair.LayerChart:
    """Draw cells and printed values, as wide as the page; the data set with most cells first."""
    most = found["data"].value_counts().index[0]
    chosen = {"data": most, "paper": ALL}
    both = {name: [*found[name], *printed[name]] for name in MENUS}
    menus = {name: _menu(name, both[name], first) for name, first in chosen.items()}
    shown = " && ".join(
        f"({menu.name} == '{ALL}' || datum.{name} == {menu.name})" for name, menu in menus.items()
    )
    x = _epsilon([*found["epsilon"], *printed["epsilon"]])
    layers = [_bars(found, x), _marks(found, x), _diamonds(printed, x)]
    figure = altair.layer(*(layer.transform_filter(shown) for layer in layers))
    columns = altair.ExprRef(f"width < {NARROW} ? 1 : 3")
    return (
        figure.add_params(*menus.values())
        .properties(width="container", height=HEIGHT)
        .configure_axis(**LETTERS)
        .configure_legend(orient="bottom", labelLimit=320, columns=columns, **LETTERS)
        .interactive()
    )


def _marks(found: pd.DataFrame, x: altair.X) -> altair.Chart:
    looks = _looks(found["family"])
    return (
        altair.Chart(found)
        .mark_point(size=70, strokeWidth=2, opacity=1)
        .encode(
            x=x,
            y=_percent("accuracy"),
            color=altair.Color("family:N", title=None).scale(**looks["colour"]),
            shape=altair.Shape("family:N", title=None).scale(**looks["shape"]),
            fill=altair.Fill("family:N", title=None).scale(**looks["colour"]),
            fillOpacity=altair.condition("datum.certified", altair.value(0.9), altair.value(0)),
            tooltip=_told(CELL),
        )
    )


def _bars(found: pd.DataFrame, x: altair.X) -> altair.Chart:
    """Draw the intervals of the cells that have one."""
    looks = _looks(found["family"])
    colour = altair.Color("family:N", title=None).scale(**looks["colour"])
    rules = altair.Chart(found[found["ci_low"].notna()]).mark_rule(strokeWidth=1)
    return rules.encode(x=x, y=_percent("ci_low"), y2="ci_high", color=colour)


def _diamonds(printed: pd.DataFrame, x: altair.X) -> altair.Chart:
    marks = altair.Chart(printed).mark_point(
        shape="diamond", size=130, filled=True, stroke="white", opacity=1
    )
    grey = altair.condition("datum.rerun", altair.value(RERUN["color"]), altair.value("black"))
    return marks.encode(x=x, y=_percent("accuracy"), fill=grey, tooltip=_told(PRINTED))


def _epsilon(found: Iterable[float]) -> altair.X:
    """Return the axis of epsilon, with a tick at every value that occurs."""
    axis = altair.Axis(values=sorted({*found}), format="~g", grid=False)
    return altair.X("epsilon:Q", title="ε claimed", axis=axis).scale(
        type="log", nice=False, padding=25
    )


def _percent(column: str) -> altair.Y:
    axis = altair.Axis(tickCount=8)
    return altair.Y(f"{column}:Q", title="test accuracy, %", axis=axis).scale(zero=False)


def _told(columns: dict[str, str]) -> list[altair.Tooltip]:
    forms = {title: {"format": ".2f"} for title in NUMBERS.values() if title.endswith("%")}
    return [altair.Tooltip(name, title=t, **forms.get(t, {})) for name, t in columns.items()]


def _looks(shown: Iterable[str]) -> dict[str, dict[str, list[str]]]:
    """Return the scales of colour and shape, those of all figures."""
    known = {one.title: (one.colour, SHAPES[one.marker]) for one in FAMILIES.values()}
    used = [title for title in (*known, OTHER) if title in {*shown}]
    looks = [known.get(title, ("#44505c", "circle")) for title in used]
    colours, shapes = [colour for colour, _ in looks], [shape for _, shape in looks]
    return {
        "colour": {"domain": used, "range": colours},
        "shape": {"domain": used, "range": shapes},
    }


def _menu(name: str, choices: Iterable[str], first: str) -> altair.Parameter:
    """Return a menu, without a field to choose in where there is one choice."""
    options = sorted({*choices})
    bind = altair.binding_select(options=[ALL, *options], name=f"{MENUS[name]} ")
    return altair.param(
        name=f"a_{name}", value=first, **({"bind": bind} if len(options) > 1 else {})
    )

"""The one interactive figure: accuracy against epsilon over all methods, with printed values."""

from collections.abc import Mapping

import altair
import numpy as np
import pandas as pd
from markupsafe import Markup

from dpfl.papers.published import ACCURACY
from dpfl.report import cells_of, markup, page, values
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

ALL = "all"
COLOURS = ["#0072b2", "#a33c00", "#00664b", "#8b3a8b", "#6b5b00", "#44505c"]
"""Of papers; each has a contrast of 3:1 or more against white."""
MENUS = ("dataset", "paper")
TOLD = (
    "Choose a data set or a paper; hover over a mark for its method and cell. Hollow marks have no "
    "proof of their ε; black diamonds are what papers print."
)


def body(folder: Folder, read: Mapping[str, Paper]) -> Markup:
    """Return the figure, which loads nothing, and what other papers print at the same budget."""
    found = cells_of.of_papers(folder, read).drop(columns="runs")
    found = found[np.isfinite(found["epsilon"]) & found["accuracy"].notna()]
    printed = _printed(values.read(folder.path / "tables" / "published.csv"), found)
    if not len(found):
        return markup.listing(["No run of this scale is private."])
    drawn = chart(found, printed).to_html(
        inline=True, fullhtml=False, embed_options={"actions": False}
    )
    beside = page.beside(folder, read)
    parts = [
        markup.part("paragraph", TOLD),
        markup.part("scroll", "Accuracy against epsilon, interactive", Markup(drawn)),
    ]
    if beside:
        parts += [markup.part("heading", "Beside other papers"), markup.listing(beside)]
    return markup.joined(*parts)


def chart(found: pd.DataFrame, printed: pd.DataFrame) -> altair.LayerChart:
    """Draw cells and printed values; two menus choose the data set and the paper."""
    menus = [_menu(name, [*found[name], *printed[name]]) for name in MENUS]
    chosen = " && ".join(
        f"({menu.name} == '{ALL}' || datum.{name} == {menu.name})"
        for menu, name in zip(menus, MENUS, strict=True)
    )
    x = altair.X("epsilon:Q", title="ε claimed").scale(type="log", nice=False, padding=25)
    y = altair.Y("accuracy:Q", title="test accuracy, %").scale(zero=False)
    ours = (
        altair.Chart(found)
        .transform_filter(chosen)
        .mark_point(size=70, strokeWidth=2)
        .encode(
            x=x,
            y=y,
            color=altair.Color("paper:N").scale(range=COLOURS),
            fillOpacity=altair.condition("datum.certified", altair.value(0.9), altair.value(0)),
            fill=altair.Fill("paper:N").scale(range=COLOURS),
            tooltip=["paper", "study", "dataset", "method", "variant", "epsilon", "accuracy", "n"],
        )
    )
    marks = (
        altair.Chart(printed)
        .transform_filter(chosen)
        .mark_point(shape="diamond", size=90, filled=True, color="black", stroke="white")
        .encode(x=x, y=y, tooltip=["paper", "table", "row", "dataset", "epsilon", "accuracy"])
    )
    return (ours + marks).add_params(*menus).properties(width=620, height=420).interactive()


def _menu(name: str, choices: list[str]) -> altair.Parameter:
    options = [ALL, *sorted({*choices})]
    return altair.param(
        name=f"a_{name}", value=ALL, bind=altair.binding_select(options=options, name=f"{name} ")
    )


def _printed(published: pd.DataFrame, found: pd.DataFrame) -> pd.DataFrame:
    """Return the printed accuracies at a finite epsilon."""
    columns = ["paper", "table", "row", "dataset", "epsilon", "accuracy"]
    if not {"dataset", "epsilon"} <= {*published}:
        return pd.DataFrame(columns=columns)
    own = published[(published["metric"] == ACCURACY) & np.isfinite(published["epsilon"])]
    own = own[own["dataset"] != ""].rename(columns={"printed": "accuracy"})
    return own[columns].drop_duplicates()

"""The one interactive figure: accuracy against epsilon over all methods, with printed values."""

from collections.abc import Mapping

import altair
import numpy as np
import pandas as pd
from markupsafe import Markup

from dpfl.figures.families import FAMILIES, named
from dpfl.figures.families import of as family_of
from dpfl.papers.published import ACCURACY
from dpfl.report import cells_of, markup, page, values
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.report.symbols import SHAPES

ALL = "all"
OTHER = "others"
"""The methods of no family."""
MENUS = ("dataset", "paper")
TOLD = (
    "Choose a data set or a paper; hover over a mark for its method and cell. Hollow marks have no "
    "proof of their ε; black diamonds are what papers print."
)


def body(folder: Folder, read: Mapping[str, Paper]) -> Markup:
    """Return the figure, which loads nothing, and what other papers print at the same budget."""
    found = _private(cells_of.of_papers(folder, read).drop(columns="runs"), folder)
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
    scales = _looks([*dict.fromkeys(found["family"])])
    x = altair.X("epsilon:Q", title="ε claimed").scale(type="log", nice=False, padding=25)
    y = altair.Y("accuracy:Q", title="test accuracy, %").scale(zero=False)
    ours = (
        altair.Chart(found)
        .transform_filter(chosen)
        .mark_point(size=70, strokeWidth=2, opacity=1)
        .encode(
            x=x,
            y=y,
            color=altair.Color("family:N", title=None).scale(**scales["colour"]),
            shape=altair.Shape("family:N", title=None).scale(**scales["shape"]),
            fillOpacity=altair.condition("datum.certified", altair.value(0.9), altair.value(0)),
            fill=altair.Fill("family:N", title=None).scale(**scales["colour"]),
            tooltip=["paper", "study", "dataset", "method", "variant", "epsilon", "accuracy", "n"],
        )
    )
    marks = (
        altair.Chart(printed)
        .transform_filter(chosen)
        .mark_point(shape="diamond", size=90, filled=True, color="black", stroke="white")
        .encode(x=x, y=y, tooltip=["paper", "table", "row", "dataset", "epsilon", "accuracy"])
    )
    figure = (ours + marks).add_params(*menus).properties(width=620, height=420)
    return figure.configure_legend(labelLimit=320).interactive()


def _private(cells: pd.DataFrame, folder: Folder) -> pd.DataFrame:
    """Return the cells at a finite epsilon that have a result, without those of rate grids."""
    names = cells["paper"] + "/" + cells["study"]
    compared = [folder.study(name)["kind"] != "rates" for name in names]
    kept = (
        np.isfinite(cells["epsilon"].astype(float))
        & cells["accuracy"].notna()
        & np.array(compared, bool)
    )
    families = [_title(method) for method in cells["method"]]
    return cells.assign(family=families, method=cells["method"].map(named))[kept]


def _title(method: str) -> str:
    name = family_of(method)
    return FAMILIES[name].title if name else OTHER


def _looks(shown: list[str]) -> dict[str, dict[str, list[str]]]:
    """Return the scales of colour and shape, those of all figures."""
    known = {one.title: (one.colour, SHAPES[one.marker]) for one in FAMILIES.values()}
    used = [title for title in (*known, OTHER) if title in shown]
    looks = [known.get(title, ("#44505c", "circle")) for title in used]
    colours, shapes = [colour for colour, _ in looks], [shape for _, shape in looks]
    return {
        "colour": {"domain": used, "range": colours},
        "shape": {"domain": used, "range": shapes},
    }


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

"""The page of the one interactive figure: cells at a finite epsilon, and what papers print."""

from collections.abc import Mapping, Set

import numpy as np
import pandas as pd
from markupsafe import Markup

from dpfl.figures import datasets, families
from dpfl.papers import measures
from dpfl.papers.datasets import base
from dpfl.papers.published import ACCURACY
from dpfl.report import cells_of, explore_chart, markup, page, values
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.seeds.verdicts import PERCENT

COLUMNS = ["paper", "table", "row", "data", "epsilon", "accuracy", "source", "rerun"]
"""Of printed numbers; `data` is the data set, that of which features are for features; `source` is
the paper that prints the number, and `rerun` says if that is another one than the method's own."""
TOLD = (
    f"Hover over a mark for its method and cell. Bars are {PERCENT} intervals; hollow marks have "
    "no proof of their ε; black diamonds are what papers print."
)
RERUN = " Grey ones are what another paper prints, which ran the method again."


def body(folder: Folder, read: Mapping[str, Paper]) -> Markup:
    """Return the figure, which loads nothing, and what other papers print at the same budget."""
    found = _private(cells_of.of_papers(folder, read).drop(columns="runs"), folder)
    if not len(found):
        return markup.listing(["No run of this scale is private."])
    named = found.assign(paper=[read[key].short for key in found["paper"]])
    published = values.read(folder.path / "tables" / "published.csv")
    printed = _printed(published, {*found["data"]}, read)
    chart = explore_chart.draw(named, printed)
    drawn = chart.to_html(inline=True, fullhtml=False, embed_options={"actions": False})
    beside = page.beside(folder, read)
    parts = [
        markup.part("paragraph", TOLD + RERUN * bool(printed["rerun"].any())),
        markup.part("scroll", "Accuracy against epsilon, interactive", Markup(drawn)),
    ]
    if beside:
        parts += [markup.part("heading", "Beside other papers"), markup.listing(beside)]
    return markup.joined(*parts)


def _private(cells: pd.DataFrame, folder: Folder) -> pd.DataFrame:
    """Return the cells at a finite epsilon that have a result, without those of rate grids."""
    names = cells["paper"] + "/" + cells["study"]
    compared = [folder.study(name)["kind"] != "rates" for name in names]
    kept = (
        np.isfinite(cells["epsilon"].astype(float))
        & cells["accuracy"].notna()
        & np.array(compared, bool)
    )
    own = cells[kept]
    return own.assign(
        interval=[cells_of.ends(row) for row in own.to_dict("records")],
        family=own["method"].map(explore_chart.family),
        method=own["method"].map(families.title),
        data=own["dataset"].map(base).map(datasets.title),
        dataset=own["dataset"].map(datasets.title),
    )


def _printed(published: pd.DataFrame, shown: Set[str], read: Mapping[str, Paper]) -> pd.DataFrame:
    """Return the accuracies printed at a finite epsilon for the data sets that are shown."""
    if not {"dataset", "epsilon"} <= {*published}:
        return pd.DataFrame(columns=COLUMNS)
    own = published[(published["metric"] == ACCURACY) & np.isfinite(published["epsilon"])]
    own = own.assign(data=own["dataset"].map(datasets.title), accuracy=own["printed"])
    own = own[own["data"].isin(shown)]
    by = [measures.by(read[p].about, t) for p, t in zip(own["paper"], own["table"], strict=True)]
    short = [read[key].short for key in own["paper"]]
    source = [other or paper for other, paper in zip(by, short, strict=True)]
    told = own.assign(paper=short, source=source, rerun=[*map(bool, by)])
    return told[COLUMNS].drop_duplicates()

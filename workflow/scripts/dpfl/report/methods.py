"""Pages of methods: the leaderboard, two of them side by side, and a page for each."""

import ast
from collections.abc import Iterable, Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from markupsafe import Markup

from dpfl import plugins
from dpfl.base import files
from dpfl.figures import datasets, families
from dpfl.figures.pictures import link
from dpfl.mechanisms.parts.fitting import needs_public
from dpfl.papers.datasets import base
from dpfl.papers.folder import shared
from dpfl.report import cells, chart, layout, markup
from dpfl.report.reader import Folder
from dpfl.seeds.looks import LEVEL
from dpfl.tables import rendering, results
from dpfl.words import cell_words
from dpfl.words.columns import Column, plain
from dpfl.words.forms import listed, setting
from dpfl.words.numerals import counted, difference, ends, number
from dpfl.words.vocabulary import PROVEN

HOME = "methods"
PARTS = {"mechanism": ("mechanisms", "estimator"), "optimizer": ("optimizers", "algorithm")}
PARTS |= {"clipping": ("clippings", "rule"), "budget": ("privacy/budgets", "strategy")}
"""What a method is composed of: the package of each part, and the setting that names it."""
UNITS = {"example": "one training example is protected", "client": "a whole client is protected"}
ALIKE = ("ε", "network", "study", "scale")
LIKE = ["unit", "base", "features", "adjacency"]
LEADER = ("features", "accuracy, %", "method", "ε certified", "unit", "adjacency", *ALIKE)
CELL = ("accuracy, %", "ε certified", "data", "privacy", "adjacency", *ALIKE)
PAIR = ("first", "second", "first minus second", "first, %", "second, %", "data", *ALIKE)
"""What tables show: of the best cells, of those of a method, and of pairs."""
CURVES, FEWEST = 8, 2
"""The most lines of a figure, and the most rounds that make none."""
UNPROTECTED = "the public examples that it learns from: no ε covers them"
PUBLIC = " (learns from public examples too)"
BEST = (
    "Of each data set, kind of features and ε: the most accurate cell whose ε is proven. Where a "
    "smaller ε has one as good, it is left out. Trials of rates do not count. The best of many "
    "looks a little better than it is: pages of methods have paired differences."
)
PAIRED = (
    f"Paired by seed, in one study at one ε, with all but the method equal. The {100 * LEVEL:g} % "
    "interval is that of a claim on this pair alone, at the look that decides it. It is adjusted "
    "for no other pair: it makes no verdict. Pages of papers have those."
)


def write(read: cells.Read, home: Path, links: list[tuple[str, str]]) -> None:
    """Write all pages of methods into `home`, and the table of cells that they show."""
    found = cells.table(read)
    pairs, titles = cells.pairs(found), found.groupby("method")["label"].first().sort_values()
    own_pages = [_linked(f"{HOME}/{name}.html", title) for name, title in titles.items()]
    sides = _tables(pairs, home, PAIR)
    for page, told, asked, sections, beside in (
        ("leaderboard", BEST, ("features", "unit"), _best(found, home), []),
        ("compare", PAIRED, ("first", "second"), sides, own_pages),
    ):
        shown = {"told": told, "asked": asked, "sections": sections, "listed": beside}
        text = layout.render("choices", page, links, title=layout.LINKS[page][1], **shown)
        files.write_text(home / f"{page}.html", text)
    above = [(f"../{href}", told) for href, told in links]
    for name, title in titles.items():
        body = of_method(found[found["method"] == name], pairs, home / HOME)
        text = layout.render("paper", HOME, above, title=title, body=body)
        files.write_text(home / HOME / f"{name}.html", text)
    files.write_text(home / cells.CSV, found[cells.COLUMNS].to_csv(index=False))


def best(found: pd.DataFrame) -> pd.DataFrame:
    """Return the most accurate proven cell per unit, data set, features and ε.

    One that is no better than at a smaller ε is left out.
    """
    held = cells.proven(found[~found["tried"].eq(True)]).dropna(subset="accuracy")
    held = held.assign(base=held["dataset"].map(base), features=held["dataset"].map(_features))
    ranked = held.sort_values(["base", "epsilon", "accuracy"], ascending=[True, True, False])
    first = ranked.drop_duplicates([*LIKE, "epsilon"])
    before = first.groupby(LIKE)["accuracy"].transform(lambda own: own.cummax().shift())
    return first[~(first["accuracy"] <= before)]


def _features(dataset: str) -> str:
    """Return what a network sees of a data set, such as `scattering features`."""
    return shared("features").get(dataset.removeprefix(f"{base(dataset)}-"), "the data as they are")


def _best(found: pd.DataFrame, home: Path) -> Iterator[Markup]:
    """Yield, of each data set and unit, accuracy against ε and the cells."""
    for (unit, data), rows in best(found).groupby(["unit", "base"], sort=False):
        title, across = datasets.title(data), rows["epsilon"].nunique() > 1
        drawn = ["epsilon", "accuracy", "ci_low", "ci_high"]
        lines = {name: own[drawn].to_numpy(float) for name, own in rows.groupby("features")}
        heading = markup.part("heading", f"{title}: {UNITS[unit]}")
        told = f"Best test accuracy on {title} at each ε, %"
        drawn = [chart.draw(lines, told, np.log)] if across else []
        yield markup.joined(heading, *drawn, *_tables(rows, home, LEADER))


def _tables(rows: pd.DataFrame, home: Path, heads: Iterable[str]) -> list[Markup]:
    """Return a table with these columns per unit of privacy, for units share no column."""
    columns = {head: own for head, own in _columns(home).items() if head in heads}
    units = rows.groupby("unit", sort=False)
    return [markup.table(*rendering.readable(own, columns)) for _, own in units]


def _columns(home: Path) -> dict[str, Column]:
    """Return what pages in `home` show of cells and of pairs."""
    return {
        "first": plain("label"),
        "second": plain("label_other"),
        "first minus second": lambda row: f"{difference(row, '')} (n={row['pairs']})",
        "first, %": partial(_side, of=""),
        "second, %": partial(_side, of="_other"),
        "features": plain("features"),
        "ε": lambda row: number(row["epsilon"]),
        "accuracy, %": _accuracy,
        "method": lambda row: _linked(f"{HOME}/{row['method']}.html", row["label"]) + _public(row),
        "ε certified": cell_words.certified,
        "data": lambda row: datasets.title(row["dataset"]),
        "network": lambda row: ", ".join(filter(None, (row["network"], row["varied"]))),
        "study": partial(_study, home),
        "scale": plain("scale"),
        "privacy": cell_words.privacy,
        "unit": plain("unit"),
        "adjacency": plain("adjacency"),
    }


def _public(row: pd.Series) -> str:
    return PUBLIC * needs_public(row["settings"]["mechanism"])


def _accuracy(row: pd.Series) -> str:
    shown = f"{row['accuracy']:.2f}{ends(row['ci_low'], row['ci_high'], '.2f')}"
    return f"{shown} ({cell_words.seeds(row)})"


def _side(row: pd.Series, of: str) -> str:
    verdict = row[f"privacy{of}"]
    return f"{row[f'accuracy{of}']:.2f}" + f", {verdict}" * (verdict != PROVEN)


def _study(home: Path, row: pd.Series) -> Markup:
    """Return a link to the study of a cell on the page of its paper."""
    page = link(Folder(row["home"]).reports / f"{row['paper']}.html", home)
    return _linked(f"{page}#study-{row['study']}", f"{row['paper']}/{row['study']}")


def _linked(address: str, text: str) -> Markup:
    return Markup('<a href="{}">{}</a>').format(address, text)


def of_method(own: pd.DataFrame, pairs: pd.DataFrame, home: Path) -> Markup:
    """Return the page of a method: what it is, its proof, its cells, and DP-SGD beside it.

    DP-SGD is the first family of components.yaml.
    """
    name, title = own[["method", "label"]].iloc[0]
    declared, family = families.declared(), families.family_of(name)
    first = next(iter(declared.values()))
    once = own.drop_duplicates(["scale", "runs"])  # two studies can share a cell
    against = pairs[pairs["method"].eq(name) & pairs["method_other"].isin(first.methods)]
    return markup.joined(
        markup.part("heading", title, 1),
        markup.part(
            "paragraph", f"`{name}`: {declared[family].title}." if family else f"`{name}`."
        ),
        markup.table(["part", "name", "what it does"], _composition(own)),
        markup.part("heading", "Privacy"),
        markup.listing(privacy_of(own) or ["No cell is private."]),
        *_curves(once),
        markup.part("heading", "Every cell"),
        *_tables(once, home, CELL),
        *[markup.part("heading", f"{title} (first) against {first.title}")][: len(against)],
        *[markup.part("paragraph", PAIRED)][: len(against)],
        *_tables(against, home, PAIR[1:]),
    )


def _composition(own: pd.DataFrame) -> list[list[str]]:
    """Return a line per part of a method: its plug-in, and the first line of that one's file."""
    private = cells.private(own)
    settings = (private if len(private) else own)["settings"]
    parts = dict.fromkeys((part, of[part][PARTS[part][1]]) for part in PARTS for of in settings)
    texts = [ast.get_docstring(plugins.tree(PARTS[part][0], name)) or "" for part, name in parts]
    said = zip(parts, (text.partition("\n")[0] for text in texts), strict=True)
    return [[part, name, line.removeprefix(f"{name}: ")] for (part, name), line in said]


def privacy_of(own: pd.DataFrame) -> list[str]:
    """Count the verdicts on ε, each with what it is due to; say what nothing proves or protects."""
    private = cells.private(own)
    due = private["accountant"].where(private["privacy"] == PROVEN, private["privacy_reasons"])
    verdicts = due.groupby(private["privacy"])
    lines = [f"{v}: {counted(len(of), 'cell')} ({listed(of.unique())})" for v, of in verdicts]
    bare = private[private["eps_certified"].isna()]
    public = private["settings"].map(lambda own: UNPROTECTED * needs_public(own["mechanism"]))
    told = {"No proof": bare["reasons"], "Not seen by an audit": private["audit_blind"]}
    told["Not protected"] = public
    return [
        *lines,
        *(f"{head}: {text}" for head, of in told.items() for text in of.unique() if text),
    ]


def _curves(own: pd.DataFrame) -> Iterator[Markup]:
    """Yield accuracy by round: a figure per study of which all curves are kept."""
    trained = own[~own["tried"].eq(True)]
    for (home, paper, study), of in trained.groupby(["home", "paper", "study"], sort=False):
        rounds = _rounds(Folder(home), f"{paper}/{study}")
        drawn = zip(of["epsilon"].map(setting), of["variant"], of["cell"], strict=True)
        lines = {
            f"{e} {told}": rounds[cell]
            for e, told, cell in drawn
            if len(rounds.get(cell, ())) > FEWEST
        }
        if lines:
            told = f"Test accuracy by round in {paper}/{study}, %"
            yield chart.draw(dict(list(lines.items())[:CURVES]), told)


@cache
def _rounds(folder: Folder, name: str) -> dict[int, np.ndarray]:
    """Return the mean accuracy of each cell by round; nothing if curves are not kept."""
    try:
        found = results.trajectories(folder.study(name), folder.path / "runs", "metrics")
    except results.NotKeptError:
        return {}
    means = 100 * found.groupby(["cell", "round"])["test_accuracy"].mean()
    lines = means.reset_index().assign(low=np.nan, high=np.nan)
    return {cell: own.drop(columns="cell").to_numpy() for cell, own in lines.groupby("cell")}

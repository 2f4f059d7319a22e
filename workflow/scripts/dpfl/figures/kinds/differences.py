"""Paired differences that verdicts rest on: a row per claim, opponent and epsilon.

A mark is the mean over the pairs of seeds that trained on both sides, better minus worse in points
of accuracy, a dot one pair, a bar the interval of the pair at the level of a look, none below three
pairs. They are those of the look that the claim is judged at. A claim on one opponent holds where
its bar lies right of the grey band, which is half the margin on either side of zero. It holds,
small, where it lies right of zero and reaches into the band. The opposite holds where it lies left
of zero. On several opponents the verdict asks for more (Holm). A black diamond is the difference of
the numbers that the paper prints. Hollow: one of the sides has no proof of its epsilon.
"""

import textwrap
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.text import Annotation

from dpfl.base import files
from dpfl.figures import datasets, drawn, findings, keys, looks, style
from dpfl.figures.kinds import _cells, _study
from dpfl.seeds import pairing, verdicts
from dpfl.seeds.looks import LEVEL
from dpfl.tables import results
from dpfl.words import cell_words, forms, numerals
from dpfl.words.vocabulary import in_words

READS_STUDY = ("results/claims/{paper}/claims.csv",)
KINDS = ("ordering", "controls")
"""The kinds of claim whose verdict is one on paired differences."""
WHOLE = "overall"
ROW = 0.27
"""Height of a row, inches."""
FRAME = _cells.Frame(across=True, aside=0.28)
"""Pairs of seeds stand below their mean, by a part of a row."""
BAND = "0.88"
HEAD = 105
"""Letters of a head."""
BOTH = {True: "both have a proof of ε", False: "one has no proof of ε"}
ENDS = {"difference_low": "low", "difference_high": "high"}
VERDICT = ["verdict", "needs", "privacy"]
JUDGED = ["claim", "epsilon", *VERDICT, "difference", *ENDS, "n", "failed", "p_holm"]


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the judged claims of a study's paper, and the runs of the study."""
    path = Path(runs_dir).parent / "claims" / study["paper"] / "claims.csv"
    rows = _compared(study, results.frame(study, runs_dir), files.read_table(path))
    if rows.empty:
        return drawn.nothing(f"{study['title']}: no claim orders two of its cells")
    claims = [own for _, own in rows.groupby("claim", sort=False)]
    figure, axes = style.canvas(panel=(8.4, 1.9 + ROW * (len(rows) + len(claims))))
    ax, y, ticks = axes[0, 0], 0, {}
    half = study["margin"] / 2
    ax.axvspan(-half, half, color=BAND, lw=0, zorder=0, label="_margin")
    ax.axvline(0, color="0.35", linewidth=1, zorder=1, label="_zero")
    for own in claims:
        _head(ax, _title(own), y)
        for number, (_, row) in enumerate(own.iterrows(), start=y + 1):
            _row(ax, row, number)
            ticks[number] = style.literal(_name(row))
        y += 1 + len(own)
    ax.set_yticks(list(ticks), ticks.values(), fontsize=style.SMALL + 0.5)
    ax.set(ylim=(y - 0.4, -0.5), xlabel="points of accuracy, paired by seed")
    ax.grid(visible=False, axis="y")
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.margins(x=0.08)
    _explain(figure, study, rows)
    data = rows.drop(columns=["number", "opponent"])
    return drawn.titled(figure, data, _finding(study, rows), _shows(study, claims))


def _compared(study: dict, runs: pd.DataFrame, judged: pd.DataFrame) -> pd.DataFrame:
    """Return a row per claim, opponent and epsilon of a study, with what `_cells.draw` asks for.

    `better` and `worse` are what the sides are called, `printed` is the difference of the numbers
    that the paper prints for them. Claims on the same pairs with the same verdict are one.
    """
    own = judged[(judged["study"] == study["name"].split("/")[1]) & judged["kind"].isin(KINDS)]
    own = own[(own["part"] != WHOLE) & own["epsilon"].notna() & own["runs"].notna()]
    named = own["runs"].str.split()
    judged_rows = own[JUDGED].rename(columns=ENDS).to_dict("records")
    rows = [
        row | _sides_of(study, runs[runs["run"].isin(names)], sides, row["epsilon"])
        for row, names in zip(judged_rows, named, strict=True)
        if (sides := _sides(study, names))
    ]
    same = ["better", "worse", "epsilon", "verdict", "needs"]
    return pd.DataFrame(rows).drop_duplicates(same, ignore_index=True) if rows else pd.DataFrame()


def _sides(study: dict, runs: list[str]) -> list[int]:
    """Return the cells of the first and of the last run, the better one's first, if these are two.

    Of cells that are the same runs it is the first.
    """
    cells = {run: i for i, c in reversed([*enumerate(study["cells"])]) for run in c["runs"]}
    found = [cells[run] for run in (runs[0], runs[-1]) if run in cells]
    return found if len(set(found)) == 2 else []


def _sides_of(study: dict, runs: pd.DataFrame, sides: list[int], epsilon: float) -> dict[str, Any]:
    """Return what two cells are called, and what their runs and the paper say of them."""
    cells, titles = [study["cells"][i] for i in sides], _study.titles(study)
    both = [runs[runs["cell"] == i] for i in sides]
    alike = cells[0]["method"] == cells[1]["method"]
    named = [_study.tick(study, i) if alike else titles[i] for i in sides]
    lost = [own["epsilon"].where(own["refuted"].astype(bool)) for own in both]
    refuted = [cell_words.marks(True, cell_words.refuted_at(epsilons)) for epsilons in lost]
    prints = [
        {number["value"] for number in cell.get("published", []) if not number.get("by")}
        for cell in cells
    ]
    alone = [len(values) for values in prints] == [1, 1]
    return {
        "better": named[0] + refuted[0],
        "worse": named[1] + refuted[1],
        "opponent": cells[1]["method"],
        "number": sides[1],
        "certified": bool(all(own["certified"].all() for own in both)),
        "seeds": tuple(pairing.differences(*both, [epsilon])),
        "printed": (prints[0].pop() - prints[1].pop(),) if alone else (),
    }


def _title(own: pd.DataFrame) -> str:
    """Return what the rows of a claim are on: whose win it is, and over whom."""
    return f"{own['better'].iloc[0]} against {forms.listed(own['worse'].unique())}"


def _name(row: pd.Series) -> str:
    return f"{row['worse']}, {style.epsilon_text(row['epsilon'])}"


def _head(ax: Axes, text: str, y: int) -> None:
    """Write what a claim is on over its rows, across the figure: it may be long, the rest short."""
    short = style.literal(textwrap.shorten(text, HEAD, placeholder=" …"))
    bold = {"fontsize": style.SMALL + 0.5, "fontweight": "bold", "color": "black"}
    ax.axhspan(y - 0.5, y + 0.5, color="white", linewidth=0, zorder=2, label="_head")
    _write(ax, short, (0.01, y), "figure fraction", **bold).set_in_layout(False)


def _row(ax: Axes, row: pd.Series, y: int) -> None:
    """Draw one difference, in the look of the opponent, with its verdict."""
    look = looks.of_method(row["opponent"]) or looks.look(row["number"])
    cell = row.rename({"difference": "mean"})
    _cells.draw(ax, cell, y, look, f"_{row['claim']}, {_name(row)}", FRAME)
    small = {"fontsize": style.SMALL, "color": looks.INKS[verdicts.tone(row)]}
    told = f"{in_words(row)}; {style.seeds_text([int(row['n'])])}"
    _write(ax, told, (1.015, y), "axes fraction", **small)


def _write(ax: Axes, text: str, at: tuple[float, float], across: str, **look: Any) -> Annotation:
    place = {"xycoords": (across, "data"), "va": "center", "annotation_clip": False}
    return ax.annotate(text, at, **place, **look)


def _explain(figure: Figure, study: dict, rows: pd.DataFrame) -> None:
    handles = [
        Patch(color=BAND, label=f"half the margin of {forms.points(study['margin'])}"),
        *keys.proof(rows["certified"], BOTH),
        *keys.seeds(rows["seeds"].map(len)),
        *keys.printed(rows["printed"].map(bool).any()),
    ]
    failed = " Runs that failed are in no pair." * bool(rows["failed"].any())
    told = f"; bars: {100 * LEVEL:g} % intervals of the pairs"
    bars = told * bool(rows["low"].notna().any())
    text = f"{_study.about(study)} Right of zero the first is better{bars}.{failed}"
    style.note(figure, text + _study.alike(study), handles)


def _finding(study: dict, rows: pd.DataFrame) -> str:
    """Tell how many of the comparisons have which verdict, the commonest first.

    Claims that compare one pair among others may judge it differently. A demonstration has none.
    """
    shown = rows.apply(in_words, axis=1).value_counts()
    found = ". " + "; ".join(f"{count} {word}" for word, count in shown.items())
    pairs = len(rows.drop_duplicates(["better", "worse", "epsilon"]))
    several = f"{len(rows)} verdicts on " * (pairs != len(rows))
    counted = numerals.counted(pairs, "paired comparison")
    said = counted if study["demonstrates"] else f"{several}{counted}{found}"
    if rows["difference"].isna().all():
        return said
    least = rows.loc[rows["difference"].idxmin()]
    where = f"{least['better']} against {least['worse']} {style.at(least['epsilon'])}"
    seeds = style.seeds_text([int(least["n"])])
    return f"{said}. Lowest: {where}, {findings.points(least['difference'])}, {seeds}"


def _shows(study: dict, claims: list[pd.DataFrame]) -> str:
    """Return every difference with its interval and verdict, claim by claim."""

    def sentence(row: pd.Series) -> str:
        words = filter(None, (numerals.difference(row, "", "n"), in_words(row)))
        return f"against {row['worse']} {style.at(row['epsilon'])}: {', '.join(words)}"

    parts = [f"{_title(own)}: {'; '.join(own.apply(sentence, axis=1))}" for own in claims]
    name = datasets.title(study["dataset"])
    return f"Paired differences in points of accuracy on {name}. {'. '.join(parts)}"

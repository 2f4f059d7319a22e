"""The rows of judged claims that compare two cells, with the seeds behind them."""

from pathlib import Path

import numpy as np
import pandas as pd

from dpfl.base import files
from dpfl.figures import datasets, families, findings, style
from dpfl.figures.kinds import _facets
from dpfl.seeds import pairing
from dpfl.tables import results
from dpfl.words import cell_words, forms, numerals
from dpfl.words.vocabulary import DEMONSTRATION

KINDS = ("ordering", "controls")
"""The kinds of claim whose verdict is one on paired differences."""
WHOLE = "overall"
NOT_JUDGED = {DEMONSTRATION: "only shown, not judged"}
NUMBERS = {
    "difference": "difference",
    "difference_low": "low",
    "difference_high": "high",
    "n": "n",
    "failed": "failed",
    "p_holm": "p_holm",
}
FIELDS = ["claim", "better", "worse", "opponent", "number", "epsilon", "certified", "verdict"]
COLUMNS = [*FIELDS, *NUMBERS.values(), "seeds", "printed"]


def of(study: dict, runs: pd.DataFrame, claims: Path) -> pd.DataFrame:
    """Return a row per claim, opponent and epsilon of a study, the columns above.

    `better` and `worse` are what the sides are called, `printed` the difference of the numbers that
    the paper prints for them. Claims on the same pairs with the same verdict are one.
    """
    judged = files.read_table(claims)
    own = judged[(judged["study"] == study["name"].split("/")[1]) & judged["kind"].isin(KINDS)]
    own = own[(own["part"] != WHOLE) & own["epsilon"].notna() & own["runs"].notna()]
    rows = [_row(study, runs, row) for _, row in own.iterrows()]
    table = pd.DataFrame([row for row in rows if row], columns=COLUMNS)
    same = table.drop_duplicates(["better", "worse", "epsilon", "verdict"])
    return same.reset_index(drop=True)


def _row(study: dict, runs: pd.DataFrame, row: pd.Series) -> dict | None:
    """Return what a row of a claim compares; None if its runs are not those of two cells."""
    sides = _sides(study, row)
    if sides is None:
        return None
    better, worse = (runs[runs["cell"] == cell] for cell in sides)
    number = {ours: row[name] for name, ours in NUMBERS.items()}
    names = _names(study, runs, sides)
    return number | {
        "claim": row["claim"],
        "better": names[0],
        "worse": names[1],
        "opponent": study["cells"][sides[1]]["method"],
        "number": sides[1],
        "epsilon": row["epsilon"],
        "certified": bool(better["certified"].all() and worse["certified"].all()),
        "verdict": row["verdict"],
        "seeds": tuple(pairing.differences(better, worse, [row["epsilon"]])),
        "printed": _printed(study, sides),
    }


def _sides(study: dict, row: pd.Series) -> tuple[int, int] | None:
    """Return the cells that a row's runs belong to, the better one's first; None if not two."""
    wanted = row["runs"].split()
    found = []
    for run in (wanted[0], wanted[-1]):
        cells = [i for i, c in enumerate(study["cells"]) if run in c["runs"]]
        found += [cells[0]] if cells else []
    return (found[0], found[1]) if len(found) == 2 and found[0] != found[1] else None


def _names(study: dict, runs: pd.DataFrame, sides: tuple[int, int]) -> list[str]:
    """Return what the sides are called: their methods, or what else tells them apart."""
    methods = [study["cells"][cell]["method"] for cell in sides]
    refuted = [bool(runs.loc[runs["cell"] == cell, "refuted"].any()) for cell in sides]
    if methods[0] == methods[1]:
        names = [_facets.tick(study, cell) for cell in sides]
    else:
        names = [_title(study, cell) for cell in sides]
    marks = [cell_words.marks(certified=True, refuted=own) for own in refuted]
    return [name + mark for name, mark in zip(names, marks, strict=True)]


def _title(study: dict, cell: int) -> str:
    """Return the title of a cell's method, and of all that are the same runs."""
    alike = next(group for group in results.same_runs(study) if cell in group)
    return " = ".join(dict.fromkeys(families.title(study["cells"][i]["method"]) for i in alike))


def _printed(study: dict, sides: tuple[int, int]) -> float:
    """Return the difference of what the paper prints, nan if a side has none, or has several."""
    cells = [study["cells"][cell].get("published", []) for cell in sides]
    own = [[number for number in numbers if not number.get("by")] for numbers in cells]
    values = [{number["value"] for number in numbers} for numbers in own]
    return values[0].pop() - values[1].pop() if [*map(len, values)] == [1, 1] else np.nan


def title(own: pd.DataFrame) -> str:
    """Return what the rows of a claim are on: whose win it is, and over whom."""
    return f"{own['better'].iloc[0]} against {forms.listed(own['worse'].unique())}"


def written(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as a file holds them, the seeds' differences as a text."""
    seeds = [" ".join(f"{value:.10g}" for value in values) for values in rows["seeds"]]
    return rows.drop(columns=["number", "opponent"]).assign(seeds=seeds)


def finding(rows: pd.DataFrame) -> str:
    """Tell how many of the comparisons have which verdict, the commonest first.

    Claims that compare one pair among others may judge it differently.
    """
    counts = rows["verdict"].value_counts()
    told = ", ".join(f"{count} {NOT_JUDGED.get(word, word)}" for word, count in counts.items())
    said = f"{_counted(rows)}: {told}"
    measured = rows[rows["n"] > 0]
    if measured.empty:
        return said
    worst = measured.loc[measured["difference"].idxmin()]
    return (
        f"{said}; worst off is {worst['better']} against {worst['worse']} "
        f"{style.at(worst['epsilon'])}, {findings.points(worst['difference'])}, n = {worst['n']:g}"
    )


def _counted(rows: pd.DataFrame) -> str:
    """Count the comparisons, and the verdicts on them where these are more."""
    pairs = len(rows.drop_duplicates(["better", "worse", "epsilon"]))
    if pairs == len(rows):
        return f"Of {numerals.counted(pairs, 'paired comparison')}"
    return f"Of {len(rows)} verdicts on {numerals.counted(pairs, 'paired comparison')}"


def shows(study: dict, rows: pd.DataFrame) -> str:
    """Return every difference with its interval and verdict, claim by claim."""
    told = [
        f"{title(own)}: {'; '.join(_told(row) for _, row in own.iterrows())}"
        for _, own in rows.groupby("claim", sort=False)
    ]
    return f"Paired differences in points of accuracy on {datasets.of(study)}. {'. '.join(told)}"


def _told(row: pd.Series) -> str:
    told = filter(None, (numerals.difference(row, "", "n"), row["verdict"]))
    where = f"{row['worse']} {style.at(row['epsilon'])}"
    return f"against {where}: {', '.join(told)}"

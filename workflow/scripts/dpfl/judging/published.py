"""The printed numbers of a paper, each beside every cell of ours that it is about.

One row per printed number and cell, open where runs of the cell failed. A number that no cell
stands beside at this scale has one open row, which needs runs, so that none is dropped. One with a
reason why no study runs it is not judged.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from dpfl.papers import published
from dpfl.seeds import audits, looks, outcomes, verdicts
from dpfl.tables import results
from dpfl.words import vocabulary as words

Ran = Iterable[tuple[results.Study, pd.DataFrame]]
"""Studies with their runs, as `results.frame` makes them."""
FIXED = tuple(results.declared("published"))
"""The columns that are no coordinates."""


def table(paper: str, studies: Ran, priced: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Return the table, coordinates before what is printed.

    `priced` holds, for analyses, what stands beside printed losses: columns `line`, `ours`,
    `verdict` and `reading`.
    """
    beside: dict[int, list[dict[str, Any]]] = {}
    for line, row in (*_of_studies(paper, studies), *_of_analyses(priced)):
        beside.setdefault(line, []).append(row)
    rows = [
        _printed(paper, number) | ours
        for number in published.read(paper)
        for ours in beside.get(number.line, [_nothing(number)])
    ]
    return results.table("published", rows, before="printed")


def _nothing(number: published.Printed) -> dict[str, str]:
    return (words.NOT_JUDGED if dict(number.told).get("not_run") else words.NOT_RUN)._asdict()


def _printed(paper: str, number: published.Printed) -> dict[str, Any]:
    return {
        "paper": paper,
        "table": number.table,
        "row": number.row,
        "metric": number.metric,
        **{name: _number(value) for name, value in number.coordinates},
        **dict(number.told),
        "printed": number.value,
    }


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _of_studies(paper: str, studies: Ran) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every cell beside an accuracy that a paper printed, by the line of the number."""
    for study, runs in studies:
        for index, cell in enumerate(study["cells"]):
            own = runs[runs["cell"] == index]
            for number in _printed_by(paper, cell):
                yield number["line"], _cell(study, cell, own, number)
        for cell in study.get("unfinished", []):
            for number in _printed_by(paper, cell):
                place = {"study": study["name"], "method": cell["method"]}
                yield number["line"], place | words.UNFINISHED._asdict() | {"runs": ""}


def _printed_by(paper: str, cell: dict[str, Any]) -> list[dict[str, Any]]:
    return [number for number in cell["published"] if number["paper"] == paper]


def _cell(study: results.Study, cell: dict, own: pd.DataFrame, number: dict) -> dict[str, Any]:
    return {
        "reading": number["reading"],
        "study": study["name"],
        "method": cell["method"],
        "compared": number.get("compared", ""),
        **judged(study, own, number["value"]),
    }


def judged(study: results.Study, own: pd.DataFrame, value: float) -> dict[str, Any]:
    """Return what the runs of a cell say beside a printed number, at the look that decides it."""
    taken = (_judged(study, seen, value) for (seen,) in looks.each(own))
    return looks.first(taken, words.decides)


def _judged(study: results.Study, own: pd.DataFrame, value: float) -> dict[str, Any]:
    measured = verdicts.interval(outcomes.of_trained(own)["accuracy"], looks.LEVEL)
    verdict = verdicts.cell_verdict(measured, value, study["margin"])
    return {
        "ours": measured.mean,
        "ci_low": measured.low,
        "ci_high": measured.high,
        "n": measured.n,
        "failed": len(own) - measured.n,
        "difference": measured.mean - value,
        **decided(study, verdict)._asdict(),
        **audits.of_cell(own),
        "runs": " ".join(dict.fromkeys(own["run"])),
    }


def decided(study: results.Study, verdict: words.Verdict) -> words.Verdict:
    """Return a verdict on a printed number, open in a study that demonstrates or is too short."""
    shorter = study.get("shorter", False)
    return words.DEMONSTRATION if study["demonstrates"] else words.SHORTER if shorter else verdict


def _of_analyses(priced: Mapping[str, pd.DataFrame]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield every price beside a printed loss; a price is computed, so that it has no spread."""
    for name, prices in priced.items():
        for row in prices.to_dict("records"):
            own = {key: row[key] for key in ("reading", "ours", "verdict")} | {"needs": ""}
            own |= {"study": name, "difference": row["ours"] - row["printed"]}
            yield int(row["line"]), own

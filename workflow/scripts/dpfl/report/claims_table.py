"""The table of claims: one line per claim, from the table of judged claims and the papers."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpfl.report import paper, values
from dpfl.report.paper import Paper
from dpfl.tables import fairness
from dpfl.tables.rendering import audited, known, number, rounded_up

OVERALL, NOT_JUDGED = "overall", "not judged"
TONES = {
    **dict.fromkeys(("replicated", "replicated, small", "matches", "wins"), "good"),
    **dict.fromkeys(("not replicated", "reversed", "differs", "does not win"), "bad"),
}
"""Every verdict that decides nothing is drawn as open."""
LAST = {"demonstration": 1, "unfinished": 2, "not run": 3}
"""What answers least stands last."""


@dataclass(frozen=True)
class Line:
    """One claim as a table shows it."""

    paper: str
    claim: str
    key: str
    anchor: str
    where: str
    about: str
    printed: str
    ours: str
    difference: str
    verdict: str
    tone: str
    epsilons: str
    privacy: str
    remarks: str


def read(path: Path) -> pd.DataFrame:
    """Read a table of judged claims."""
    return values.read(path)


def lines(claims: pd.DataFrame, papers: Mapping[str, Paper]) -> list[Line]:
    """Return a line per judged claim, in the order of LAST, of the papers and of their claims."""
    spans = _spans(claims)
    found = [
        _line(row | spans.get((row["paper"], row["claim"]), {}), papers[row["paper"]])
        for row in _ordered(claims, papers)
        if _judged(row)
    ]
    return sorted(found, key=lambda line: LAST.get(line.verdict, 0))


def not_judged(claims: pd.DataFrame, papers: Mapping[str, Paper]) -> dict[str, int]:
    """Return how many claims of each paper are not judged, of those that have some."""
    counts = dict.fromkeys(papers, 0)
    for row in _ordered(claims, papers):
        counts[row["paper"]] += not _judged(row)
    return {key: count for key, count in counts.items() if count}


def tally(shown: Iterable[Line]) -> str:
    """Count the verdicts, such as `3 replicated, 1 reversed`."""
    counts = pd.Series([line.verdict for line in shown], dtype=str).value_counts(sort=False)
    return ", ".join(f"{count} {verdict}" for verdict, count in counts.items())


def parts(claims: pd.DataFrame, claim: str) -> list[dict]:
    """Return the rows of one claim, the claim as a whole first."""
    return claims[claims["claim"] == claim].to_dict("records")


def ours(row: Mapping) -> str:
    """Return what was found, `96.3 [96.0, 96.6] (n=5)`."""
    n = f"n={row['n']:g}" if known(row["n"]) and row["n"] else ""
    failed = f"{row['failed']:g} failed" if known(row.get("failed")) and row["failed"] else ""
    after = ", ".join(filter(None, (n, failed)))
    ends = _ends(row, "ours_low", "ours_high", ".2f")
    text = f"{_number(row['ours'])}{ends}"
    return f"{text} ({after})" if text and after else text or after


def difference(row: Mapping) -> str:
    """Return the difference that decides, `+0.42 [+0.10, +0.74]`."""
    if not known(row["difference"]):
        return ""
    return f"{row['difference']:+.2f}{_ends(row, 'difference_low', 'difference_high', '+.2f')}"


def epsilons(row: Mapping) -> str:
    """Return the claimed, certified and audited epsilon in this order."""
    if not known(row["eps_claimed"]):
        return ""
    certified = row["eps_certified"]
    proven = rounded_up(float(certified)) if known(certified) else "none"
    return " / ".join((_short(row["eps_claimed"]), proven, audited(row)))


def remarks(row: Mapping) -> str:
    """Say what stands beside what is printed, how sides were tuned, and what a gain would take."""
    weak, needed, lucky = (row[key] for key in ("weak_baseline", "needed_n", "lucky_gain"))
    found = [
        str(row["compared"]) if known(row.get("compared")) else "",
        fairness.SAID.get(row.get("tuning"), ""),
        "the printed baseline is weak" if weak is True else "",
        f"{needed:g} seeds would show the printed gain" if known(needed) else "",
        f"the best 3 of 10 seeds would gain {_number(lucky)}" if known(lucky) else "",
    ]
    return "; ".join(filter(None, found))


def _line(row: Mapping, of: Paper) -> Line:
    claim = of.claims.get(row["claim"], {"quote": row["claim"], "where": ""})
    return Line(
        paper=of.short,
        claim=paper.saying(claim),
        key=of.key,
        anchor=paper.anchor(row["claim"]),
        where=claim["where"],
        about=row["about"],
        printed=_number(row["printed"]),
        ours=ours(row),
        difference=difference(row),
        verdict=row["verdict"],
        tone=TONES.get(row["verdict"], "open"),
        epsilons=epsilons(row),
        privacy=row["privacy"],
        remarks=remarks(row),
    )


def _spans(claims: pd.DataFrame) -> dict[tuple[str, str], dict[str, str]]:
    """Return from where to where the printed numbers of a claim go, if it is on several."""
    parts = claims[(claims["part"] != OVERALL) & claims["printed"].notna()]
    return {
        name: {"printed": f"{_number(own.min())} to {_number(own.max())}"}
        for name, own in parts.groupby(["paper", "claim"])["printed"]
        if own.nunique() > 1
    }


def _ordered(claims: pd.DataFrame, papers: Mapping[str, Paper]) -> Iterator[dict]:
    """Yield the row of every claim as a whole, in the papers' order."""
    whole = claims[(claims["part"] == OVERALL) & claims["paper"].isin(list(papers))]
    rows = {(row["paper"], row["claim"]): row for row in whole.to_dict("records")}
    order = [(key, claim) for key, of in papers.items() for claim in of.claims]
    yield from (rows[name] for name in dict.fromkeys([*order, *rows]) if name in rows)


def _judged(row: Mapping) -> bool:
    return row["verdict"] != NOT_JUDGED


def _ends(row: Mapping, low: str, high: str, form: str) -> str:
    return f" [{row[low]:{form}}, {row[high]:{form}}]" if known(row[low]) else ""


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) and known(value) else _short(value)


def _short(value: object) -> str:
    if not known(value):
        return ""
    return number(value, "{:g}") if isinstance(value, float) else str(value)

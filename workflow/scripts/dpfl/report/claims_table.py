"""The table of claims: one line per claim, from judged claims and the papers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import pandas as pd

from dpfl.papers import measures
from dpfl.report import chips, deciding, forest, kind, paper, units
from dpfl.report.judged import Source
from dpfl.report.paper import Paper
from dpfl.seeds import verdicts
from dpfl.tables import fairness
from dpfl.words.cell_words import audited
from dpfl.words.numerals import known, number, rounded_up
from dpfl.words.vocabulary import (
    DEMONSTRATION,
    FAILS,
    HOLDS,
    NOT_JUDGED,
    NOT_RUN,
    UNFINISHED,
    WITHDRAWN,
)

OVERALL = "overall"
PRICE = "privacy-loss"
"""The kind of claims that are judged by what an accountant says of a plan."""

TONES = {**dict.fromkeys(HOLDS, "good"), **dict.fromkeys(FAILS, "bad")}
"""Every verdict that decides nothing is drawn as open."""
LAST = {DEMONSTRATION: 1, UNFINISHED: 2, NOT_RUN: 3}
"""What answers least stands last."""


@dataclass(frozen=True)
class Line:
    """One claim as a table shows it; `short` is it in a few words, `claim` in full."""

    paper: str
    link: str
    short: str
    claim: str
    key: str
    kind: str
    page: str
    scale: str
    anchor: str
    where: str
    about: str
    printed: str
    ours: str
    difference: str
    part: str
    n: str
    bar: forest.Bar | None
    verdict: str
    tone: str
    chips: tuple[chips.Chip, ...]
    certified: str
    privacy: str
    remarks: tuple[str, ...]
    runs: str
    also: tuple["Line", ...] = ()
    """Other claims with the same finding of the same runs."""

    @property
    def identity(self) -> tuple[str, ...]:
        """Return what says which claim it is, whatever the scale."""
        return self.key, self.where, self.claim

    @property
    def finding(self) -> tuple[str, ...]:
        """Return what two claims share that the same runs answer alike."""
        return self.page, self.runs, self.verdict, self.part, self.difference, self.ours


def lines(sources: Iterable[Source], papers: Mapping[str, Paper]) -> list[Line]:
    """Return the lines of judged claims, in the order of LAST, of the sources and of their claims.

    A claim that one source does not run has no line of that where another source has one.
    """
    found = [line for source in sources for line in _lines(source, papers[source.paper])]
    return together(once(sorted(found, key=lambda line: LAST.get(line.verdict, 0))))


def together(found: Iterable[Line]) -> list[Line]:
    """Put claims with the same finding of the same runs into the line of the first of them."""
    groups: dict[tuple, list[Line]] = {}
    for place, line in enumerate(found):
        groups.setdefault(line.finding if line.runs else (place,), []).append(line)
    return [replace(first, also=tuple(others)) for first, *others in groups.values()]


def once(found: Iterable[Line]) -> Iterator[Line]:
    """Yield lines without those that tell nothing new of a claim.

    What was not run is told of claims that no line before tells, and a price, which needs no runs
    and is the same at every scale, once.
    """
    told = set()
    for line in found:
        if line.identity not in told or (line.verdict != NOT_RUN and line.kind != PRICE):
            yield line
        told.add(line.identity)


def not_judged(source: Source, of: Paper) -> int:
    """Return how many claims of a paper are not judged."""
    return sum(not _judged(row) for row in _ordered(source.claims, of))


def each(shown: Iterable[Line]) -> Iterator[Line]:
    """Yield the line of every claim, also of those that stand in the line of another."""
    for line in shown:
        yield from (line, *line.also)


def tally(verdicts: Iterable[str]) -> str:
    """Count verdicts, such as `3 replicated, 1 reversed`."""
    return ", ".join(f"{count} {verdict}" for verdict, count in Counter(verdicts).items())


def by_claim(claims: pd.DataFrame) -> dict[str, list[dict]]:
    """Return the rows of every claim, the claim as a whole first."""
    found: dict[str, list[dict]] = {}
    for row in claims.to_dict("records"):
        found.setdefault(row["claim"], []).append(row)
    return found


def span(rows: Iterable[Mapping], column: str) -> str:
    """Return from where to where the numbers of some rows go, such as `0.31 to 2.71`."""
    found = sorted({row[column] for row in rows if known(row[column])})
    return " to ".join(_number(value) for value in dict.fromkeys(found[:1] + found[-1:]))


def ours(row: Mapping) -> str:
    """Return what was found, `96.3 [96.0, 96.6] (n=5)`; nothing where only a difference was."""
    if not known(row["ours"]):
        return ""
    text, after = f"{_number(row['ours'])}{_ends(row, 'ours_low', 'ours_high', '.2f')}", seeds(row)
    return f"{text} ({after})" if after else text


def seeds(row: Mapping) -> str:
    """Return how many seeds a row counts, and how many runs failed: `n=5, 1 failed`."""
    n = f"n={row['n']:g}" if known(row["n"]) and row["n"] else ""
    failed = f"{row['failed']:g} failed" if known(row.get("failed")) and row["failed"] else ""
    return ", ".join(filter(None, (n, failed)))


def difference(row: Mapping) -> str:
    """Return a difference in its unit, `+0.42 [+0.10, +0.74] points`."""
    if not known(row["difference"]):
        return ""
    ends = _ends(row, "difference_low", "difference_high", "+.2f")
    return f"{row['difference']:+.2f}{ends} {kind.unit(row['kind'])}".strip()


def epsilons(row: Mapping) -> str:
    """Return the claimed, certified and audited epsilon in this order, and what is to be added."""
    if not known(row["eps_claimed"]):
        return ""
    certified = row["eps_certified"]
    proven = rounded_up(float(certified)) if known(certified) else "none"
    refuted = f", {row['privacy']}" if row["privacy"] in verdicts.REFUTED else ""
    of = units.level(row)
    return " / ".join((_short(row["eps_claimed"]), proven, f"{audited(row)}{refuted}{of}"))


def remarks(row: Mapping) -> tuple[str, ...]:
    """Say what stands beside what is printed, how sides were tuned, and what a gain would take."""
    weak, needed, lucky = (row[key] for key in ("weak_baseline", "needed_n", "lucky_gain"))
    found = [
        str(row["compared"]) if known(row.get("compared")) else "",
        fairness.SAID.get(row.get("tuning"), ""),
        "the printed baseline is weak" if weak is True else "",
        f"{needed:g} seeds would show the printed gain" if known(needed) else "",
        f"the best 3 of 10 seeds would gain {_number(lucky)}" if known(lucky) else "",
    ]
    return tuple(filter(None, found))


def _lines(source: Source, of: Paper) -> Iterator[Line]:
    rows = by_claim(source.claims)
    for row in _ordered(source.claims, of):
        if _judged(row):
            yield _line(row, rows[row["claim"]], source, of)


def _line(row: Mapping, rows: list[dict], source: Source, of: Paper) -> Line:
    claim = of.claims.get(row["claim"], {"quote": row["claim"], "where": ""})
    whole, *own = rows
    part = deciding.of(whole, own)
    by = measures.by(of.about, claim.get("table", ""))
    why = [claim[WITHDRAWN]["reason"]] if row["verdict"] == WITHDRAWN else []
    return Line(
        paper=of.short,
        link=of.link,
        short=claim.get("short") or paper.saying(claim),
        claim=paper.saying(claim),
        key=of.key,
        kind=row["kind"],
        page=source.page,
        scale=source.scale,
        anchor=source.place(row["claim"]),
        where=claim["where"],
        about=deciding.spelled(row["about"]),
        printed=_from(span([whole, *own], "printed"), by),
        ours=ours(row) or span(own, "ours"),
        difference=difference(part),
        part=deciding.words(whole, own),
        n="" if known(row["ours"]) else seeds(part),
        bar=forest.of(part, own, source.margin(row["study"]), by),
        verdict=row["verdict"],
        tone=TONES.get(row["verdict"], "open"),
        chips=chips.of(row),
        certified=chips.certified(row),
        privacy=row["privacy"] if known(row["privacy"]) else "",
        remarks=(*why, *remarks(row)),
        runs=row["runs"] if known(row["runs"]) else "",
    )


def _from(printed: str, by: str) -> str:
    """Return printed numbers with the other paper that they come from."""
    return f"{printed} in {by}, of a rerun" if printed and by else printed


def _ordered(claims: pd.DataFrame, of: Paper) -> Iterator[dict]:
    """Yield the row of every claim as a whole, in the paper's order."""
    whole = claims[claims["part"] == OVERALL]
    rows = {row["claim"]: row for row in whole.to_dict("records")}
    yield from (rows[name] for name in dict.fromkeys([*of.claims, *rows]) if name in rows)


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

"""The table of claims: one line per claim, from judged claims and the papers."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from dpfl.figures import families
from dpfl.judging import claims
from dpfl.papers import measures
from dpfl.report import chips, forest, paper
from dpfl.report.judged import Source
from dpfl.report.paper import Paper
from dpfl.seeds import conjunction
from dpfl.tables import fairness
from dpfl.words import numerals
from dpfl.words.numerals import known, number
from dpfl.words.vocabulary import (
    DEMONSTRATION,
    FAILS,
    HOLDS,
    NOT_JUDGED,
    NOT_RUN,
    UNFINISHED,
)

OVERALL = "overall"
PRICE = "privacy-loss"
"""The kind of claims that are judged by what an accountant says of a plan."""

TONES = {**dict.fromkeys(HOLDS, "good"), **dict.fromkeys(FAILS, "bad")}
"""Every verdict that decides nothing is drawn as open."""
LAST = {DEMONSTRATION: 1, UNFINISHED: 2, NOT_RUN: 3}
"""What answers least stands last."""
PARTS = ["compared", "printed", "ours", "difference", "p after Holm", "verdict", "ε"]
"""The heads of what a claim is made of; ε are those claimed, certified and audited."""


@dataclass(frozen=True)
class Line:
    """One claim as a table shows it; `short` is it in a few words, `claim` in full."""

    paper: str
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
    return sum(row["verdict"] == NOT_JUDGED for row in _ordered(source.claims, of))


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


def part(row: Mapping) -> list[str]:
    """Return what one row of a claim says, under PARTS."""
    n = seeds(row)
    return [
        spelled(row["about"]),
        span([row], "printed"),
        ours(row),
        difference(row) + f" ({n})" * bool(n and not known(row["ours"])),
        numerals.p_text(row["p_holm"]) if known(row["p_holm"]) else "",
        row["verdict"],
        chips.text(chips.of(row)),
    ]


def span(rows: Iterable[Mapping], column: str) -> str:
    """Return from where to where the numbers of some rows go, such as `0.31 to 2.71`."""
    found = sorted({row[column] for row in rows if known(row[column])})
    return " to ".join(_number(value) for value in dict.fromkeys(found[:1] + found[-1:]))


def ours(row: Mapping) -> str:
    """Return what was found, `96.3 [96.0, 96.6] (n=5)`; nothing where only a difference was."""
    if not known(row["ours"]):
        return ""
    text = _number(row["ours"]) + numerals.ends(row["ours_low"], row["ours_high"], ".2f")
    after = seeds(row)
    return f"{text} ({after})" if after else text


def seeds(row: Mapping) -> str:
    """Return how many seeds a row counts, and how many runs failed: `n=5, 1 failed`."""
    n = f"n={row['n']:g}" if known(row["n"]) and row["n"] else ""
    failed = f"{row['failed']:g} failed" if known(row.get("failed")) and row["failed"] else ""
    return ", ".join(filter(None, (n, failed)))


def difference(row: Mapping) -> str:
    """Return a difference in the unit of its kind, `+0.42 [+0.10, +0.74] points`."""
    unit = claims.unit(row["kind"]) if known(row["difference"]) else ""
    return numerals.difference(row, unit)


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


def deciding(whole: Mapping, parts: Sequence[Mapping]) -> Mapping:
    """Return the row of the part whose numbers stand for the claim, at one epsilon if there is one.

    Printed numbers, each with a verdict of its own, are told as a whole.
    """
    ran = _compared(parts)
    printed = any(known(row["printed"]) for row in (whole, *parts))
    if not ran or (printed and not known(whole["difference"])):
        return whole
    return conjunction.deciding(ran, whole["verdict"])


def deciding_words(whole: Mapping, parts: Sequence[Mapping]) -> str:
    """Return which part that is, such as `against SGD, ε 8, worst of 6`; nothing without any."""
    own, count = deciding(whole, parts), len(_compared(parts))
    if known(whole["printed"]) or (own is whole and not known(whole["difference"])):
        return ""
    name = own["about"] if own is whole else own["part"]
    return spelled(f"{name}, worst of {count}" if count > 1 else name)


def spelled(name: str) -> str:
    """Return the name of a part for readers: titles of methods, the sign of epsilon."""
    return families.named(name.replace("epsilon ", "ε "))


def _compared(parts: Sequence[Mapping]) -> list[Mapping]:
    """Return the parts that ran, those at one epsilon or all where none names one."""
    ran = [row for row in parts if row["verdict"] != NOT_RUN]
    return [row for row in ran if known(row["epsilon"])] or ran


def _lines(source: Source, of: Paper) -> Iterator[Line]:
    rows = by_claim(source.claims)
    for row in _ordered(source.claims, of):
        if row["verdict"] != NOT_JUDGED:
            yield _line(row, rows[row["claim"]], source, of)


def _line(row: Mapping, rows: list[dict], source: Source, of: Paper) -> Line:
    claim = of.claims.get(row["claim"], {"quote": row["claim"], "where": ""})
    whole, *own = rows
    decides = deciding(whole, own)
    by = measures.by(of.about, claim.get("table", ""))
    why = [row["about"]] if row["verdict"] == UNFINISHED else []
    return Line(
        paper=of.short,
        short=claim.get("short") or paper.saying(claim),
        claim=paper.saying(claim),
        key=of.key,
        kind=row["kind"],
        page=source.page,
        scale=source.scale,
        anchor=source.place(row["claim"]),
        where=claim["where"],
        about=spelled(row["about"]),
        printed=_from(span(rows, "printed"), by),
        ours=ours(row) or span(own, "ours"),
        difference=difference(decides),
        part=deciding_words(whole, own),
        n="" if known(row["ours"]) else seeds(decides),
        bar=forest.of(decides, own, source.margin(row["study"]), by),
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


def _number(value: object) -> str:
    return number(value, "{:.4g}") if isinstance(value, float) else str(value)

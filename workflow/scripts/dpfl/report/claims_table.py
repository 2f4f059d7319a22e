"""The table of claims: one line per claim, from judged claims and the papers."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from markupsafe import Markup

from dpfl import plugins
from dpfl.figures import datasets, families
from dpfl.judging import claims
from dpfl.papers import published
from dpfl.papers.datasets import base
from dpfl.report import forest, markup, paper
from dpfl.report.judged import Source
from dpfl.seeds import conjunction, fairness, verdicts
from dpfl.words import cell_words, numerals, vocabulary
from dpfl.words.numerals import known, number

Epsilon = tuple[str, str, str]
"""Which it is, its value, and whether that is good, bad or open."""
PARTS = ["compared", "printed", "ours", "difference", "p after Holm", "verdict", "ε"]
"""The heads of what a claim is made of; ε are those claimed, certified and audited."""
DIGITS = "{:.4g}"
WHOLE = ("kind", "verdict", "needs", "privacy", "printed", "ours", "ours_low", "ours_high")
EPSILONS = ("eps_claimed", "eps_certified", "eps_audited")
DECIDING = ("n", "difference", "difference_low", "difference_high", *EPSILONS)
"""What readers may download of a claim as a whole, its ε as `worst_`, and of the deciding part."""


@dataclass(frozen=True)
class Line:
    """One claim as a table shows it: `claim` is as paper.yaml has it, `short` a few words.

    `record` is what may be downloaded.
    """

    source: Source
    claim: Mapping[str, Any]
    short: str
    anchor: str
    printed: str
    ours: str
    difference: str
    part: str
    n: str
    bar: forest.Bar | None
    verdict: vocabulary.Verdict
    shown: str
    privacy: str
    epsilons: tuple[Epsilon, ...]
    remarks: tuple[str, ...]
    runs: str
    record: dict[str, Any]
    parts: list[list[str]]

    @property
    def identity(self) -> tuple[str, ...]:
        """Return what says which claim it is, whatever the scale."""
        return self.source.of.key, self.claim["id"]

    @property
    def compares(self) -> bool:
        """Tell whether it is of a better method; a kind that `asks` is of equal ones."""
        optional = plugins.constant("judging/kinds", self.record["kind"], "OPTIONAL", ())
        return "better" in self.claim and "asks" not in optional

    @property
    def quote(self) -> str:
        """Return the claim in full."""
        return paper.saying(self.claim)

    @property
    def tone(self) -> str:
        """Return the colour of its verdict."""
        return verdicts.tone(self.verdict._asdict() | {"privacy": self.privacy})


def lines(sources: Iterable[Source]) -> list[Line]:
    """Return the lines of judged claims, in the order of sources; what answers least is last."""
    found = (
        _line(source.of.claims[rows[0]["claim"]], rows, source)
        for source in sources
        for rows in by_claim(source.claims)
        if rows[0]["verdict"] != vocabulary.NOT_JUDGED.verdict
    )
    order = {verdict: place for place, verdict in enumerate(vocabulary.UNJUDGED, 1)}
    return list(once(sorted(found, key=lambda line: order.get(line.verdict, 0))))


def once(found: Iterable[Line]) -> Iterator[Line]:
    """Yield lines without those that tell nothing new of a claim.

    What needs no runs, such as a price, and what has none, is told once, not at every scale.
    """
    told = set()
    for line in found:
        if line.runs or line.identity not in told:
            yield line
        told.add(line.identity)


def by_claim(claims: pd.DataFrame) -> list[list[dict]]:
    """Return the rows of every claim by each of its studies, the claim as a whole first."""
    groups = claims.groupby(["claim", "study"], sort=False, dropna=False)
    return [rows.to_dict("records") for _, rows in groups]


def in_full(found: list[Line], title: str) -> Markup:
    """Return the table of some lines with quotes, parts and remarks.

    Claims that were not run are only named.
    """
    ran = [line for line in found if line.verdict != vocabulary.NOT_RUN]
    heads = [head for head in ("printed", "ours") if any(getattr(x, head) for x in ran)]
    left = [(line.anchor, line.short) for line in found if line.verdict == vocabulary.NOT_RUN]
    return markup.part("claims", ran, heads, title, PARTS, left)


def part(row: Mapping) -> list[str]:
    """Return what one row of a claim says, under PARTS."""
    n = seeds(row)
    return [
        spelled(row["about"]),
        span([row], "printed"),
        ours(row),
        claims.words(row) + f" ({n})" * bool(n and not known(row["ours"])),
        numerals.p_text(row["p_holm"]) if known(row["p_holm"]) else "",
        vocabulary.in_words(row),
        in_a_row(epsilons(row)),
    ]


def epsilons(row: Mapping, unit: str = "example") -> tuple[Epsilon, ...]:
    """Return ε claimed, certified and audited of a row, none where nothing is private.

    One that protects a client says so; an example goes unsaid.
    """
    if not known(row["eps_claimed"]) or math.isinf(row["eps_claimed"]):
        return ()
    claimed = number(row["eps_claimed"], "{:g}") + ", client-level" * (unit == "client")
    proof, refuted = row["eps_certified"], row["privacy"] in vocabulary.BEATEN
    proven = f"≤ {numerals.rounded_up(float(proof))}" if known(proof) else "no proof"
    audited = cell_words.audited(row) + ", refuted" * refuted
    tone = "bad" if refuted else "open"
    return (
        ("claimed", claimed, "open"),
        ("certified", proven, "good" if known(proof) else "bad"),
        ("audited", audited, tone),
    )


def _beaten_elsewhere(whole: Mapping, budget: Mapping) -> tuple[Epsilon, ...]:
    """Return where an attack refutes the claim's ε, if not at that of the deciding part."""
    beaten = [row["privacy"] in vocabulary.BEATEN for row in (whole, budget)]
    at = number(whole["eps_claimed"], "{:g}")
    return (("elsewhere", f"{whole['privacy']} at ε {at}", "bad"),) * (beaten == [True, False])


def in_a_row(found: Iterable[Epsilon]) -> str:
    """Return three ε in one line: `8 / ≤ 8 / ≥ 7.97`."""
    return " / ".join(value for _, value, _ in found)


def span(rows: Iterable[Mapping], column: str) -> str:
    """Return from where to where the numbers of some rows go, such as `0.31 to 2.71`."""
    found = sorted({row[column] for row in rows if known(row[column])})
    ends = dict.fromkeys(found[:1] + found[-1:])
    return " to ".join(numerals.text(value, DIGITS) for value in ends)


def ours(row: Mapping) -> str:
    """Return what was found, `96.3 [96.0, 96.6] (n=5)`; nothing where only a difference was."""
    if not known(row["ours"]):
        return ""
    interval, after = numerals.ends(row["ours_low"], row["ours_high"], ".2f"), seeds(row)
    return numerals.text(row["ours"], DIGITS) + interval + f" ({after})" * bool(after)


def seeds(row: Mapping) -> str:
    """Return how many seeds a row counts, and how many runs failed: `n=5, 1 failed`."""
    n = f"n={row['n']:g}" if known(row["n"]) and row["n"] else ""
    failed = f"{row['failed']:g} failed" if known(row.get("failed")) and row["failed"] else ""
    return ", ".join(filter(None, (n, failed)))


def remarks(row: Mapping) -> tuple[str, ...]:
    """Say what stands beside what is printed, how sides were tuned, and what a gain would take."""
    weak, needed, lucky = (row[key] for key in ("weak_baseline", "needed_n", "lucky_gain"))
    lacks = vocabulary.verdict_of(row) in (vocabulary.UNFINISHED, vocabulary.NOT_KEPT)
    found = [
        row["about"] if lacks else "",  # some of its runs
        str(row["compared"]) if known(row.get("compared")) else "",
        fairness.SAID.get(row.get("tuning"), ""),
        "the printed baseline is weak" if weak is True else "",
        f"{needed:g} seeds would show the printed gain" if known(needed) else "",
        f"the best 3 of 10 seeds would gain {numerals.text(lucky, DIGITS)}" if known(lucky) else "",
    ]
    return tuple(filter(None, found))


def deciding(whole: Mapping, parts: Sequence[Mapping]) -> Mapping:
    """Return the row of the part whose numbers stand for the claim, at one epsilon if there is one.

    Printed numbers, each with a verdict of its own, are told as a whole.
    """
    ran = _compared(whole, parts)
    printed = any(known(row["printed"]) for row in (whole, *parts))
    if not ran or (printed and not known(whole["difference"])):
        return whole
    return conjunction.deciding(ran, vocabulary.verdict_of(whole))


def deciding_words(whole: Mapping, parts: Sequence[Mapping]) -> str:
    """Return which part that is, such as `against SGD, ε 8, lowest of 6`; nothing without any."""
    own, count = deciding(whole, parts), len(_compared(whole, parts))
    if known(whole["printed"]) or (own is whole and not known(whole["difference"])):
        return ""
    name = own["about"] if own is whole else own["part"]
    return spelled(f"{name}, lowest of {count}" if count > 1 else name)


def spelled(name: str) -> str:
    """Return the name of a part for readers: titles of methods, the sign of epsilon."""
    return families.named(name.replace("epsilon ", "ε "))


def _compared(whole: Mapping, parts: Sequence[Mapping]) -> list[Mapping]:
    """Return the parts that ran, those at one epsilon or all where none names one.

    Those with runs of another study are of a gap to it: they count only where one of them decides.
    """
    every = [row for row in parts if vocabulary.verdict_of(row) != vocabulary.NOT_RUN]
    ran = [row for row in every if known(row["epsilon"])] or every
    own = [row for row in ran if {*str(row["runs"]).split()} <= {*str(whole["runs"]).split()}]
    return own if any(row["difference"] == whole["difference"] for row in own) else ran


def _line(claim: dict, rows: list[dict], source: Source) -> Line:
    (whole, *own), of = rows, source.of
    decides = deciding(whole, own)
    by, printed = published.by(of.about, claim.get("table", "")), span(rows, "printed")
    study = source.study(whole["study"])
    budget = decides if known(decides["eps_claimed"]) else whole
    told = {**decides, **{name: budget[name] for name in EPSILONS}}
    unit = next((cell["unit"] for cell in study.get("cells", [])), "example")
    first, *more = claim["study"] if isinstance(claim.get("study"), list) else [""]
    also = whole["study"] in more  # the first study of a claim needs no name
    alike = also and source.study(first).get("dataset") == study.get("dataset")
    name = claim.get("short") or paper.saying(claim)
    return Line(
        source,
        claim,
        short=name + f" ({study.get('title', whole['study'])})" * also,
        anchor=source.place(f"{claim['id']}-{whole['study']}" if also else claim["id"]),
        printed=f"{printed} in {by}, of a rerun" if printed and by else printed,
        ours=ours(whole) or span(own, "ours"),
        difference=claims.words(decides),
        part=deciding_words(whole, own),
        n="" if known(whole["ours"]) else seeds(decides),
        bar=forest.bar_of(decides, own, claim.get("margin", study.get("margin", 0.0)), bool(by)),
        verdict=vocabulary.verdict_of(whole),
        shown=vocabulary.in_words(whole),
        privacy=whole["privacy"] if known(whole["privacy"]) else "",
        epsilons=(*epsilons(budget, unit), *_beaten_elsewhere(whole, budget)),
        remarks=remarks(whole),
        runs=whole["runs"] if known(whole["runs"]) else "",
        record=_record(source, claim["id"], f"-{whole['study']}" * alike, whole, told),
        parts=[part(row) for row in own],
    )


def _record(source: Source, claim: str, more: str, whole: dict, decides: Mapping) -> dict[str, Any]:
    """Return what may be downloaded of a claim; None is unknown, or where nothing is private."""
    data, key = source.study(whole["study"]).get("dataset", source.scale), source.of.key
    about = {"id": f"{key}-{claim}{more}", "paper": key, "claim": claim, "scale": source.scale}
    about["data"] = datasets.title(base(data)) if data in plugins.names("data") else data
    facts = {name: whole[name] for name in WHOLE} | {name: decides[name] for name in DECIDING}
    facts |= {f"worst_{name}": whole[name] for name in EPSILONS}
    is_result = vocabulary.verdict_of(whole) not in vocabulary.UNJUDGED
    facts |= {"decided_by": decides["about"], "is_result": is_result}
    return about | {n: v if known(v) and v != math.inf else None for n, v in facts.items()}

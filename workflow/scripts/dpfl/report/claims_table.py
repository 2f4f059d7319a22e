"""The table of claims: one line per claim, from judged claims and the papers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dpfl.figures import datasets, families
from dpfl.judging import claims
from dpfl.papers import published
from dpfl.papers.datasets import base
from dpfl.report import chips, forest, paper
from dpfl.report.judged import Source
from dpfl.seeds import conjunction, fairness
from dpfl.words import numerals, vocabulary
from dpfl.words.numerals import known, number

TONES = {**dict.fromkeys(vocabulary.GOOD, "good"), **dict.fromkeys(vocabulary.BAD, "bad")}
"""Every verdict that decides nothing, or holds without a proof, is drawn as open."""
PARTS = ["compared", "printed", "ours", "difference", "p after Holm", "verdict", "ε"]
"""The heads of what a claim is made of; ε are those claimed, certified and audited."""


@dataclass(frozen=True)
class Line:
    """One claim as a table shows it; `short` is it in a few words, `claim` in full.

    `data` is the data set; `compares` says that the claim is of one method against others.
    """

    paper: str
    id: str
    short: str
    claim: str
    key: str
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
    shown: str
    needs: str
    tone: str
    chips: tuple[chips.Chip, ...]
    privacy: str
    remarks: tuple[str, ...]
    runs: str
    kind: str
    data: str
    compares: bool
    claimed: float
    audited: float

    @property
    def unproven(self) -> bool:
        """Tell whether what holds of it lacks a privacy proof."""
        return self.shown != self.verdict and not self.needs

    @property
    def identity(self) -> tuple[str, ...]:
        """Return what says which claim it is, whatever the scale."""
        return self.key, self.id


def lines(sources: Iterable[Source]) -> list[Line]:
    """Return the lines of judged claims, of the sources and of their claims in their order."""
    found = (
        _line(source.of.claims[name], rows, source)
        for source in sources
        for name, each in by_claim(source.claims).items()
        for rows in each
        if rows[0]["verdict"] != vocabulary.NOT_JUDGED.verdict
    )
    return list(once(answered_first(found)))


def answered_first(found: Iterable[Line]) -> list[Line]:
    """Return lines in their order, but what answers least last."""
    order = {own.needs: place for place, own in enumerate(vocabulary.UNJUDGED, 1)}
    return sorted(found, key=lambda line: order.get(line.needs, 0) if line.needs else 0)


def once(found: Iterable[Line]) -> Iterator[Line]:
    """Yield lines without those that tell nothing new of a claim.

    What needs no runs, such as a price, and what has none, is told once, not at every scale.
    """
    told = set()
    for line in found:
        if line.runs or line.identity not in told:
            yield line
        told.add(line.identity)


def by_claim(claims: pd.DataFrame) -> dict[str, list[list[dict]]]:
    """Return the rows of every claim by each of its studies, the claim as a whole first."""
    found: dict[str, dict[str, list[dict]]] = {}
    for row in claims.to_dict("records"):
        found.setdefault(row["claim"], {}).setdefault(row["study"], []).append(row)
    return {name: list(own.values()) for name, own in found.items()}


def part(row: Mapping) -> list[str]:
    """Return what one row of a claim says, under PARTS."""
    n = seeds(row)
    return [
        spelled(row["about"]),
        span([row], "printed"),
        ours(row),
        difference(row) + f" ({n})" * bool(n and not known(row["ours"])),
        numerals.p_text(row["p_holm"]) if known(row["p_holm"]) else "",
        vocabulary.in_words(row),
        chips.text(chips.epsilons(row)),
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
    """Return a difference as its kind says it, such as `+0.42 [+0.10, +0.74] points`."""
    return claims.words(row)


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
    return conjunction.deciding(ran, vocabulary.verdict_of(whole))


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
    ran = [row for row in parts if row["needs"] != vocabulary.NOT_RUN.needs]
    return [row for row in ran if known(row["epsilon"])] or ran


def _line(claim: dict, rows: list[dict], source: Source) -> Line:
    (whole, *own), of = rows, source.of
    decides = deciding(whole, own)
    by, printed = published.by(of.about, claim.get("table", "")), span(rows, "printed")
    study = source.study(whole["study"])
    own_verdict = vocabulary.verdict_of(whole)
    why = [whole["about"]] if own_verdict in (vocabulary.UNFINISHED, vocabulary.NOT_KEPT) else []
    budget = decides if known(decides["eps_claimed"]) else whole
    name = claim.get("short") or paper.saying(claim)
    _, *more = claim["study"] if isinstance(claim.get("study"), list) else [""]
    also = whole["study"] in more  # the first study of a claim needs no name
    return Line(
        paper=of.short,
        id=claim["id"],
        short=name + f" ({study.get('title', whole['study'])})" * also,
        claim=paper.saying(claim),
        key=of.key,
        page=source.page,
        scale=source.scale,
        anchor=source.place(f"{claim['id']}-{whole['study']}" if also else claim["id"]),
        where=claim["where"],
        about=spelled(whole["about"]),
        printed=f"{printed} in {by}, of a rerun" if printed and by else printed,
        ours=ours(whole) or span(own, "ours"),
        difference=difference(decides),
        part=deciding_words(whole, own),
        n="" if known(whole["ours"]) else seeds(decides),
        bar=forest.bar_of(decides, own, claim.get("margin", study.get("margin", 0.0)), bool(by)),
        verdict=own_verdict.verdict,
        shown=vocabulary.in_words(whole),
        needs=own_verdict.needs,
        tone=TONES.get(vocabulary.in_words(whole), "open"),
        chips=chips.epsilons(budget, next((c["unit"] for c in study.get("cells", [])), "example")),
        privacy=whole["privacy"] if known(whole["privacy"]) else "",
        remarks=(*why, *remarks(whole)),
        runs=whole["runs"] if known(whole["runs"]) else "",
        kind=whole["kind"],
        data=datasets.title(base(study["dataset"])) if "dataset" in study else "",
        compares="better" in claim,
        claimed=whole["eps_claimed"],
        audited=whole["eps_audited"],
    )


def _number(value: object) -> str:
    return number(value, "{:.4g}") if isinstance(value, float) else str(value)

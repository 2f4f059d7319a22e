"""The table of claims: one line per claim, from judged claims and the papers."""

import math
from collections import Counter
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
from dpfl.report import chips, forest, markup, paper
from dpfl.report.judged import Source
from dpfl.seeds import conjunction, fairness
from dpfl.words import numerals, vocabulary
from dpfl.words.numerals import known, number

TONES = {**dict.fromkeys(vocabulary.GOOD, "good"), **dict.fromkeys(vocabulary.BAD, "bad")}
TONES |= {vocabulary.NO_DIFFERENCE.verdict: "even"}
"""The colours of verdicts; what is open has its own, and so has what holds without a proof."""
PARTS = ["compared", "printed", "ours", "difference", "p after Holm", "verdict", "ε"]
"""The heads of what a claim is made of; ε are those claimed, certified and audited."""
WHOLE = ("kind", "verdict", "needs", "privacy", "printed", "ours", "ours_low", "ours_high")
WHOLE += ("eps_claimed", "eps_certified", "eps_audited")
DECIDING = ("n", "difference", "difference_low", "difference_high")
"""What readers may download of a claim as a whole, and of the part that decides it."""


@dataclass(frozen=True)
class Line:
    """One claim as a table shows it; `short` is it in a few words, `claim` in full.

    `compares` says that it is of one method against others; `record` is what may be downloaded.
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
    kept: bool
    compares: bool
    record: dict[str, Any]
    parts: tuple[dict, ...]

    @property
    def identity(self) -> tuple[str, ...]:
        """Return what says which claim it is, whatever the scale."""
        return self.key, self.id

    @property
    def drawn(self) -> Markup:
        """Return its bar."""
        return forest.draw(self.bar)

    @property
    def told(self) -> str:
        """Return what a tooltip adds to the verdict and the number."""
        epsilons = ", ".join(f"{chip.name} {chip.value}" for chip in self.chips)
        found = (self.part, self.n, f"ε {epsilons}" if epsilons else "", f"scale {self.scale}")
        return "; ".join(filter(None, found))

    @property
    def made_of(self) -> Markup:
        """Return the table of its parts, nothing for a claim of one part."""
        return markup.table(PARTS, [part(row) for row in self.parts if len(self.parts) > 1])


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


def in_full(found: list[Line], title: str) -> Markup:
    """Return the table of some lines with quotes, parts and remarks; one told twice is a note.

    Claims that were not run are only named.
    """
    ran = [line for line in found if line.needs != vocabulary.NOT_RUN.needs]
    remarks = Counter(remark for line in ran for remark in line.remarks)
    often = [remark for remark, count in remarks.items() if count > 1]
    notes = {remark: number for number, remark in enumerate(often, 1)}
    heads = [head for head in ("printed", "ours") if any(getattr(x, head) for x in ran)]
    left = [(line.anchor, line.short) for line in found if line not in ran]
    return markup.joined(
        markup.part("claims", ran, heads, title, notes) if ran else "",
        markup.listing([f"note {n}: {text}" for text, n in notes.items()]),
        markup.part("left", left) if left else "",
    )


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
    """Return which part that is, such as `against SGD, ε 8, lowest of 6`; nothing without any."""
    own, count = deciding(whole, parts), len(_compared(parts))
    if known(whole["printed"]) or (own is whole and not known(whole["difference"])):
        return ""
    name = own["about"] if own is whole else own["part"]
    return spelled(f"{name}, lowest of {count}" if count > 1 else name)


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
    study, own_verdict = source.study(whole["study"]), vocabulary.verdict_of(whole)
    why = [whole["about"]] if own_verdict in (vocabulary.UNFINISHED, vocabulary.NOT_KEPT) else []
    budget = decides if known(decides["eps_claimed"]) else whole
    name = claim.get("short") or paper.saying(claim)
    first, *more = claim["study"] if isinstance(claim.get("study"), list) else [""]
    also = whole["study"] in more  # the first study of a claim needs no name
    data = study.get("dataset", source.scale)
    data = datasets.title(base(data)) if data in plugins.names("data") else data
    alike = also and source.study(first).get("dataset") == study.get("dataset")
    row = f"{of.key}-{claim['id']}" + f"-{whole['study']}" * alike
    shown = vocabulary.in_words(whole)
    about = {"id": row, "paper": of.key, "claim": claim["id"], "scale": source.scale, "data": data}
    facts = {key: whole[key] for key in WHOLE} | {key: decides[key] for key in DECIDING}
    return Line(
        paper=of.short,
        id=claim["id"],
        short=name + f" ({study.get('title', whole['study'])})" * also,
        kept=source.kept,
        record=about | {key: _plain(value) for key, value in facts.items()},
        parts=tuple(own),
        claim=paper.saying(claim),
        key=of.key,
        page=source.page,
        scale=source.scale,
        anchor=source.place(f"{claim['id']}-{whole['study']}" if also else claim["id"]),
        where=claim["where"],
        printed=f"{printed} in {by}, of a rerun" if printed and by else printed,
        ours=ours(whole) or span(own, "ours"),
        difference=difference(decides),
        part=deciding_words(whole, own),
        n="" if known(whole["ours"]) else seeds(decides),
        bar=forest.bar_of(decides, own, claim.get("margin", study.get("margin", 0.0)), bool(by)),
        verdict=own_verdict.verdict,
        shown=shown,
        needs=own_verdict.needs,
        tone=TONES.get(shown, "doubt" if own_verdict.verdict in vocabulary.GOOD else "open"),
        chips=chips.epsilons(budget, next((c["unit"] for c in study.get("cells", [])), "example")),
        privacy=whole["privacy"] if known(whole["privacy"]) else "",
        remarks=(*why, *remarks(whole)),
        runs=whole["runs"] if known(whole["runs"]) else "",
        compares="better" in claim and "asks" not in _optional(whole["kind"]),
    )


def _optional(kind: str) -> tuple[str, ...]:
    """Return what a claim of a kind may say; one that `asks` is of equal methods."""
    return plugins.constant("judging/kinds", kind, "OPTIONAL", ())


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: None for what is unknown, and where nothing is private."""
    return value if known(value) and value != math.inf else None


def _number(value: object) -> str:
    return number(value, "{:.4g}") if isinstance(value, float) else str(value)

"""What readers see first: a row per paper, and one sentence of what all rows come to.

A row is of the main claim, which `main` of paper.yaml names, by default the first claim. It says
whether that holds and whether it is private, and counts the verdicts on all claims of the paper.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from dpfl.papers import folder
from dpfl.report import claims_table, judged, markup, paper
from dpfl.report.claims_table import Line
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.seeds import verdicts
from dpfl.words import vocabulary
from dpfl.words.numerals import counted, known, number, rounded_down

HEADS = ("paper", "main claim", "does it hold?", "is it private?", "all results")
HOLDS, UNPROVEN, FAILS = "holds", "holds, without a proof", "does not hold"
UNDECIDED = "open"
CLASSES = (HOLDS, UNPROVEN, FAILS, UNDECIDED)
"""What results count as, in the order of a bar."""
OF_TONES = {"good": HOLDS, "doubt": UNPROVEN, "bad": FAILS, "even": FAILS, "open": UNDECIDED}
NONE, NOTHING = vocabulary.NOT_JUDGED.verdict, "none judged"
_WEAKEST_FIRST = (FAILS, UNDECIDED, UNPROVEN, HOLDS)


@dataclass(frozen=True)
class Row:
    """One paper; `verdict` is on its main claim, with the difference or value that decides."""

    page: str
    paper: str
    claim: str
    verdict: str
    private: str
    results: dict[str, int]

    @property
    def cells(self) -> tuple[str, ...]:
        """Return the words of the row below HEADS."""
        return self.paper, self.claim, self.verdict, self.private, tally(self.results) or NOTHING


def rows(lines: list[Line], papers: Iterable[Paper]) -> list[Row]:
    """Return the rows of the papers that make claims, those with most results first."""
    made = [_row(of, [x for x in lines if x.source.of == of]) for of in papers if of.claims]
    return sorted(made, key=lambda row: -sum(row.results.values()))


def table(lines: list[Line], papers: Iterable[Paper]) -> Markup:
    """Return what all results come to and all rows, for a page; nothing where there is none."""
    if not any(map(is_decided, lines)):
        return Markup("")
    return markup.part("answers", HEADS, rows(lines, papers), said(lines), total(lines))


def of_stored(home: Path, derived: Path) -> tuple[dict[str, Paper], list[Line]]:
    """Return all papers of a folder, those with a year first, and the lines of stored claims."""
    found = paper.read_all(folder.names(home), home)
    papers = dict(sorted(found.items(), key=lambda pair: not pair[1].dated))
    return papers, claims_table.lines(judged.of_reference(derived, papers.values()))


def of_run(home: Path, results: Path, keys: Iterable[str]) -> tuple[dict[str, Paper], list[Line]]:
    """Return papers of a folder, and the lines of what was judged of them in `results`."""
    papers = paper.read_all(keys, home)
    found = judged.of_run(Folder(results), papers.values())
    return papers, claims_table.lines(source for source in found if not source.kept)


def in_terminal(papers: Mapping[str, Paper], lines: list[Line]) -> list[str]:
    """Return what the results of papers come to, a line each, for a terminal."""
    made = [row for row in rows(lines, papers.values()) if row.results]
    told = [f"  {x.paper}: {x.claim}? {x.verdict}. Private? {x.private or NONE}" for x in made]
    stored = " (stored results)" * all(line.source.kept for line in lines)
    return [f"What the papers' claims came to{stored}:", *told] if told else []


def said(lines: list[Line]) -> str:
    """Return what all results on better methods come to."""
    better = [line for line in lines if line.compares and is_decided(line)]
    proven = len([*filter(is_proven, better)])
    unproven = [x.privacy in vocabulary.BEATEN for x in better if OF_TONES[x.tone] == UNPROVEN]
    held = "claims" if proven > 1 else "claim"
    return (
        f"{proven or 'No'} {held} of a better method or setting at equal ε "
        f"hold{'s' * (proven < 2)} with a privacy proof. Of {len(better)} such results "
        f"{len(unproven)} hold without a proof, {sum(unproven)} at an ε that an attack refutes."
    )


def total(lines: list[Line]) -> str:
    """Return how many results there are, of which class, and what kinds of claim hold."""
    found = [line for line in lines if is_decided(line)]
    kinds = Counter(line.record["kind"] for line in found if is_proven(line))
    if not found:
        return "No claim is judged."
    told = f"All {counted(len(found), 'result')}: {tally(count(found))}."
    told += f" Kinds of claim that hold with a proof: {tally(kinds)}." if kinds else ""
    differing = sum(line.verdict == vocabulary.DIFFERS for line in found)
    return told + f" Results that differ from what is printed: {differing}." * bool(differing)


def is_decided(line: Line) -> bool:
    """Tell whether something was run that a result is of."""
    return line.verdict not in vocabulary.UNJUDGED


def is_proven(line: Line) -> bool:
    """Tell whether a result holds and its ε is proven; what has no ε to prove is none."""
    return OF_TONES[line.tone] == HOLDS and line.privacy == vocabulary.PROVEN


def count(lines: Iterable[Line]) -> dict[str, int]:
    """Return how many results there are of each class that occurs, in the order of CLASSES."""
    found = Counter(OF_TONES[line.tone] for line in lines)
    return {name: found[name] for name in CLASSES if found[name]}


def tally(results: Mapping[str, int]) -> str:
    """Return such counts in words, as `holds 2; open 1`."""
    return "; ".join(f"{name} {n}" for name, n in results.items())


def _row(of: Paper, lines: list[Line]) -> Row:
    """Return the row of a paper from its results."""
    decided = [line for line in lines if is_decided(line)]
    own = [line for line in decided if line.claim["id"] in of.main]
    told = min(own, key=lambda line: _WEAKEST_FIRST.index(OF_TONES[line.tone]), default=None)
    return Row(
        page=lines[0].source.page if lines else "",
        paper=of.short,
        claim=of.main_says,
        verdict=_verdict(own, told) if told else NONE,
        private=_private(own),
        results=count(decided),
    )


def _verdict(own: list[Line], told: Line) -> str:
    """Return the verdict on a claim, or how many of several have which, and what decides it."""
    found = Counter(line.shown for line in own)
    counts = ", ".join(f"{verdict} {n} of {len(own)}" for verdict, n in found.items())
    return f"{counts if len({x.identity for x in own}) > 1 else told.shown} ({_number(told)})"


def _number(line: Line) -> str:
    """Return the value or difference that decides a claim, with its data set."""
    said = line.ours if line.printed and line.ours else line.difference
    where = ", ".join(filter(None, (line.record["data"], line.part)))
    printed = f", printed {line.printed}" if line.printed and line.ours else ""
    return f"{where}: {said}{printed}" + f" ({line.n})" * bool(line.n)


def _private(own: list[Line]) -> str:
    """Return the worst verdict on privacy of a claim's results, with what contradicts it."""
    told = [line for line in own if line.privacy]
    if not told:
        return ""
    worst = min(told, key=lambda line: verdicts.PRIVACY.index(line.privacy))
    audited, claimed = worst.record["worst_eps_audited"], worst.record["worst_eps_claimed"]
    if worst.privacy not in vocabulary.BEATEN or not known(audited):
        return worst.privacy
    attack, claimed = rounded_down(audited), number(claimed, "{:g}")
    return f"{worst.privacy}: an attack finds at least {attack} where {claimed} is claimed"

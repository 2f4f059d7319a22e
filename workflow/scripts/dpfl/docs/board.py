"""The table of claims: a line per judged claim of kept results."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

from dpfl.docs import found, judged
from dpfl.docs.judged import Claim, Folder
from dpfl.papers import folder
from dpfl.report import claims_table, paper
from dpfl.report.paper import Paper

MANY = 3
"""So many findings of one kind and paper have lines of their own; of more the first has."""
Finding = tuple[Claim, list[str]]
"""A claim and the scales of its paper at which it is found alike."""
SO_FAR = (
    "{told} of {entered} claims entered have been run and judged so far, {decided} of them with an "
    "answer; {kinds} can be judged, the others are listed with the reason."
)


def table(home: Path, reference: Path, pages: str) -> str:
    """Return the table for a page from which the papers' pages are at the address `pages`.

    Texts without a year stand after publications.
    """
    folders = sorted(judged.folders(home, reference), key=lambda own: not own.paper.dated)
    rows = [row for _, own in groupby(folders, key=_key) for row in _judged(list(own), pages)]
    told = {own.paper.key for own in folders if own.claims}
    silent = [own for own in folders if own.paper.key not in told]
    for _, alike in groupby(silent, key=_key):
        rows.append(_told(list(alike), home, reference, pages))
    lines = judged.table(("paper", *judged.CLAIM), rows)
    return f"{lines}\n\n{_so_far([paper.read(home / key) for key in folder.names(home)], folders)}"


def _so_far(papers: list[Paper], folders: list[Folder]) -> str:
    """Say how many of the claims of all papers are judged, decided, and could be judged."""
    entered = [claim for own in papers for claim in own.claims.values()]
    told = [(own.paper.key, claim) for own in folders for claim in own.claims]
    judged_at_all = {(key, claim.about["id"]) for key, claim in told}
    # A claim that one scale leaves open has the answer that another gives.
    decided = {(key, c.about["id"]) for key, c in told if c.verdict in claims_table.TONES}
    kinds = sum("kind" in claim for claim in entered)
    return SO_FAR.format(
        told=len(judged_at_all), entered=len(entered), decided=len(decided), kinds=kinds
    )


def _judged(alike: list[Folder], pages: str) -> Iterator[list[str]]:
    """Return the lines of a paper's folders; what several of them say alike stands once."""
    said: dict[tuple[str, ...], Finding] = {}
    for own in alike:
        for claim in own.findings:
            said.setdefault(tuple(claim.cells), (claim, []))[1].append(own.path.name)
    others: list[Finding] = []
    for findings in _by_kind(said.values()).values():
        shown = findings if len(findings) <= MANY else findings[:1]
        others += findings[len(shown) :]
        for claim, scales in shown:
            yield [_link(alike[0], scales, pages), *claim.cells]
    if others:
        held = {scale for _, found_at in others for scale in found_at}
        scales = [own.path.name for own in alike if own.path.name in held]
        yield [_link(alike[0], scales, pages), *_counted([claim for claim, _ in others])]


def _told(alike: list[Folder], home: Path, reference: Path, pages: str) -> list[str]:
    """Return the line of a paper's folders that hold no judged claim: what its page says first."""
    own = alike[0].paper
    scales = [each.path.name for each in alike]
    short = found.short(home / own.key, reference) or "told on its page"
    return [_link(alike[0], scales, pages), own.about["summary"], "", short, "none judged", ""]


def _link(own: Folder, scales: list[str], pages: str) -> str:
    return f"[{own.paper.short}]({pages}{own.paper.key}.md), {', '.join(scales)}"


def _key(own: Folder) -> str:
    return own.paper.key


def _by_kind(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    kinds: dict[str, list[Finding]] = {}
    for claim, scales in findings:
        kinds.setdefault(claim.about["kind"], []).append((claim, scales))
    return kinds


def _counted(claims: list[Claim]) -> list[str]:
    """Return one line for a paper's other findings: how many of them have which verdict."""
    verdicts = claims_table.tally(claim.verdict for claim in claims)
    return [f"{len(claims)} more findings, on its page", "", "", verdicts, ""]

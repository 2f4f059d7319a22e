"""docs/results/: a page per paper, from its own files and from kept results alone."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpfl.docs import best, board, found, judged, markdown
from dpfl.docs.judged import Folder
from dpfl.papers import citation, folder
from dpfl.provenance import kept
from dpfl.report import kept_words, paper, prose
from dpfl.report.paper import Paper
from dpfl.words.forms import listed
from dpfl.words.numerals import counted

NOTE = (
    "This page is made of kept results alone, and of prices that need no training. *This run* "
    "means a run of your own: its report, `results/reports/{key}.html`, fills what is left out."
)
CLAIMS = (
    "Claims that kept results have judged; n counts seeds. How verdicts come about: "
    "[statistics](../statistics.md). What the three epsilons are: "
    "[audits](audit.md#three-epsilons); shown are those of the budget with the worst verdict on "
    "privacy, of several the largest, `refuted` where an audit finds more than is claimed."
)
BEST = (
    "± is the 95 % interval over seeds. Of all kept cells whose runs all trained, with at least "
    "three seeds and at rates that trials chose, the one most accurate on the test set whose ε "
    "for one example is certified; a certificate at a smaller ε is one at a larger. Studies differ "
    "in epochs, in clients and in "
    "how rates were chosen, so this is what to beat and no comparison; no ε pays for choosing "
    "rates. `at the edge`: the rate is the last that was tried on its side, and a better one may "
    "lie beyond. Batch, clip norm and steps of tramer2021 were "
    "chosen with test accuracy in view, so that its rows are optimistic."
)
OPEN = ("what", "key", "default", "note")


def of_paper(home: Path, reference: Path, place: Path) -> str:
    """Return the page of the paper in `home`, with links for a page that lies in `place`."""
    own = paper.read(home)
    held = list(judged.of_paper(home.parent, reference, own.key))
    told = found.page(home, reference, place).replace(prose.DOCS, "../")
    short = prose.in_short(told)
    parts = [
        f"# {own.short}",
        *_cited(own),
        f"**What it says.** {' '.join(own.about['summary'].split())}",
        *([f"{prose.SHORT}{short}"] if short else []),
        *_claims(held),
        "## What was found",
        NOTE.format(key=own.key),
        prose.in_full(told),
        "## Do it again",
        *_again(held, home, place),
        "## What the paper leaves open",
        markdown.table(OPEN, [_choice(choice) for choice in own.choices]),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def index(home: Path, reference: Path) -> str:
    """Return the page that leads to the papers' pages: the table of claims, and every paper."""
    papers = [paper.read(home / key) for key in folder.names(home)]
    rows = [[f"[{own.short}]({own.key}.md)", own.about["summary"], _counted(own)] for own in papers]
    return "\n\n".join(
        [
            "# Results by paper",
            CLAIMS,
            board.table(home, reference, ""),
            "## Most accurate with a certificate",
            BEST,
            best.table(reference, ""),
            "## All papers",
            markdown.table(("paper", "what it says", "claims, of them with a kind"), rows) + "\n",
        ]
    )


def _cited(own: Paper) -> list[str]:
    """Return the citation; of a text that has none its title, nothing where that stands above."""
    if "citation" in own.about:
        return [citation.full(own.about)]
    title = citation.english(own.about)
    return [title] if title != own.short else []


def _counted(own: Paper) -> str:
    claims = own.claims.values()
    return f"{len(claims)}, {sum('kind' in claim for claim in claims)}"


def _claims(folders: Iterable[Folder]) -> Iterator[str]:
    """Yield the claims that kept folders have judged, each with what it is made of, once."""
    told: dict[tuple, str] = {}
    for held in (each for each in folders if each.claims):
        scale = held.path.name
        new = [claim for claim in held.findings if claim.told not in told]
        yield f"## Claims judged at the scale `{scale}`"
        if new:
            yield judged.table(judged.CLAIM, [claim.cells for claim in new])
        if again := [claim for claim in held.findings if claim.told in told]:
            where = dict.fromkeys(f"`{told[claim.told]}`" for claim in again)
            yield f"{counted(len(again), 'more claim')}, judged as at the scale {listed(where)}."
        for claim in (claim for claim in new if claim.parts):
            yield f"### {claim.about['id']}: {claim.verdict}"
            yield f"{claim.about['where']}: {paper.saying(claim.about)}"
            if claim.withdrawn:
                yield f"**Withdrawn.** {claim.withdrawn}"
            yield claim.parts
        told.update((claim.told, scale) for claim in new)


def _again(folders: list[Folder], home: Path, place: Path) -> Iterator[str]:
    for path in (each.path for each in folders):
        link = Path(os.path.relpath(path, place)).as_posix()
        yield f"At the scale `{path.name}`:"
        yield from _made(path)
        yield f"[Where these results come from]({link}/README.md). Tables: {_tables(path, link)}."
    if not folders:
        yield f"No results of this paper are kept. Its scales: {_scales(home.name)}."
    yield "What a scale costs: [presets](../presets.md)."


def _made(path: Path) -> Iterator[str]:
    """Yield how a kept folder was made."""
    about = kept.about(path)
    yield f"    {about['command']}"
    yield from kept_words.of(about)


def _scales(key: str) -> str:
    return ", ".join(map(markdown.code, folder.load(key).scales))


def _tables(path: Path, link: str) -> str:
    names = sorted(file.stem for file in (path / "tables").glob("*.csv"))
    return ", ".join(f"[{name}]({link}/tables/{name}.csv)" for name in names)


def _choice(choice: dict) -> list[str]:
    return [
        choice["what"],
        markdown.code(choice["key"]),
        str(choice["default"]),
        choice.get("note", ""),
    ]

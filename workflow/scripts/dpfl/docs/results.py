"""docs/results.md and the table of README.md: a line per judged claim of kept results."""

from itertools import groupby
from pathlib import Path

from dpfl.docs import markdown
from dpfl.papers import folder
from dpfl.report import board, chips, claims_table, judged, paper, prose
from dpfl.report.claims_table import Line
from dpfl.report.paper import Paper
from dpfl.tables import rendering

HEADS = ("paper", "scale", "claim", "printed", "ours", "verdict", "ε claimed / certified / audited")


def answers(home: Path, derived: Path) -> str:
    """Return a line per paper: what its page answers first."""
    papers, _ = _judged(home, derived)
    return "\n".join(
        rendering.without_tags(f"- [{papers[key].short}](../workflow/papers/{key}/page.md): {own}")
        for key, own in prose.kept_answers(papers, home, derived).items()
        if own
    )


def every(home: Path, derived: Path) -> str:
    """Return all judged claims, each scale a link to what is kept of it."""
    papers, lines = _judged(home, derived)
    kept = "[{0.scale}](../results/reference/{0.key}/{0.scale})"
    table = markdown.table(HEADS, (_cells(line, kept.format(line)) for line in lines))
    return f"{board.lead(lines, papers.values())}\n\n{table}"


def first(home: Path, derived: Path) -> str:
    """Return each paper's first judged claim, and what became of its others, for README.md."""
    papers, lines = _judged(home, derived)
    rows = []
    for key, own in groupby(lines, key=lambda line: line.key):
        one, *rest = sorted(own, key=lambda line: [*papers[key].claims].index(line.id))
        others = f"[{board.tally(rest)}](docs/results.md#claims)" if rest else ""
        rows.append([*_cells(one, one.scale), others])
    table = markdown.table((*HEADS, "its other claims"), rows)
    return f"{table}\n\n{board.lead(lines, papers.values())}"


def _judged(home: Path, derived: Path) -> tuple[dict[str, Paper], list[Line]]:
    """Return all papers, publications before texts without a year, and their judged claims."""
    found = paper.read_all(folder.names(home), home)
    papers = dict(sorted(found.items(), key=lambda pair: not pair[1].dated))
    lines = claims_table.lines(judged.of_reference(derived, papers.values()))
    return papers, [line for line in lines if line.needs not in board.OPEN]


def _cells(line: Line, scale: str) -> list[str]:
    """Return the cells of a claim under HEADS."""
    difference = f"{line.part}: {line.difference} ({line.n})" if line.n else line.difference
    found = line.ours or difference
    epsilons = chips.text(line.chips)
    return [line.paper, scale, line.short, line.printed, found, line.shown, epsilons]

"""docs/results.md, a line per judged claim of kept results, and what README.md says first."""

from pathlib import Path

from dpfl.docs import markdown
from dpfl.report import answers as answer
from dpfl.report import chips, prose
from dpfl.report.claims_table import Line
from dpfl.tables import rendering

HEADS = ("paper", "scale", "claim", "printed", "ours", "verdict", "ε claimed / certified / audited")


def answers(home: Path, derived: Path) -> str:
    """Return a line per paper: what its page answers first."""
    papers, _ = answer.of_stored(home, derived)
    return "\n".join(
        rendering.without_tags(f"- [{papers[key].short}](../workflow/papers/{key}/page.md): {own}")
        for key, own in prose.kept_answers(papers, home, derived).items()
        if own
    )


def every(home: Path, derived: Path) -> str:
    """Return all judged claims, each scale a link to what is kept of it."""
    _, lines = answer.of_stored(home, derived)
    kept = "[{0.scale}](../results/reference/{0.key}/{0.scale})"
    decided = [line for line in lines if answer.is_decided(line)]
    table = markdown.table(HEADS, (_cells(line, kept.format(line)) for line in decided))
    return f"{answer.total(lines)}\n\n{table}"


def first(home: Path, derived: Path) -> str:
    """Return what all results come to, and a row per paper, for README.md."""
    papers, lines = answer.of_stored(home, derived)
    linked = (
        (f"[{paper}](docs/results.md#in-short)", *cells)
        for paper, *cells in (row.cells for row in answer.rows(lines, papers.values()))
    )
    table = markdown.table(answer.HEADS, linked)
    return f"> {answer.sentence(lines)} {answer.total(lines)}\n\n{table}"


def rows(home: Path, derived: Path) -> list[answer.Row]:
    """Return a row per paper of kept results."""
    papers, lines = answer.of_stored(home, derived)
    return answer.rows(lines, papers.values())


def _cells(line: Line, scale: str) -> list[str]:
    """Return the cells of a claim under HEADS."""
    difference = f"{line.part}: {line.difference} ({line.n})" if line.n else line.difference
    found = line.ours or difference
    epsilons = chips.text(line.chips)
    return [line.paper, scale, line.short, line.printed, found, line.shown, epsilons]

"""docs/results.md, a line per judged claim of kept results, and what README.md says first."""

from pathlib import Path

from dpfl.docs import markdown
from dpfl.report import answers as answer
from dpfl.report import prose
from dpfl.report.claims_table import Line, in_a_row
from dpfl.tables import rendering

HEADS = ("paper", "scale", "claim", "printed", "ours", "verdict", "ε claimed / certified / audited")


def answers(home: Path, derived: Path) -> str:
    """Return a line per paper: what its page answers first, from kept results alone."""
    lines = []
    for key, of in answer.of_stored(home, derived)[0].items():
        text = prose.of_paper(home / key, prose.kept_tables(derived / key), derived)
        if own := prose.in_short(text):
            lines.append(f"- [{of.short}](../workflow/papers/{key}/page.md): {own}")
    return rendering.without_tags("\n".join(lines))


def every(home: Path, derived: Path) -> str:
    """Return all judged claims, each scale a link to what is kept of it."""
    _, lines = answer.of_stored(home, derived)
    kept = "[{0.scale}](../results/reference/{0.of.key}/{0.scale})"
    shown = (_cells(one, kept.format(one.source)) for one in lines if answer.is_decided(one))
    return f"{answer.total(lines)}\n\n{markdown.table(HEADS, shown)}"


def first(home: Path, derived: Path) -> str:
    """Return a row per paper for README.md, between what all results come to."""
    _, lines = answer.of_stored(home, derived)
    shown = rows(home, derived)
    linked = ((f"[{row.paper}](docs/results.md#in-short)", *row.cells[1:]) for row in shown)
    table = markdown.table(answer.HEADS, linked)
    return f"> {answer.said(lines)}\n\n{table}\n\n{answer.total(lines)}"


def rows(home: Path, derived: Path) -> list[answer.Row]:
    """Return a row per paper of kept results."""
    papers, lines = answer.of_stored(home, derived)
    return answer.rows(lines, papers.values())


def _cells(line: Line, scale: str) -> list[str]:
    """Return the cells of a claim under HEADS."""
    difference = f"{line.part}: {line.difference} ({line.n})" if line.n else line.difference
    told = [line.source.of.short, scale, line.short, line.printed, line.ours or difference]
    return [*told, line.shown, in_a_row(line.epsilons)]

"""The claims of one paper: a table for each place where they are judged, then part by part."""

from collections.abc import Iterable

import pandas as pd
from markupsafe import Markup

from dpfl.judging import judge
from dpfl.report import board, claims_table, deciding, forest, markup, paper
from dpfl.report.judged import Source
from dpfl.report.paper import Paper
from dpfl.words.numerals import counted
from dpfl.words.vocabulary import NOT_RUN


def in_full(sources: Iterable[Source], of: Paper) -> Markup:
    """Return every judged claim of some sources, all bars on one scale."""
    tables = [(source, claims_table.lines([source], {of.key: of})) for source in sources]
    most = forest.reach(line.bar for _, lines in tables for line in lines)
    shown = [_table(source, lines, most) for source, lines in tables if lines]
    return markup.joined(*shown) or markup.listing(["No claim of this paper is judged."])


def _table(source: Source, lines: list[claims_table.Line], most: float) -> Markup:
    """Return the claims of one source; those that answer nothing are folded."""
    own = [line.verdict for line in claims_table.each(lines)]
    told = f"{counted(len(own), 'claim')}: {claims_table.tally(own)}."
    caption = f"{source.title}. {board.explained(lines, most)}"
    notes, bars = board.notes(lines), board.bars(lines, most)
    shown = [line for line in lines if line.verdict not in board.FOLDED]
    table = markup.part("board", shown, bars, caption, notes, own=True) if shown else ""
    rest = [
        markup.part("folded", title, markup.part("board", few, bars, title, notes, own=True))
        for title, few in board.folded(lines)
    ]
    numbered = [f"note {number}: {text}" for text, number in notes.items()]
    return markup.joined(table, *rest, markup.listing([told, *numbered]))


def parts(judged: pd.DataFrame, of: Paper) -> Markup:
    """Return every judged claim as printed, with all its parts; those not run behind one line."""
    found = claims_table.by_claim(judged)
    rows = {
        name: found[name]
        for name, claim in of.claims.items()
        if "status" not in claim and name in found
    }
    told = {name: _parts(of.claims[name], own) for name, own in rows.items()}
    left = [name for name in told if rows[name][0]["verdict"] == NOT_RUN]
    title = f"{counted(len(left), 'claim')} not run at this scale, as printed"
    rest = markup.part("folded", title, markup.joined(*(told[name] for name in left)))
    return markup.joined(*(told[name] for name in told if name not in left), rest if left else "")


def _parts(claim: dict, rows: list[dict]) -> Markup:
    spelled = [row | {"about": deciding.spelled(row["about"])} for row in rows]
    sentences = [judge.words(pd.Series(row)) for row in spelled]
    told = markup.part("told", claim, paper.saying(claim), list(dict.fromkeys(sentences)))
    name = claim.get("short") or paper.saying(claim)
    title = f"{name}: {rows[0]['verdict']}, {counted(len(rows), 'row')}"
    return markup.part("folded", title, told)

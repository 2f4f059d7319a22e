"""The page on statistics: how each kind of claim is judged, and the rules that all share."""

import re
from collections.abc import Iterator, Mapping

from markupsafe import Markup

from dpfl.report import markup, verdict_words
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.seeds import conjunction
from dpfl.tables import fairness


def body(folder: Folder, read: Mapping[str, Paper]) -> Markup:
    """Return the rules in force, as the kinds of claims state them in their own files."""
    kinds = dict.fromkeys(
        claim["kind"] for of in read.values() for claim in of.claims.values() if "kind" in claim
    )
    names = [name for key in read for name in folder.outline(key)["studies"]]
    margins = sorted({folder.study(name)["margin"] for name in names})
    return markup.joined(
        markup.part("paragraph", "These are the rules in force."),
        *(markup.listing(verdict_words.rules(margin)) for margin in margins),
        markup.part("heading", "How the parts of a claim add up"),
        *_parts(conjunction.__doc__.strip()),
        markup.part("heading", "How two sides were tuned"),
        markup.table(["word", "meaning"], [[key, text] for key, text in fairness.SAID.items()]),
        markup.part("heading", "Kinds of claims"),
        *(_rule(kind, text) for kind, text in verdict_words.of_kinds(kinds).items()),
    )


def _rule(kind: str, text: str) -> Markup:
    """Return the first lines of a kind's file: paragraphs, and verdicts as a table."""
    return markup.joined(markup.part("heading", kind, 3), *_parts(text))


def _parts(text: str) -> Iterator[Markup]:
    for part in text.split("\n\n"):
        lines = [re.split("  +", line.strip(), maxsplit=1) for line in part.splitlines()]
        if part.startswith(" ") and {*map(len, lines)} == {2}:
            yield markup.table(["verdict", "when"], lines, long=("when",))
        elif part.startswith(" "):
            yield markup.part("source", part)
        else:
            yield markup.part("paragraph", part.replace("+-", "±"))

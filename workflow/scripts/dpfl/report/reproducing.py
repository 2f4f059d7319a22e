"""How a paper's results are made again: the command for a scale, what it costs, where it ran."""

from pathlib import Path
from typing import Any

from markupsafe import Markup

from dpfl.provenance import kept
from dpfl.report import kept_words, markup, origin
from dpfl.report.judged import Source
from dpfl.report.reader import Folder


def of(source: Source, results: Folder, reference: Path) -> Markup:
    """Return the command of kept results as it was, of this run with its estimate."""
    about = _about(source, results, reference)
    command = about["command"] if about else origin.of_paper(source.paper, source.scale)
    hours = None if source.kept else results.outline(source.paper).get("core_hours")
    cost = f", about {hours:g} core-hours by the estimate" if hours is not None else ""
    return markup.joined(
        markup.part("paragraph", f"{source.title}{cost}:"),
        markup.part("source", command),
        markup.listing(kept_words.of(about)),
    )


def _about(source: Source, results: Folder, reference: Path) -> dict[str, Any] | None:
    """Return what kept results came from; None for those of this run."""
    if not source.kept:
        return None
    return results.kept(source.paper) or kept.about(reference / source.paper / source.scale)

"""Figures that a page holds: as data, with words for those who cannot see them."""

import base64
import os
from pathlib import Path
from typing import Any

from dpfl.report import captions
from dpfl.report.reader import shown_width


def picture(path: Path, home: Path, alt: str, package: str = "plots") -> dict[str, Any]:
    """Return a figure with its caption, and a link to its PDF from the page's folder.

    The words beside the figure stand for it; `alt` does where it has none.
    """
    pdf = path.with_suffix(".pdf")
    return {
        "alt": words(path) or alt,
        "width": shown_width(path),
        "caption": captions.of(path.stem, package),
        "data": f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}",
        "pdf": link(pdf, home) if pdf.exists() else "",
    }


def words(path: Path) -> str:
    """Return what a figure shows in words, from the text file beside it; nothing without one."""
    beside = path.with_suffix(".txt")
    return beside.read_text(encoding="utf-8").strip() if beside.exists() else ""


def link(path: Path, home: Path) -> str:
    """Return a path relative to a page's folder."""
    return Path(os.path.relpath(path, home)).as_posix()

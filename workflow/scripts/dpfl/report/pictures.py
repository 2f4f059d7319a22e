"""Figures that a page holds: as data, with words for those who cannot see them."""

import base64
import os
from pathlib import Path
from typing import Any

from dpfl.report import captions
from dpfl.report.reader import shown_width


def picture(path: Path, home: Path, alt: str, package: str = "plots") -> dict[str, Any]:
    """Return a figure with its caption, and a link to its PDF from the page's folder."""
    pdf = path.with_suffix(".pdf")
    return {
        "alt": alt,
        "width": shown_width(path),
        "caption": captions.of(path.stem, package),
        "data": f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}",
        "pdf": link(pdf, home) if pdf.exists() else "",
    }


def link(path: Path, home: Path) -> str:
    """Return a path relative to a page's folder."""
    return Path(os.path.relpath(path, home)).as_posix()

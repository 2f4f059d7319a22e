"""Figures that a page holds: as data, with words for those who cannot see them."""

import base64
import io
import os
from pathlib import Path
from typing import Any

from PIL import Image

from dpfl.figures import captions

COLOURS = 96
"""Of a picture in a page: enough for lines and text."""
BROADEST, WIDEST = 1400, 960
"""Pixels of a picture, and CSS pixels that a page has for it. The file and its PDF have more."""
LARGE, QUALITY = 120_000, 75
"""Bytes beyond which some is lost, and the quality at which letters beside noise stay readable."""


def picture(path: Path, reports: Path, alt: str, package: str = "figures/kinds") -> dict[str, Any]:
    """Return a figure with its caption, and a link to its PDF from the folder of pages.

    The words beside the figure stand for it; `alt` does where it has none.
    """
    pdf, words = path.with_suffix(".pdf"), path.with_suffix(".txt")
    with Image.open(path) as found:
        width = min(WIDEST, found.width * 2 // 3)  # its text is then as large as that of a page
    return {
        "name": f"figure {path.parent.name}/{path.stem}",
        "alt": words.read_text(encoding="utf-8").strip() if words.exists() else alt,
        "width": width,
        "caption": captions.caption(path.stem, package),
        "data": data(path),
        "pdf": link(pdf, reports) if pdf.exists() else "",
    }


def link(path: Path, reports: Path) -> str:
    """Return a path relative to the folder of pages."""
    return Path(os.path.relpath(path, reports)).as_posix()


def data(path: Path) -> str:
    """Return a figure as a data URL, a third of its size or less: pages hold many.

    In few colours and without loss, so that lines and letters stay sharp; pictures of noise, which
    are large so, are in all their colours and with some loss. Resizing adds shades and a third to
    the bytes: most figures are narrower.
    """
    with Image.open(path) as found:
        flat = Image.new("RGB", found.size, "white")
        flat.paste(found, mask=found.convert("RGBA").getchannel("A"))
    if flat.width > BROADEST:
        size = (BROADEST, flat.height * BROADEST // flat.width)
        flat = flat.resize(size, Image.Resampling.LANCZOS)
    few = flat.quantize(COLOURS, Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    packed = _packed(few.convert("RGB"), lossless=True)
    if len(packed) > LARGE:
        packed = _packed(flat, quality=QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(packed).decode()}"


def _packed(found: Image.Image, **how: Any) -> bytes:
    made = io.BytesIO()
    found.save(made, "WEBP", **how)
    return made.getvalue()

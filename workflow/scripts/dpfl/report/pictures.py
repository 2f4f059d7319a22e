"""Figures that a page holds: as data, with words for those who cannot see them."""

import base64
import io
import os
from pathlib import Path
from typing import Any

from PIL import Image

from dpfl.report import captions
from dpfl.report.reader import shown_width

COLOURS, REFINED, WIDEST = 96, 2, 1400
"""Of a picture in a page: enough for lines and text once the palette is refined so many times; the
file and its PDF have more. Resizing adds shades and a third to the bytes: most are narrower."""
LARGE, QUALITY = 120_000, 75
"""Bytes beyond which some is lost, and the quality at which letters beside noise stay readable."""


def picture(path: Path, home: Path, alt: str, package: str = "figures/kinds") -> dict[str, Any]:
    """Return a figure with its caption, and a link to its PDF from the page's folder.

    The words beside the figure stand for it; `alt` does where it has none.
    """
    pdf = path.with_suffix(".pdf")
    return {
        "name": f"figure {path.parent.name}/{path.stem}",
        "alt": words(path) or alt,
        "width": shown_width(path),
        "caption": captions.of(path.stem, package),
        "data": data(path),
        "pdf": link(pdf, home) if pdf.exists() else "",
    }


def words(path: Path) -> str:
    """Return what a figure shows in words, from the text file beside it; nothing without one."""
    beside = path.with_suffix(".txt")
    return beside.read_text(encoding="utf-8").strip() if beside.exists() else ""


def link(path: Path, home: Path) -> str:
    """Return a path relative to a page's folder."""
    return Path(os.path.relpath(path, home)).as_posix()


def data(path: Path) -> str:
    """Return a figure as a data URL, a third of its size or less: pages hold many.

    In few colours and without loss, so that lines and letters stay sharp; pictures of noise, which
    are large so, are in all their colours and with some loss.
    """
    with Image.open(path) as picture:
        flat = Image.new("RGB", picture.size, "white")
        flat.paste(picture, mask=picture.convert("RGBA").getchannel("A"))
        wide = most_pixels(flat)
    few = wide.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, REFINED, dither=Image.Dither.NONE)
    packed = _packed(few.convert("RGB"), lossless=True)
    if len(packed) > LARGE:
        packed = _packed(wide, quality=QUALITY)
    return f"data:image/webp;base64,{base64.b64encode(packed).decode()}"


def _packed(picture: Image.Image, **how: Any) -> bytes:
    made = io.BytesIO()
    picture.save(made, "WEBP", **how)
    return made.getvalue()


def most_pixels(picture: Image.Image) -> Image.Image:
    """Return a picture no wider than WIDEST."""
    width, height = picture.size
    if width <= WIDEST:
        return picture
    return picture.resize((WIDEST, height * WIDEST // width), Image.Resampling.LANCZOS)

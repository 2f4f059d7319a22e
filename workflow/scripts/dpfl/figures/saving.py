"""Figures as files: PNG and PDF, each whole or not at all; equal numbers give equal bytes."""

from pathlib import Path

from matplotlib.figure import Figure

from dpfl import files

# Dates and the names of tools would change the bytes of equal figures.
FORMATS = {
    ".png": {"dpi": 160, "metadata": {"Software": None}},
    ".pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}


def save(figure: Figure, stem: Path | str) -> None:
    """Write stem.png and stem.pdf."""
    for ending, keywords in FORMATS.items():
        with files.atomic(f"{stem}{ending}") as path:
            figure.savefig(path, **keywords)

"""Reads what the workflow has written for readers: studies, their tables and figures."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpfl import files

NUMBERS = {
    *("epsilon", "delta", "n", "accuracy_mean", "ci_low", "ci_high", "sd", "diverged", "at_chance"),
    *("eps_claimed", "eps_accounted", "eps_certified", "r", "clipped_below", "clipped_above"),
    *("difference", "p", "p_holm", "best_rate", "best_validation_accuracy", "rates", "diverging"),
    *("unstable", "crawling", "good_low", "good_high", "width_decades", "trials", "accuracy"),
}
"""The columns of the tables that hold numbers; all others hold text, "001" included."""


def names(studies: str | list[str]) -> list[str]:
    """Return study names from a list or from the JSON text of one."""
    return json.loads(studies) if isinstance(studies, str) else list(studies)


def table(path: Path | str) -> pd.DataFrame:
    """Read one of our CSV tables: text columns hold "" where nothing is known, numbers nan."""
    raw = pd.read_csv(path, dtype=str, keep_default_na=False)
    numbers = {c: [float(text or "nan") for text in raw[c]] for c in raw.columns if c in NUMBERS}
    return raw.assign(**{c: pd.Series(v, raw.index, float) for c, v in numbers.items()})


def shown_width(png: Path, most: int = 960) -> int:
    """Return the width in CSS pixels at which a picture's text is as large as that of a page."""
    with png.open("rb") as file:
        across = int.from_bytes(file.read(20)[16:], "big")
    return min(most, across * 2 // 3)


@dataclass(frozen=True)
class Folder:
    """The results folder, by study name."""

    path: Path

    def study(self, name: str) -> dict:
        """Return a study as the workflow resolved it."""
        return files.read_json(self.path / "studies" / f"{name}.json")

    def studies(self, names: list[str]) -> list[dict]:
        """Return the studies of these names that have trained something, in their order."""
        home = self.path / "studies"
        return [self.study(name) for name in names if (home / f"{name}.json").exists()]

    def cells(self, name: str) -> pd.DataFrame:
        """Return the table of a study's cells."""
        return table(self.path / "tables" / f"{name}.csv")

    def comparisons(self, name: str) -> pd.DataFrame:
        """Return the table of a study's paired comparisons."""
        return table(self.path / "tables" / f"{name}_comparisons.csv")

    def ranges(self, name: str) -> pd.DataFrame:
        """Return the table of a study's learning-rate ranges."""
        return table(self.path / "tables" / f"{name}_ranges.csv")

    def analysis(self, name: str, suffix: str = "") -> pd.DataFrame:
        """Return a table of a study that trains nothing; a note that is empty is ""."""
        stem = f"{name}_{suffix}" if suffix else name
        found = pd.read_csv(self.path / "tables" / f"{stem}.csv")
        return found.fillna({"note": ""}) if "note" in found else found

    def text(self, name: str) -> str:
        """Return the Markdown of a table, such as `main` or `main_comparisons`."""
        return (self.path / "tables" / f"{name}.md").read_text(encoding="utf-8")

    def grid(self, name: str) -> tuple[list[str], list[list[str]]]:
        """Return heads and lines of a table's Markdown, as `rendering.markdown` took them."""
        lines = [line for line in self.text(name).splitlines() if line.startswith("|")]
        texts = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        heads, _, *body = [[cell.replace("\\|", "|") for cell in line] for line in texts]
        return heads, body

    def analyses(self, name: str) -> list[str]:
        """Return the names of the tables of a study that trains nothing, its main one first."""
        tables = self.path / "tables"
        return sorted(p.stem for form in ("", "_*") for p in tables.glob(f"{name}{form}.md"))

    def figure(self, name: str, figure: str) -> Path:
        """Return the place of one picture of a study."""
        return self.path / "figures" / name / f"{figure}.png"

    def figures(self, study: dict) -> list[Path]:
        """Return the pictures of a study that exist, in its order."""
        paths = [self.figure(study["name"], figure) for figure in study.get("figures", [])]
        return [path for path in paths if path.exists()]

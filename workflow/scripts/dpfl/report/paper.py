"""What a paper's folder says of it, for the pages: citation, claims, scales."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpfl.base import yaml_file
from dpfl.papers import citation
from dpfl.papers.folder import ABOUT, STUDIES


@dataclass(frozen=True)
class Paper:
    """A paper by its key, the name of its folder; `about` is its paper.yaml."""

    key: str
    about: dict[str, Any]
    scales: tuple[str, ...] = ()

    @property
    def dated(self) -> bool:
        """Tell whether it is a publication, with a year."""
        return "year" in self.about.get("citation", {})

    @property
    def short(self) -> str:
        """Return the short citation; of a text without a year its short name, or its title."""
        if self.dated:
            return citation.short(self.about)
        return self.about.get("short") or citation.english(self.about)

    @property
    def claims(self) -> dict[str, dict]:
        """Return the claims by their id, in the paper's order."""
        return {claim["id"]: claim for claim in self.about.get("claims", [])}

    @property
    def main(self) -> list[str]:
        """Return the ids of the main claim, by default the first; of printed numbers several."""
        return self.about.get("main", {}).get("claims", [*self.claims][:1])

    @property
    def main_says(self) -> str:
        """Return the main claim in a few words."""
        first = self.claims[self.main[0]]
        return self.about.get("main", {}).get("says") or first.get("short") or saying(first)

    @property
    def not_judged(self) -> list[dict]:
        """Return the claims that cannot be judged, each with its reason."""
        return [claim for claim in self.claims.values() if "status" in claim]


def read(folder: Path) -> Paper:
    """Read a paper's folder; UserError for a paper.yaml that is missing or no YAML mapping."""
    about = yaml_file.read(folder / ABOUT, f"{folder.name}/{ABOUT}")
    path = folder / STUDIES
    studies = yaml_file.read(path, f"{folder.name}/{STUDIES}") if path.exists() else {}
    return Paper(folder.name, about, tuple(studies.get("scales", ())))


def read_all(keys: Iterable[str], home: Path) -> dict[str, Paper]:
    """Read papers by their keys from the folder of all papers."""
    return {key: read(home / key) for key in keys}


def saying(claim: dict) -> str:
    """Return a claim in English words."""
    return claim.get("translation") or claim["quote"]

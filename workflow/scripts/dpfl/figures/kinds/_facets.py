"""Which settings of a study have panels of their own, which are ticks, and which never change."""

import pandas as pd

from dpfl.figures import families
from dpfl.tables import results

FEWEST = 5
"""Variants from which on the first of several settings has panels of its own."""


def of(study: dict, runs: pd.DataFrame) -> list[str]:
    """Return the facet of every run: the value of the first of several settings, else nothing."""
    key = _key(study)
    return [str(study["cells"][cell]["variant"].get(key, "")) for cell in runs["cell"]]


def tick(study: dict, cell: int) -> str:
    """Return how a cell is called within its facet: words as they are, numbers with their key."""
    variant, key = study["cells"][cell]["variant"], _key(study)
    own = {k: v for k, v in variant.items() if k != key and k not in _constant(study)}
    parts = [_word(k, v) for k, v in own.items()]
    return ", ".join(parts) or "default"


def fixed(study: dict) -> str:
    """Return what every cell of a study has alike, in words."""
    return ", ".join(f"{k} {families.title(str(v))}" for k, v in _constant(study).items())


def _word(key: str, value: object) -> str:
    name = key.replace("_", " ")
    return families.title(value) if isinstance(value, str) else f"{name} {value}"


def _key(study: dict) -> str | None:
    """Return the first setting that varies, if several do in many variants."""
    values = _values(study)
    varying = [key for key, own in values.items() if len(own) > 1]
    variants = {results.variant_text(cell["variant"]) for cell in study["cells"]}
    words = [key for key in varying if all(isinstance(v, str) for v in values[key])]
    return words[0] if words and len(varying) > 1 and len(variants) >= FEWEST else None


def _constant(study: dict) -> dict[str, object]:
    """Return the settings that all cells share, unless these are all there are."""
    values = _values(study)
    alike = {key: own[0] for key, own in values.items() if len(own) == 1}
    return alike if len(alike) < len(values) else {}


def _values(study: dict) -> dict[str, list]:
    found: dict[str, dict] = {}
    for cell in study["cells"]:
        for key, value in cell["variant"].items():
            found.setdefault(key, {})[str(value)] = value
    return {key: list(own.values()) for key, own in found.items()}

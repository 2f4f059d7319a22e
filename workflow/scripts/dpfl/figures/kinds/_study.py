"""What a study is in the words of its figures: its title, and what its settings are called."""

import pandas as pd

from dpfl.figures import datasets, families, style
from dpfl.tables import results
from dpfl.words import forms

UNITS = {"client": ", whole clients protected", "example": ""}
FEWEST = 5
"""Variants from which on the first of several settings has panels of its own."""


def about(study: dict) -> str:
    """Return a study's title, data set and δ, and whether it only demonstrates."""
    shown = " A demonstration: nothing is judged by it." * study["demonstrates"]
    name, delta = datasets.title(study["dataset"]), style.delta_text(study["delta"])
    unit = UNITS[results.about(study)["unit"]]
    return f"{study['title']}. {name[0].upper()}{name[1:]}, δ = {delta}{unit}.{shown}"


def distinct(study: dict, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of cells that do not repeat an earlier one (`alike` names these)."""
    return runs[runs["cell"].isin([group[0] for group in results.same_runs(study)])]


def titles(study: dict) -> dict[int, str]:
    """Return what each cell is called: the first method of those that are the same runs."""
    names = [families.title(cell["method"]) for cell in study["cells"]]
    return {i: names[group[0]] for group in results.same_runs(study) for i in group}


def alike(study: dict) -> str:
    """Say which methods are the same runs, of which a comparison draws the first."""
    names = [families.title(cell["method"]) for cell in study["cells"]]
    groups = ([names[i] for i in group] for group in results.same_runs(study))
    pairs = dict.fromkeys(forms.listed(own) for own in map(dict.fromkeys, groups) if len(own) > 1)
    return f" The same runs: {'; '.join(pairs)}." if pairs else ""


def facet(study: dict, cell: int) -> str:
    """Return the value of the setting whose values have panels of their own, else nothing."""
    return str(study["cells"][cell]["variant"].get(_panelled(study), ""))


def tick(study: dict, cell: int) -> str:
    """Return how a cell is called within its panel: words as they are, numbers with their key."""
    beside = {_panelled(study), *_constant(study)}
    own = study["cells"][cell]["variant"].items()
    return ", ".join(_word(key, value) for key, value in own if key not in beside) or "default"


def fixed(study: dict) -> str:
    """Return what every cell of a study has alike, in words."""
    return ", ".join(f"{k} {families.title(str(v))}" for k, v in _constant(study).items())


def _word(key: str, value: object) -> str:
    return families.title(value) if isinstance(value, str) else f"{key.replace('_', ' ')} {value}"


def _panelled(study: dict) -> str | None:
    """Return the first setting that varies in words, if several vary in many variants."""
    varying = {key: own for key, own in _values(study).items() if len(own) > 1}
    variants = {results.variant_text(cell["variant"]) for cell in study["cells"]}
    words = [key for key, own in varying.items() if all(isinstance(v, str) for v in own.values())]
    return words[0] if words and len(varying) > 1 and len(variants) >= FEWEST else None


def _constant(study: dict) -> dict[str, object]:
    """Return the settings that all cells share, unless these are all there are."""
    values = _values(study)
    alike = {key: value for key, own in values.items() for value in own.values() if len(own) == 1}
    return alike if len(alike) < len(values) else {}


def _values(study: dict) -> dict[str, dict[str, object]]:
    """Return the values of every setting, by their texts."""
    found: dict[str, dict[str, object]] = {}
    for cell in study["cells"]:
        for key, value in cell["variant"].items():
            found.setdefault(key, {})[str(value)] = value
    return found

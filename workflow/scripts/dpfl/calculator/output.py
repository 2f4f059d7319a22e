"""How the privacy calculator shows its rows: a table for readers, strict JSON for machines."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from dpfl.privacy.events import ADD_OR_REMOVE_ONE
from dpfl.tables.rendering import markdown
from dpfl.words.numerals import rounded_up

Row = dict[str, Any]
Column = Callable[[Row], str]

MEANING = {"unit": "example", "adjacency": ADD_OR_REMOVE_ONE, "sampling": "poisson"}
IN_WORDS = "Unit: one example, added or removed; every step draws a fresh Poisson batch at rate q."


def as_table(delta: float, facts: Row, rows: list[Row], columns: Mapping[str, Column]) -> str:
    """Return a line on what the numbers mean, one on what was asked, and a Markdown table."""
    meaning = f"ε of all steps together at δ = {delta:g}, rounded up. {IN_WORDS}"
    told = {name: value for name, value in facts.items() if isinstance(value, str | int | float)}
    asked = ", ".join(f"{name.replace('_', ' ')} {_text(value)}" for name, value in told.items())
    lines = [[shown(row) for shown in columns.values()] for row in rows]
    return f"{meaning}\n{asked}\n\n{markdown(list(columns), lines)}".rstrip("\n")


def as_json(command: str, delta: float, facts: Row, rows: list[Row]) -> str:
    """Return one JSON object with the unrounded numbers; infinity is the text "inf"."""
    answer = {"command": command, **MEANING, "delta": delta, **facts, "rows": rows}
    return json.dumps(_finite(answer), indent=2, allow_nan=False)


def column(name: str, form: Callable[[Any], str]) -> Column:
    """Make a column of formatted values, empty where there is none."""
    return lambda row: "" if row[name] is None else form(row[name])


def at_most(epsilon: float, target: float) -> str:
    """Round an epsilon up, but not above a target that it meets."""
    text = rounded_up(epsilon)
    above = math.isfinite(epsilon) and float(text) > target >= epsilon
    return f"{target}" if above else text


def _finite(value: Any) -> Any:
    """Replace infinity inside an answer."""
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return "inf" if value == math.inf else value


def _text(value: str | float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)

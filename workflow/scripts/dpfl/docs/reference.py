"""docs/reference: columns, keys, rules of verdicts; and the claim that is read as an example."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from dpfl import plugins
from dpfl.base import files
from dpfl.docs import markdown
from dpfl.judging import claims
from dpfl.report import claims_table, method_page
from dpfl.words.bounds import EXPECTED

Schema = dict[str, Any]
KEYS = ("REQUIRED", "ONE_OF", "OPTIONAL")
"""What the file of a kind of claim declares of a claim's keys."""


def columns(schema: Schema) -> str:
    """Return a table for every kind of a schema {kinds: {kind: {column: [type, meaning]}}}."""
    parts = [f"Version of this schema: {schema['version']}."]
    for kind, found in schema["kinds"].items():
        rows = [[f"`{name}`", *told] for name, told in found.items()]
        parts += [f"## {kind}", markdown.table(("column", "type", "meaning"), rows)]
    return "\n\n".join(parts)


def verdicts() -> str:
    """Return the rules of all kinds of claims."""
    return method_page.rules(sorted(claims.kinds()), "##")


def claim_keys() -> str:
    """Return which keys a claim of every kind takes."""
    rows = []
    for kind in claims.kinds():
        keys = (plugins.constant("judging/kinds", kind, name, ()) for name in KEYS)
        rows.append([f"`{kind}`", *(", ".join(f"`{key}`" for key in own) for own in keys)])
    return markdown.table(("kind", "needs", "exactly one of", "may have"), rows)


def example(derived: Path) -> str:
    """Return the parts of the claim that docs/how-to-read.md reads."""
    judged = files.read_table(derived / "meng2023/mnist/claims/claims.csv")
    rows, *_ = claims_table.by_claim(judged[judged["claim"] == "win-is-due-to-bounds"])
    shown = [claims_table.part(row) for row in rows]
    shown[0][0] = f"the whole claim: {shown[0][0]}"
    columns = zip(claims_table.PARTS, *shown, strict=True)
    heads, *lines = zip(*(own for own in columns if any(own[1:])), strict=True)
    return markdown.table(heads, lines)


def top_keys(user: Schema, text: str) -> str:
    """Return the table of the keys of config.yaml; `text` is the file, with its comments."""
    told, kinds = comments(text), user["properties"]
    rows = (
        [f"`{name}`", _kind(kinds[name], user), _value(value), told.get(name, "")]
        for name, value in yaml.safe_load(text).items()
    )
    return markdown.table(("key", "what it takes", "default", "what it is"), rows)


def section_keys(user: Schema, composed: Schema, text: str) -> str:
    """Return a table of the keys of every section that config.yaml does not have."""
    parts, defaults = [], yaml.safe_load(text)
    for name in (name for name in user["properties"] if name not in defaults):
        rows = list(_rows(composed["properties"][name], composed, ""))
        parts += [f"### {name}", markdown.table(("key", "what it takes", "what it says"), rows)]
    return "\n\n".join(parts)


def comments(text: str) -> dict[str, str]:
    """Return what the comments of config.yaml say of each key: those above it and in its line."""
    found, above = {}, []
    for line in text.splitlines():
        key = re.match(r"(\w+):[^#]*(?:# (.*))?$", line)
        if key:
            found[key[1]] = " ".join([*above, key[2] or ""]).strip()
        above = [*above, line.removeprefix("# ")] if line.startswith("#") else []
    return found


def _rows(schema: Schema, root: Schema, path: str) -> Iterator[list[str]]:
    """Yield a row per key; what any key may hold stands under `*`."""
    own = _resolved(schema, root)
    more = own.get("additionalProperties")
    below = dict(own.get("properties", {})) | ({"*": more} if isinstance(more, dict) else {})
    told = schema.get("description", "")
    if told or not below:
        yield [f"`{path or '*'}`", _kind(own, root), told]
    for name, part in below.items():
        yield from _rows(part, root, f"{path}.{name}" if path else name)


def _kind(schema: Schema, root: Schema) -> str:
    """Return in words what a value may be."""
    own = _resolved(schema, root)
    if "anyOf" in own and "type" not in own:
        return " or ".join(_kind(part, root) for part in own["anyOf"])
    if "enum" in own or "const" in own:
        return ", ".join(f"`{value}`" for value in own.get("enum", [own.get("const")]))
    names = own.get("type", "anything")
    said = " or ".join([names] if isinstance(names, str) else names)
    numbers = {key: own[key] for key in EXPECTED if isinstance(own.get(key), int | float)}
    bounds = [EXPECTED[key].format(f"{bound:g}") for key, bound in numbers.items()]
    items = [f"each {_kind(own['items'], root)}"] if "items" in own else []
    below = [f"keys: {', '.join(own['properties'])}"] if "properties" in own else []
    return ", ".join([said, *bounds, *items, *below])


def _resolved(schema: Schema, root: Schema) -> Schema:
    return root["$defs"][schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema


def _value(value: Any) -> str:
    return "`null`" if value is None else f"`{value}`"

"""docs/reference/configuration.md: all keys with type, bounds and default, by JSON schema."""

import re
from collections.abc import Iterator
from typing import Any

from dpfl.docs import markdown

Schema = dict[str, Any]
TITLE = """# Configuration: all keys

Made from the schemas that check a configuration, and from `config.yaml` with its comments. How
layers change one another, and what the keys of a study mean:
[configuration](../configuration.md)."""
TOP = """## config.yaml

What is the same for all papers. `--config key=value` sets a key on the command line."""
SECTIONS = """## Sections

What [components.yaml](../../workflow/components.yaml), the papers' `studies.yaml` and files of
yours may hold. `*` stands for a name of your own. A `uses` names the file of a plug-in, whose
own settings stand beside it: each file declares them in `SETTINGS`."""
BOUNDS = {
    "minimum": "≥ {}",
    "exclusiveMinimum": "> {}",
    "maximum": "≤ {}",
    "exclusiveMaximum": "< {}",
    "maxLength": "at most {} characters",
    "minItems": "at least {}",
    "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys",
}


def page(user: Schema, composed: Schema, defaults: dict[str, Any], text: str) -> str:
    """Return the page; `text` is that of config.yaml, for its comments."""
    told = comments(text)
    sections = [name for name in user["properties"] if name not in defaults]
    top = [
        [
            f"`{name}`",
            _kind(user["properties"][name], user),
            _value(defaults[name]),
            told.get(name, ""),
        ]
        for name in user["properties"]
        if name in defaults
    ]
    heads = ("key", "what it takes", "default", "what it is")
    parts = [TITLE, TOP, markdown.table(heads, top), SECTIONS]
    for name in sections:
        rows = list(_rows(composed["properties"][name], composed, ""))
        parts += [f"### {name}", markdown.table(("key", "what it takes"), rows)]
    return "\n\n".join(parts) + "\n"


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
    if not below:
        yield [f"`{path or '*'}`", _kind(own, root)]
    for name, part in below.items():
        yield from _rows(part, root, f"{path}.{name}" if path else name)


def _kind(schema: Schema, root: Schema) -> str:
    """Return in words what a value may be."""
    own = _resolved(schema, root)
    if "anyOf" in own:
        return " or ".join(_kind(part, root) for part in own["anyOf"])
    if "enum" in own or "const" in own:
        return ", ".join(f"`{value}`" for value in own.get("enum", [own.get("const")]))
    names = own.get("type", "anything")
    said = " or ".join([names] if isinstance(names, str) else names)
    bounds = [words.format(f"{own[key]:g}") for key, words in BOUNDS.items() if key in own]
    items = [f"each {_kind(own['items'], root)}"] if "items" in own else []
    keys = [f"keys: {', '.join(own['properties'])}"] if "properties" in own else []
    return ", ".join([said, *bounds, *items, *keys])


def _resolved(schema: Schema, root: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    return root["$defs"][schema["$ref"].rsplit("/", 1)[1]]


def _value(value: Any) -> str:
    return "`null`" if value is None else f"`{value}`"

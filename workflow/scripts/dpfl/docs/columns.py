"""docs/reference/columns.md: what the columns of all tables hold, from their schema."""

from dpfl.docs import markdown

TITLE = """# Columns of the tables

Every CSV table of the workflow, by kind. A setting that a study varies has a column of its own
in cells, comparisons and ranges. An empty field means: not known, or not so. Version of this
schema: {version}."""
FILES = {
    "cells": "`results/tables/{paper}/{study}.csv`, a row per cell",
    "comparisons": "`{study}_comparisons.csv`, changes against a baseline",
    "ranges": "`{study}_ranges.csv`, learning rates that work",
    "tuned": "`{study}_tuned.csv`, values that tuning chose",
    "trials": "`{study}_trials.csv`, values that it tried",
    "claims": "`claims.csv`, a row per claim and part",
    "published": "`published.csv`, a row per printed number",
}


def page(schema: dict) -> str:
    """Return the page of a schema {version, kinds: {kind: {column: [type, meaning]}}}."""
    parts = [TITLE.format(version=schema["version"])]
    for kind, columns in schema["kinds"].items():
        rows = [[f"`{name}`", *told] for name, told in columns.items()]
        parts += [
            f"## {kind}",
            f"{FILES[kind]}.",
            markdown.table(("column", "type", "meaning"), rows),
        ]
    return "\n\n".join(parts) + "\n"

"""Every column of a table that is written has a type and a meaning in the schema of tables."""

import pytest
import yaml

from dpfl import plugins
from dpfl.judging import claims, published
from dpfl.tables import comparisons, ranges, study_table

KINDS = {
    "cells": study_table.COLUMNS,
    "comparisons": comparisons.COLUMNS,
    "ranges": ranges.COLUMNS,
    "claims": claims.COLUMNS,
    "published": [*published.HEAD, *published.TAIL],
}
TYPES = ("boolean", "number", "string")


@pytest.mark.parametrize("kind", KINDS)
def test_every_column_that_is_written_has_a_type_and_a_meaning(kind):
    text = (plugins.WORKFLOW / "schemas" / "tables.yaml").read_text(encoding="utf-8")
    known = yaml.safe_load(text)["kinds"][kind]
    assert [name for name in KINDS[kind] if name not in known] == []
    assert all(kind in TYPES and meaning for kind, meaning in known.values())

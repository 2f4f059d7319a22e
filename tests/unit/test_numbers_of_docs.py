"""README.md and docs/: every number is generated, compared with its source, or a definition."""

import importlib
import math
import re
from pathlib import Path

import pytest
import typed_numbers
import yaml

from dpfl.docs import blocks

ROOT = Path(__file__).parents[2]
LISTED = yaml.safe_load((Path(__file__).parent / "numbers_of_docs.yaml").read_text("utf-8"))
TESTED = {"docs/statistics.md", "docs/tuning.md"}
"""Pages whose numbers test_statistics_page.py and test_tuning_errors.py compute again."""
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
IDENTIFIERS = re.compile(r"Apache-2\.0|(?:doi|arXiv)\s+\S+")


def prose(page):
    """What was typed into a page, without code, links, identifiers and generated parts."""
    text = blocks.without(page.read_text(encoding="utf-8"))
    lines = [line for line in text.splitlines() if not line.startswith("    ")]
    return IDENTIFIERS.sub("", typed_numbers.APART.sub("", "\n".join(lines)))


def name(page):
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", [p for p in PAGES if name(p) not in TESTED], ids=name)
def test_no_result_is_typed(page):
    typed = {found.group() for found in typed_numbers.RESULT.finditer(prose(page))}
    assert typed == set(LISTED.get(name(page), {}))


SOURCES = sorted({source for own in LISTED.values() for source in own.values() if ":" in source})


def written(value):
    """How a constant may stand in a sentence: as it is, or as a share in percent."""
    if isinstance(value, tuple):
        value = math.prod(value)
    if value < 1:
        return f"{100 * value:g} %"
    return f"{value:,g}" if value < 1e4 else f"{value:,d}"


@pytest.mark.parametrize("source", SOURCES)
def test_a_number_of_the_code_is_the_one_that_pages_say(source):
    module, constant = source.split(":")
    value = written(getattr(importlib.import_module(module), constant))
    for page, own in LISTED.items():
        if source in own.values():
            assert value in prose(ROOT / page)


def test_the_versions_of_python_are_those_that_the_package_takes():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    low, high = re.search(r'requires-python = ">=3\.(\d+),<3\.(\d+)"', text).groups()
    wanted = {f"3.{minor}" for minor in range(int(low), int(high))}
    for page, own in LISTED.items():
        said = {number for number, source in own.items() if source == "pyproject"}
        assert said in (set(), wanted), page


def test_a_typed_result_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("It has 96.3 % here.\n\n    96.4 %\n\nAnd `96.5 %`.\n", encoding="utf-8")
    found = [match.group() for match in typed_numbers.RESULT.finditer(prose(page))]
    assert found == ["96.3"]

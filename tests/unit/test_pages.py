"""The pages of the papers: short, no programs, and they say what the tables say."""

import csv
import re
import shutil
from functools import cache
from pathlib import Path

import pytest
import typed_numbers
from jinja2 import nodes
from refusals import line_of

from dpfl.base import files
from dpfl.papers import folder
from dpfl.report import prose

KEYS = folder.names()
LONGEST, GUARDS = 150, 15
"""Lines and guards of a page, at most."""


@cache
def page(key: str, derived: Path) -> str:
    """Return a page beside the prices that are kept; tests of their own compute those."""
    return prose.of_paper(folder.HOME / key, prose.kept_tables(derived / key), derived)


def held(derived: Path, table: str, scale: str, **where: str) -> dict[str, str]:
    """Return one row of a kept table, read without the package."""
    with (derived / scale / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        rows = [r for r in csv.DictReader(file) if all(r[k] == v for k, v in where.items())]
    [row] = rows
    return row


@pytest.mark.parametrize("key", KEYS)
def test_every_page_renders(key: str, derived: Path) -> None:
    text, heads = page(key, derived), 0
    for line in text.splitlines():  # a table has as many cells in each line
        heads = (heads or line.count("|")) if line.startswith("|") else 0
        assert not heads or line.count("|") == heads, line
    assert text.count("### ") >= 2
    assert "leaves out the analysis" not in text
    assert not re.search(
        r"\b(nan|None|inf)\b|\{[{%]|\[\d|source 0|[Ss]eeds? \d|: \.|\(\)", strip(text)
    )


@pytest.mark.parametrize("key", KEYS)
def test_every_page_renders_without_a_run(key: str, tmp_path: Path, derived: Path) -> None:
    text = prose.of_paper(folder.HOME / key, tmp_path, derived)
    assert text.startswith(prose.SHORT)


@pytest.mark.parametrize("key", KEYS)
def test_a_page_is_short_and_no_program_and_types_no_number(key: str) -> None:
    text = (folder.HOME / key / "page.md").read_text(encoding="utf-8")
    assert text.count("\n") <= LONGEST and text.count("guard(") <= GUARDS
    assert typed_numbers.in_page(folder.HOME / key / "page.md") == []
    tree = prose.environment(folder.HOME / key).parse(text)
    assert not list(tree.find_all(nodes.Macro))
    calls = list(tree.find_all(nodes.Call))
    called = {call.node.attr for call in calls if hasattr(call.node, "attr")}
    filters = {own.name for own in tree.find_all(nodes.Filter)}
    assert not (called | filters) & {name for name in dir(str) if not name.startswith("_")}
    # Guards compare numbers.
    guards = [call.args[0] for call in calls if getattr(call.node, "name", "") == "guard"]
    read = {own.attr for guard in guards for own in guard.find_all(nodes.Getattr)}
    assert guards and not read & {"verdict", "privacy"}


def test_a_guard_that_fails_names_the_page_and_the_statement(tmp_path: Path, derived: Path) -> None:
    shutil.copytree(derived / "strong/mnist", tmp_path / "strong/mnist")
    kept = shutil.copytree(derived / "fu2024/mnist", tmp_path / "fu2024/mnist")
    path = kept / "claims/claims.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, rows[0])
        table.writeheader()
        table.writerows(row | {"difference": "2.5"} for row in rows)
    files.write_sum(path)
    line = line_of(page, "fu2024", tmp_path)
    assert line.startswith(f"{folder.HOME / 'fu2024' / 'page.md'}:")
    assert line.endswith("no longer true: every mean is within a point of the print")


def test_a_page_says_what_its_tables_say(derived: Path) -> None:
    text = " ".join(page("zhou2022", derived).split())
    for method, said in (("fsdp-central", "it has"), ("fsdp-certified", "`fsdp-certified`, has")):
        where = {"method": method, "epsilon": "2.0"}
        row = held(derived, "fsdp-compare", "zhou2022/mnist/tables", **where)
        mean = float(row["accuracy_mean"])
        assert f"{said} {mean:.1f} ± {float(row['ci_high']) - mean:.1f} %" in text
    part = {"claim": "closes-gap-to-nonprivate", "part": "against dpsgd, epsilon 2"}
    ahead = held(derived, "claims", "zhou2022/cifar10/claims", **part)
    assert f"{float(ahead['difference']):+.2f} [" in text
    priced = derived / "zhou2022/cifar10/tables/privacy-loss.csv"
    with priced.open(encoding="utf-8", newline="") as file:
        residuals = [float(row["residual"]) for row in csv.DictReader(file)]
    assert f"goes from {min(residuals):.2f} to {max(residuals):.2f}." in text


def strip(text: str) -> str:
    """Return the prose of a page without its pictures, code and intervals."""
    return re.sub(r"!\[.*?\]\(.*?\)|`[^`]*`|\[[+-]\S+, \S+\]", "x", text)

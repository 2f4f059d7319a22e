"""The notebook and the guide on private training agree, with each other and with the code."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import markdown_tables
import nbformat
import pytest
import torch
import typed_numbers
from torch import nn

import dpfl
from dpfl.base.errors import UserError


@pytest.fixture(scope="module")
def notebook(root: Path) -> nbformat.NotebookNode:
    return nbformat.read(root / "notebooks" / "private_training.ipynb", as_version=4)


@pytest.fixture(scope="module")
def guide(root: Path) -> str:
    return (root / "docs" / "private-training.md").read_text(encoding="utf-8")


def cells(notebook: nbformat.NotebookNode, kind: str) -> list[str]:
    return [cell.source for cell in notebook.cells if cell.cell_type == kind]


def test_it_imports_the_package_by_its_name_alone(notebook: nbformat.NotebookNode) -> None:
    trees = [ast.walk(ast.parse(source)) for source in cells(notebook, "code")]
    nodes = [node for tree in trees for node in tree]
    plain = {a.name for node in nodes if isinstance(node, ast.Import) for a in node.names}
    assert "dpfl" in plain and not any(name.startswith("dpfl.") for name in plain)
    sources = {node.module for node in nodes if isinstance(node, ast.ImportFrom)}
    assert not any(name.startswith("dpfl") for name in sources)


def test_no_number_is_typed_by_hand(
    notebook: nbformat.NotebookNode, guide: str, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    for text in ("\n\n".join(cells(notebook, "markdown")), guide.replace("{", "(")):
        page.write_text(re.sub(r"Python 3[^:]*:|^    .*$", "", text, flags=re.MULTILINE))
        assert typed_numbers.in_page(page) == []


def test_the_guide_shows_the_cell_of_the_notebook(
    guide: str, notebook: nbformat.NotebookNode
) -> None:
    [example] = re.findall(r"^```python\n(.*?)^```", guide, re.DOTALL | re.MULTILINE)
    [cell] = [cell for cell in notebook.cells if "private" in cell.metadata.get("tags", [])]
    assert example.strip() == cell.source.strip()


def test_the_guide_lists_every_argument_with_its_default(guide: str) -> None:
    listed = {}
    for row in markdown_tables.read(guide, "argument |")[1]:
        listed |= dict.fromkeys(re.findall(r"`(\w+)`", row[0]), row[1].strip("`"))
    taken = inspect.signature(dpfl.Private).parameters
    assert list(listed) == list(taken)
    for name, parameter in taken.items():
        default = parameter.default
        if default is parameter.empty:
            assert listed[name] == "", name
        elif name != "loss_fn":
            assert ast.literal_eval(listed[name]) == default, name


def test_the_guide_lists_all_that_private_offers(guide: str) -> None:
    offered = {name for name in vars(dpfl.Private) if not name.startswith("_")} | {"plan"}
    rows = {
        row[0].strip("`").removesuffix("()"): row[1]
        for row in markdown_tables.read(guide, "name |")[1]
    }
    assert set(rows) == offered
    assert set(re.findall(r"`(\w+)`", rows["plan"])) <= set(private().plan)


def private(**changed: Any) -> dpfl.Private:
    """Return a training of a small network; `trained` says whose parameters are."""
    parts = [nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2)) for _ in range(2)]
    given = {"trained": "own", "examples": (torch.zeros(60, 5), torch.arange(60) % 2)}
    given |= {"epsilon": 4.0, "delta": 1e-3, "batch_size": 20, "epochs": 1, **changed}
    trained = parts[1] if given.pop("trained") == "another" else parts[0]
    return dpfl.Private(parts[0], torch.optim.SGD(trained.parameters(), lr=0.1), **given)


def mistake(**changed: Any) -> str:
    """Return what is said of one mistake."""
    with pytest.raises(UserError) as raised:
        private(**changed)
    return str(raised.value)


def test_the_errors_of_the_guide_are_those_that_are_raised(guide: str) -> None:
    shown = re.findall(r"^    (\S.*)$", guide.partition("## Errors")[2], re.MULTILINE)
    assert shown == [mistake(trained="another"), mistake(mechanism="dpsdg")]

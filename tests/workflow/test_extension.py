"""A new baseline is one file and its entries in the configuration: the README's own examples."""

import copy
import re
from pathlib import Path

import pandas as pd
import pytest
import yaml
from worktree import MINI, Tree

from dpfl.files import read_json

PACKAGES = Path("workflow") / "scripts" / "dpfl"


@pytest.fixture(scope="module")
def examples(root):
    """The blocks of the README's section on adding a baseline, by language."""
    text = (root / "README.md").read_text(encoding="utf-8")
    section = text.split("\n## Adding a baseline\n")[1].split("\n## ")[0]
    blocks: dict[str, list[str]] = {}
    for language, block in re.findall(r"```(\w+)\n(.*?)```", section, re.DOTALL):
        blocks.setdefault(language, []).append(block)
    return blocks


def add(tree: Tree, package: str, source: str) -> str:
    """Write a plug-in and return its name, with which its docstring begins."""
    name = re.match(r'"""([a-z0-9-]+): ', source)[1]
    path = tree.path / PACKAGES / package / f"{name.replace('-', '_')}.py"
    assert not path.exists()
    path.write_text(source, encoding="utf-8")
    return name


def with_method(name, *studies):
    """The mini configuration with one more method in some studies."""
    config = copy.deepcopy(MINI)
    for study in studies:
        config["studies"][study]["methods"].append(name)
    return config


def test_the_readmes_optimizer_gets_its_row_and_only_its_runs_train(finished, examples):
    source, entries = examples["python"][0], examples["yaml"][0]
    assert len((source + entries).splitlines()) < 40
    known, before = finished.runs(), finished.contents("runs/*/*")
    name = add(finished, "optimizers", source)
    (finished.path / "new.yaml").write_text(entries, encoding="utf-8")
    assert all(name in study["methods"] for study in yaml.safe_load(entries)["studies"].values())
    finished.configure(with_method(name, "cadabelief", "rates"))
    finished.make(configs=("new.yaml", "mini.yaml"))

    new = finished.runs() - known
    assert len(new) == 4
    assert all(run.startswith(f"digits-dpsgd-{name}-") for run in new)
    assert before.items() <= finished.contents("runs/*/*").items()
    table = pd.read_csv(finished.results / "tables" / "cadabelief.csv").set_index("method")
    assert list(table.index) == ["sgd", "cadabelief", name]
    assert table.loc[name, "n"] == 2
    assert 0 < table.loc[name, "accuracy_mean"] <= 100
    assert 7.9 < table.loc[name, "eps_certified"] <= 8
    assert name in (finished.results / "reports" / "index.html").read_text(encoding="utf-8")


def test_the_readmes_mechanism_trains(finished, examples):
    name = add(finished, "mechanisms", examples["python"][1])
    config = with_method("new", "rates")
    config["mechanisms"] = {name: {"estimator": name}}
    config["methods"] = {
        "new": {
            "mechanism": name,
            "optimizer": "sgd",
            "clipping": "clip-1",
            "budget": "uniform",
            "federation": "default",
        }
    }
    finished.configure(config)
    summary = min(f for f in finished.pending()["train"] if f.endswith("summary.json"))
    finished.make(summary)
    outcome = read_json(finished.path / summary)
    assert outcome["settings"]["mechanism"]["estimator"] == name
    assert not outcome["diverged"]

"""A new baseline is one file and its entries in the configuration: the guide's own examples."""

import copy
import re
import shutil

import pandas as pd
import yaml
from worktree import MINI

from dpfl.base.files import read_json
from dpfl.words.vocabulary import in_words


def test_the_optimizer_of_the_tutorial_gets_its_row_and_only_its_runs_train(finished, root):
    text = (root / "docs" / "tutorial.md").read_text(encoding="utf-8")
    source, entries = re.findall(r"```(?:python|yaml)\n(.*?)```", text, re.DOTALL)[:2]
    assert len((source + entries).splitlines()) < 40
    known, before = finished.runs(), finished.bits("runs/*/*")
    trained = finished.contents("benchmarks/train/*.tsv")
    name = re.match(r'"""([a-z0-9-]+): ', source)[1]
    path = finished.path / "workflow/scripts/dpfl/optimizers" / f"{name.replace('-', '_')}.py"
    assert not path.exists()
    path.write_text(source, encoding="utf-8")
    (finished.path / "new.yaml").write_text(entries, encoding="utf-8")
    added = [study["methods"]["add"] for study in yaml.safe_load(entries)["studies"].values()]
    assert added == [[name], [name]]
    config = copy.deepcopy(MINI)
    for study in config["studies"].values():
        study["methods"].append(name)
    finished.configure(config)
    finished.make(configs=("new.yaml", "mini.yaml"))

    new = finished.runs() - known
    assert len(new) == 4
    assert all(run.startswith(f"digits-dpsgd-{name}-") for run in new)
    assert before.items() <= finished.bits("runs/*/*").items()
    assert trained.items() <= finished.contents("benchmarks/train/*.tsv").items()
    table = pd.read_csv(finished.results / "tables" / "meng2023" / "cadabelief.csv").set_index(
        "method"
    )
    assert list(table.index) == ["sgd", "cadabelief", name]
    assert table.loc[name, "n"] == 2
    assert 0 < table.loc[name, "accuracy_mean"] <= 100
    assert 7.9 < table.loc[name, "eps_certified"] <= 8
    assert name in (finished.results / "reports" / "meng2023.html").read_text(encoding="utf-8")


def test_a_copied_paper_is_judged_without_touching_any_other_file(finished):
    """The template becomes a paper: a page, rows in the table of claims, records."""
    before = finished.contents("../workflow/**/*")
    papers = finished.path / "workflow" / "papers"
    shutil.copytree(papers / "_template", papers / "new2024")
    finished.configure(MINI | {"papers": ["meng2023", "new2024"], "select": None})
    config = {"select": ["meng2023/cadabelief", "meng2023/rates", "new2024/main"]}
    finished.configure(MINI | {"papers": ["meng2023", "new2024"]} | config)
    finished.make()

    claims = pd.read_csv(finished.results / "tables" / "claims.csv")
    own = claims[(claims["paper"] == "new2024") & (claims["part"] == "overall")]
    verdicts = dict(zip(own["claim"], map(in_words, own.to_dict("records")), strict=True))
    assert verdicts == {
        "momentum-beats-sgd": "open: needs real data",
        "accuracy-of-momentum": "open: needs real data",
        "converges": "not judged",
    }
    printed = pd.read_csv(finished.results / "tables" / "published.csv")
    own = printed[printed["paper"] == "new2024"].set_index("row")
    assert own["printed"].to_dict() == {"SGD": 75.0, "momentum": 80.0}
    assert own["ours"].between(0, 100).all()
    records = read_json(finished.results / "claims.json")["records"]
    assert {"meng2023", "new2024"} == {record["paper"]["key"] for record in records}
    page = (finished.results / "reports" / "new2024.html").read_text(encoding="utf-8")
    assert "Title as printed" in page and "The paper prints 80" in page
    index = (finished.results / "reports" / "index.html").read_text(encoding="utf-8")
    assert "momentum is more accurate than SGD" in index and "new2024.html" in index
    after = finished.contents("../workflow/**/*")
    assert {path: after[path] for path in before} == before

"""Every printed number beside ours: the table that all papers fill alike."""

import math

import numpy as np
import pandas as pd
import pytest
import synthetic
import yaml
from claims_of_runs import verdicts
from synthetic import cell, study

from dpfl.base import files
from dpfl.judging import published as table
from dpfl.judging import records
from dpfl.papers import folder, published
from dpfl.tables import results
from dpfl.words import vocabulary as words

PRINTED = """table,row,metric,value,dataset,epsilon,rounds,printed_sd,not_run
table 1,ours,accuracy_pct,95.0,mnist,2,10,0.2,
table 1,ours,accuracy_pct,97.0,mnist,8,,,
table 2,ours,privacy_loss_epsilon,1.5,mnist,,25,,
table 3,ours,accuracy_pct,99.0,mnist,9,,,no code is known
"""


@pytest.fixture(autouse=True)
def paper(monkeypatch, tmp_path):
    """A paper that printed three numbers."""
    home = tmp_path / "papers" / "new2024"
    home.mkdir(parents=True)
    monkeypatch.setattr(folder, "HOME", tmp_path / "papers")
    (home / "published.csv").write_text(PRINTED, encoding="utf-8")
    (home / "paper.yaml").write_text(yaml.safe_dump({"title": "new"}), encoding="utf-8")
    published.read.cache_clear()
    yield
    published.read.cache_clear()


NUMBER = {"paper": "new2024", "table": "table 1", "row": "ours", "reading": "", "value": 95.0}
FIRST = {"published": [NUMBER | {"line": 2}]}
"""What a cell is that stands beside the first line."""


def ran(tmp_path, **extra):
    cells = [cell("sgd", 2.0, 5) | FIRST, cell("sgd", 8.0, 5) | {"published": []}]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.95 + 0.0001 * s})
    made = study(cells, name="new2024/main", **extra)
    return made, results.frame(made, tmp_path)


def test_no_printed_number_is_dropped(tmp_path):
    found = table.table("new2024", [ran(tmp_path)], {})
    assert found["printed"].tolist() == [95.0, 97.0, 1.5, 99.0]
    assert verdicts(found) == [words.MATCHES, words.NOT_RUN, words.NOT_RUN, words.NOT_JUDGED]
    assert found["rounds"].tolist()[:3:2] == [10.0, 25.0] and math.isnan(found["rounds"][1])
    assert found["not_run"].tolist()[3] == "no code is known" and found["printed_sd"][0] == "0.2"
    first = found.iloc[0]
    assert first["ours"] == pytest.approx(95.02) and first["n"] == 5
    assert first["difference"] == pytest.approx(0.02)
    assert (first["eps_claimed"], first["study"]) == (2.0, "new2024/main")
    assert first["runs"].split() == [f"sgd-2-{seed}" for seed in range(5)]
    assert found["ours"][1:].isna().all()


def test_a_number_beside_a_cell_without_a_result_is_unfinished(tmp_path):
    made, runs = ran(tmp_path)
    second = FIRST["published"][0] | {"value": 97.0, "line": 3}
    made["unfinished"] = [{"method": "sgd", "published": [second]}]
    found = table.table("new2024", [(made, runs)], {})
    assert verdicts(found)[:3] == [words.MATCHES, words.UNFINISHED, words.NOT_RUN]
    assert found["study"][1] == "new2024/main" and math.isnan(found["ours"][1])


def test_names_that_look_like_numbers_stay_names(tmp_path):
    columns = ("paper", "claim", "row", "printed", "epsilon", "weak_baseline")
    written = pd.DataFrame(
        [("2024", "3.10", "NA", 1.5, math.inf, True), ("2024", "3.1", "None", None, None, "")],
        columns=columns,
    )
    files.write_text(tmp_path / "claims.csv", written.to_csv(index=False))
    found = records.read(tmp_path / "claims.csv")
    assert found["claim"].tolist() == ["3.10", "3.1"] and set(found["paper"]) == {"2024"}
    assert found["row"].tolist() == ["NA", "None"]
    assert found["printed"].isna().tolist() == [False, True] and math.isinf(found["epsilon"][0])
    assert found.to_csv(index=False) == written.to_csv(index=False)


def test_a_run_that_failed_is_in_no_mean_beside_a_printed_number(tmp_path):
    """With the fifth of ten lost there is no verdict at five; the nine others give one at ten."""
    cells = [cell("sgd", 2.0, 10) | FIRST]
    accuracies = 0.95 + 0.0001 * np.arange(10)
    accuracies[4] = 0.1135
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": accuracies[s]})
    made = study(cells, name="new2024/main")
    found = table.table("new2024", [(made, results.frame(made, tmp_path))], {}).iloc[0]
    assert (found["n"], found["failed"], found["verdict"]) == (9, 1, "matches")
    assert found["ours"] == pytest.approx(95 + 0.01 * (45 - 4) / 9)


@pytest.mark.parametrize(
    ("extra", "verdict"),
    [({"demonstrates": True}, words.DEMONSTRATION), ({"shorter": True}, words.SHORTER)],
)
def test_a_demonstration_or_a_shorter_training_judges_nothing(tmp_path, extra, verdict):
    found = table.table("new2024", [ran(tmp_path, **extra)], {})
    assert verdicts(found) == [verdict, words.NOT_RUN, words.NOT_RUN, words.NOT_JUDGED]
    assert found["ours"][0] == pytest.approx(95.02)


def test_a_computed_price_stands_beside_a_printed_loss(tmp_path):
    prices = pd.DataFrame(
        [
            {"line": 4, "reading": "one", "printed": 1.5, "ours": 1.4, "verdict": "differs"},
            {"line": 4, "reading": "all", "printed": 1.5, "ours": 1.5, "verdict": "matches"},
        ]
    )
    found = table.table("new2024", [], {"new2024/price": prices})
    own = found[found["table"] == "table 2"]
    assert own["reading"].tolist() == ["one", "all"]
    assert own["difference"].tolist() == pytest.approx([-0.1, 0.0])
    assert np.isnan(own["ci_low"]).all()

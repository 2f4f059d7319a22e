"""The whole workflow, small: what it makes, and what a change makes again."""

import json
import os
import re

import pytest

BEFORE_TRAINING = {"prepare_data", "partition", "calibrate"}
AFTER_TRAINING = {"tabulate", "judge", "collect_claims", "notebook", "report"}


def test_a_second_call_has_nothing_to_do(mini):
    before = mini.contents("**/*")
    assert "Nothing to be done" in mini.make()
    assert mini.contents("**/*") == before


def test_touching_a_file_reruns_nothing(finished):
    for folder in ("workflow", "notebooks", "results"):
        for path in (finished.path / folder).rglob("*"):
            os.utime(path)
    assert finished.pending() == {}


@pytest.mark.parametrize("optimizer", ["sgd", "cadabelief"])
def test_editing_an_optimizer_reruns_only_its_runs(finished, optimizer):
    finished.append(f"workflow/scripts/dpfl/optimizers/{optimizer}.py", "\n_CHANGED = True\n")
    pending = finished.pending()
    mine = {name for name in finished.runs() if f"-{optimizer}-" in name}
    assert len(mine) == 4
    assert {file.split("/")[2] for file in pending["train"]} == mine
    assert [f"-{optimizer}-" in file for file in pending["tune"]] == [True]
    assert pending.keys() - {"train_pack"} == AFTER_TRAINING | {"train", "tune"}


def test_a_setting_that_training_does_not_read_retrains_nothing(mini):
    pending = mini.pending("--config", "margin=2.5")
    assert "results/tables/meng2023/cadabelief.csv" in pending["tabulate"]
    assert not pending.keys() & {*BEFORE_TRAINING, "train", "tune"}


def test_snakemakes_report_has_captions_categories_and_labels(finished):
    finished.make("--report", "report.html")
    page = (finished.path / "report.html").read_text(encoding="utf-8")
    assert "system-message" not in page  # what docutils says of a slip of markup
    variables = dict(re.findall(r"^ *var (results|categories) = (\{.*\});?$", page, re.M))
    categories = json.loads(variables["categories"])
    assert {"Overview", "Papers", "Tables", "Figures", "Partitions"} <= categories.keys()
    for name, result in json.loads(variables["results"]).items():
        assert result["caption"], name
        assert result["labels"], name

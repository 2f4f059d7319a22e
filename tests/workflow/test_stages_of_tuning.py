"""Tuning in the workflow: later trials follow from earlier ones, and all of it can be resumed."""

import shutil
from itertools import pairwise

import pytest
from worktree import MINI

from dpfl.base.files import read_json

STUDY = "meng2023/cadabelief"
BISECTED = MINI | {
    "studies": {
        STUDY: {"methods": ["sgd"], "epsilons": [8], "seeds": [0]},
        "meng2023/rates": {
            "methods": ["sgd"],
            "epsilons": [8],
            "vary": {"rate": [0.1, 0.4]},
            "tuning": {"uses": "bisect"},
        },
    }
}


@pytest.fixture(scope="module")
def bisected(mini, tmp_path_factory):
    """A tree in which one method is tuned by bisection; tests must not change it."""
    tree = mini.copy(tmp_path_factory.mktemp("once") / "tree")
    tree.configure(BISECTED)
    tree.make()
    return tree


def stages(tree):
    """The stages of tuning that this configuration has, by how many trials they had waited for."""
    names = [p.stem for p in tree.results.glob("tunings/*.json")]
    found = [read_json(tree.results / "tunings" / f"{name}.json") for name in names]
    own = [stage for stage in found if stage["uses"] == "bisect"]
    return sorted(own, key=lambda stage: len(stage["trials"]))


def test_every_stage_tries_what_the_one_before_it_names(bisected):
    waited = stages(bisected)
    assert [len(stage["trials"]) for stage in waited] == [2, 4, 6, 8]
    for before, after in pairwise(waited):
        added = after["trials"][len(before["trials"]) :]
        assert [trial["values"] for trial in added] == before["values"]
    for trial in waited[-1]["trials"]:
        for run, accuracy in zip(trial["runs"], trial["accuracies"], strict=True):
            summary = read_json(bisected.results / "runs" / run / "summary.json")
            assert summary["settings"]["optimizer"]["rate"] == trial["values"]["rate"]
            assert summary["final_validation_accuracy"] == accuracy
    [run] = bisected.runs_of(STUDY)
    settings = read_json(bisected.results / "runs" / run / "summary.json")["settings"]
    assert [settings["optimizer"]["rate"]] == [v["rate"] for v in waited[-1]["values"]]
    assert settings["partition"]["validation_fraction"] == 0


def test_a_lost_trial_of_a_late_stage_is_trained_alone_and_to_the_same_choice(bisected, tmp_path):
    tree = bisected.copy(tmp_path / "tree")
    before = tree.contents("benchmarks/train/*.tsv")
    last = stages(tree)[-1]
    lost = last["trials"][-1]["runs"][0]
    shutil.rmtree(tree.results / "runs" / lost)
    [choice] = (p for p in tree.results.glob("tunings/*.json") if read_json(p) == last)
    choice.unlink()
    tree.make(f"results/tunings/{choice.name}")
    after = tree.contents("benchmarks/train/*.tsv")
    assert {name for name in after if before.get(name) != after[name]} == {
        f"benchmarks/train/{lost}.tsv"
    }
    assert stages(tree)[-1] == last

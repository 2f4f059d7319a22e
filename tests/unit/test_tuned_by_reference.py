"""Studies that take kept values: the plan has them as plain settings and no trial, or says why."""

from pathlib import Path

import pytest

from dpfl.base.errors import UserError
from dpfl.base.files import digest, write_json
from dpfl.checks import config as configuration
from dpfl.papers import folder
from dpfl.planning import plan
from dpfl.report import privacy_words

CHANGES = {"methods": ["sgd", "adam"], "epsilons": [8], "seeds": [0, 1], "tuned_by": "reference"}
VALUES = {"sgd": 0.22, "adam": 0.007}


@pytest.fixture
def config(root, tmp_path, monkeypatch):
    """A configuration of one study, in a folder of its own for kept results."""
    monkeypatch.chdir(tmp_path)
    own = {"papers": ["meng2023"], "select": ["meng2023/cadabelief"]}
    return folder.read(root / "config.yaml") | own | {"studies": {"meng2023/cadabelief": CHANGES}}


def keep(values: dict[str, float]) -> None:
    """Write what make keep writes of tuned values."""
    cell = {"study": "cadabelief", "variant": {}, "epsilon": 8.0}
    found = [cell | {"method": m, "values": {"optimizer.rate": v}} for m, v in values.items()]
    home = Path("results/reference/meng2023/demo")
    write_json(home / "chosen.json", found)
    told = {"chosen.json": {"sha256": digest(home / "chosen.json")}}
    write_json(home / "provenance.json", {"files": told})


def made(config: dict) -> plan.Plan:
    return plan.make(configuration.composed(config))


def test_kept_values_enter_the_plan_as_they_are(config):
    keep(VALUES)
    found = made(config)
    rates = [run["settings"]["optimizer"]["rate"] for run in found.runs.values()]
    assert rates == [0.22, 0.22, 0.007, 0.007]
    assert not found.tunings and all(run["tuning"] is None for run in found.runs.values())
    study = found.studies["meng2023/cadabelief"]
    assert [cell["variant"] for cell in study["cells"]] == [{}, {}]
    assert "results/reference keeps" in privacy_words.selection(study)


def test_a_run_is_named_by_its_values(config):
    keep(VALUES)
    before = set(made(config).runs)
    keep(VALUES | {"sgd": 0.4})
    assert len(before & set(made(config).runs)) == 2


def test_missing_values_are_one_line(config):
    with pytest.raises(UserError, match=r"no results/reference/meng2023/demo/chosen.json") as none:
        made(config)
    keep({"sgd": 0.22})
    with pytest.raises(UserError, match="has no values of adam, epsilon 8") as cell:
        made(config)
    assert all("\n" not in str(error.value) for error in (none, cell))


def test_values_that_were_edited_are_refused(config):
    keep(VALUES)
    write_json("results/reference/meng2023/demo/chosen.json", [])
    with pytest.raises(UserError, match=r"chosen.json: not as it was kept"):
        made(config)

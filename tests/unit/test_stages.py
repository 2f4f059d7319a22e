"""The trials of the plan: what is tuned on its own, at which epsilon, in which stages."""

import copy
from collections import Counter
from itertools import pairwise

import pytest

from dpfl.base import files
from dpfl.planning import plan
from dpfl.tuning.parts import tuned
from dpfl.tuning.parts.stages import stages_before

RATES = {"sgd": [0.03, 0.1, 0.3, 1, 3], "cadabelief": [0.001, 0.003, 0.01, 0.03, 0.1]}


@pytest.fixture
def meng(composed):
    """One small study of two methods, and the grid that it is tuned from."""
    config = copy.deepcopy(composed["meng2023"])
    config["select"] = ["cadabelief"]
    study, grid = (config["studies"][name] for name in ("cadabelief", "rates"))
    study |= {"methods": ["sgd", "adam"], "epsilons": [2, 8, "inf"], "seeds": [0]}
    del study["tuned_at"]
    grid |= {"methods": ["sgd", "adam"], "tuning": {"uses": "bisect"}}
    return config


def made(config):
    return plan.make({config["paper"]: config})


def cells(made_plan, study="meng2023/cadabelief"):
    return made_plan.studies[study]["cells"]


def trials(made_plan, cell):
    return [made_plan.runs[name] for name in tuned.trials_of(made_plan.tunings[cell["tuning"]])]


def test_every_cell_is_tuned_at_its_own_epsilon_by_as_many_trials(meng):
    found = made(meng)
    for cell in cells(found):
        assert {run["settings"]["epsilon"] for run in trials(found, cell)} == {cell["epsilon"]}
        seeds = [run["settings"]["seed"] for run in trials(found, cell)]
        assert Counter(seeds) == {0: 3 + 2 + 2, 1: 2, 2: 2}  # the last stage has its own
    assert len(cells(found)) == 6


def test_at_smallest_one_tuning_serves_every_epsilon(meng):
    meng["studies"]["cadabelief"]["tuned_at"] = "smallest"
    found = made(meng)
    assert len({cell["tuning"] for cell in cells(found)}) == 2
    for cell in cells(found):
        assert {run["settings"]["epsilon"] for run in trials(found, cell)} == {2.0}


def test_a_stage_waits_for_all_before_it_and_a_run_for_its_slot(meng):
    found = made(meng)
    cell = cells(found)[0]
    names = [*stages_before(found.tunings[cell["tuning"]]), cell["tuning"]]
    sizes = [len(tuned.trials_of(found.tunings[name])) for name in names]
    assert sizes == [3, 5, 7, 11]
    waited = {name: tuned.trials_of(found.tunings[name]) for name in names}
    for before, after in pairwise(names):
        count = len(waited[before])
        earlier, added = waited[after][:count], waited[after][count:]
        assert earlier == waited[before]
        assert {found.runs[name]["tuning"] for name in added} == {before}
        rates = [found.runs[name]["settings"]["optimizer"]["rate"] for name in added]
        named = [tuned.marks(before, slot, ["rate"])["rate"] for slot in (0, 1)]
        assert all(mark in rates for mark in named) and all(rate in named for rate in rates)
    [final] = cell["runs"]
    assert found.runs[final]["tuning"] == names[-1]
    settings = found.runs[final]["settings"]
    assert settings["optimizer"]["rate"] == tuned.marks(names[-1], 0, ["rate"])["rate"]


def in_place(settings) -> list:
    """The tuned settings of a run: rate, clip norm, and one of the optimizer's own."""
    own = settings["optimizer"]
    return [own["rate"], settings["clipping"]["clip_norm"], own["settings"]["final_lr"]]


def test_any_setting_of_the_optimizer_or_the_clipping_rule_can_be_tuned(meng, tmp_path):
    over = ["rate", "clip_norm", "optimizer.settings.final_lr"]
    meng["studies"]["cadabelief"]["methods"] = ["cadabelief"]
    meng["studies"]["rates"] |= {
        "methods": ["cadabelief"],
        "vary": {"rate": [0.1, 1], "clip_norm": [0.3, 1], over[2]: [0.1]},
        "tuning": {"uses": "grid", "over": over},
    }
    found = made(meng)
    cell = cells(found)[0]
    first = found.tunings[cell["tuning"]]["trials"]
    values = [[*trial["values"].values()] for trial in first]
    assert values == [[rate, norm, 0.1] for rate in (0.1, 1) for norm in (0.3, 1)]
    assert [in_place(run["settings"]) for run in trials(found, cell)] == values
    settings = found.runs[cell["runs"][0]]["settings"]
    assert in_place(settings) == [*tuned.marks(cell["tuning"], 0, over).values()]
    named = {"values": [{"rate": 1, "clip_norm": 0.3, over[2]: 0.1}]}
    files.write_json(tmp_path / f"{cell['tuning']}.json", named)
    filled = tuned.filled(settings, tmp_path)
    assert in_place(filled) == [1, 0.3, 0.1]
    assert filled["federation"] == settings["federation"]


@pytest.fixture
def alongside(composed):
    """A study that varies mechanism, clipping rule and optimizer, tuned one by one."""
    config = copy.deepcopy(composed["zhou2022"])
    config["select"] = ["alongside"]
    config["studies"]["alongside"]["tuned_by"] = "alongside-rates"
    config["studies"]["alongside"]["vary"]["optimizer"] = ["sgd", "cadabelief"]
    return config


def test_every_variant_is_tuned_by_trials_of_its_own(alongside):
    found = made(alongside)
    own = cells(found, "zhou2022/alongside")
    assert len({cell["tuning"] for cell in own}) == len(own) == 10
    for cell in own:
        [final] = (found.runs[name]["settings"] for name in cell["runs"])
        for run in (trial["settings"] for trial in trials(found, cell)):
            for part in ("mechanism", "clipping", "budget", "federation"):
                assert run[part] == final[part]
            assert run["partition"]["validation_fraction"] > 0
        first = [t["values"]["rate"] for t in found.tunings[cell["tuning"]]["trials"][:5]]
        assert first == RATES[final["optimizer"]["algorithm"]]


def test_settings_that_are_tuned_once_share_the_tuning_made_without_them(alongside):
    alongside["studies"]["alongside"]["tuned_once"] = ["clipping"]
    alongside["studies"]["alongside-rates"]["vary"].pop("clipping")
    alongside["studies"]["alongside-rates"]["leave_out"].pop(0)
    found = made(alongside)
    own = cells(found, "zhou2022/alongside")
    assert len({cell["tuning"] for cell in own}) == 3 * 2
    tried = [run["settings"]["clipping"] for cell in own for run in trials(found, cell)]
    assert {clipping["clip_norm"] for clipping in tried} == {1.0}


def test_an_added_method_leaves_all_names_as_they_are(meng):
    before = made(meng)
    meng["studies"]["cadabelief"]["methods"] = ["sgd", "adam", "adabelief"]
    meng["studies"]["rates"]["methods"] = ["sgd", "adam", "adabelief"]
    after = made(meng)
    assert set(before.runs) < set(after.runs) and set(before.tunings) < set(after.tunings)

"""The expansion of the configuration: names, shared runs, tuned rates."""

import copy

import pytest

from dpfl import plugins
from dpfl.draws import streams
from dpfl.papers import folder
from dpfl.planning import estimate, methods, plan
from dpfl.tuning.parts import tuned
from dpfl.words.cell_words import rank_remark


def test_the_default_is_a_demonstration_of_at_most_120_runs(planned):
    assert len(planned.runs) <= 120


def test_every_method_of_a_paper_is_in_a_study_of_it(composed):
    for key, config in composed.items():
        own = set(folder.load(key).content.get("methods", {}))
        assert own <= {method for s in config["studies"].values() for method in s["methods"]}


def test_a_method_keeps_its_number_in_all_studies_and_where_one_is_added_last():
    studies = {"first": {"methods": ["adam", "sgd"]}, "second": {"methods": ["adam"]}}
    config = {"methods": dict.fromkeys(["sgd", "unused", "adam"]), "studies": studies}
    assert plan.method_numbers(config, "first") == {"sgd": 0, "adam": 1}
    config["methods"]["new"] = {}
    studies["second"]["methods"] = ["new", "adam"]
    assert plan.method_numbers(config, "first") == {"sgd": 0, "adam": 1}
    assert plan.method_numbers(config, "second") == {"adam": 1, "new": 2}


LARGER = {"label", "by-theorem"}
OF_NO_PAPER = {"dpsgd-normalised", "dpsgd-psac", "fedopt", "sam", "fedavg-by-tensor"}
OF_NO_PAPER |= {"dpsgd-batch-medians", "dpsgd-shared-noise"}
OF_NO_PAPER |= {"fedavg-raw-threshold", "fedavg-inverted-clip", "fedavg-by-size"}


@pytest.mark.parametrize("part", ["mechanism", "clipping", "optimizer", "budget"])
def test_the_default_runs_every_plug_in(planned, part):
    package, key = methods.PLUG_INS[part]
    run = {r["settings"][part][key] for r in planned.runs.values()}
    assert run >= set(plugins.names(package)) - LARGER - OF_NO_PAPER


def test_a_cell_of_two_studies_is_one_run(planned):
    wanted = {"method": "cadabelief", "epsilon": 2}
    main, *_, state = (
        cell
        for name in ("cadabelief", "state")
        for cell in planned.studies[f"meng2023/{name}"]["cells"]
        if cell.items() >= wanted.items() and cell["variant"] in ({}, {"state": "persist"})
    )
    assert state["runs"][0] in main["runs"]


def test_seeds_pair_across_methods_and_budgets(planned):
    by_seed = {}
    alike = {"scheme": "iid", "clients": 3, "validation_fraction": 0.0}
    for settings in (run["settings"] for run in planned.runs.values()):
        if settings["partition"].items() >= alike.items():
            by_seed.setdefault(settings["seed"], set()).add(streams.pairing_key(settings))
    assert len(set().union(*by_seed.values())) == len(by_seed) > 1
    assert all(len(keys) == 1 for keys in by_seed.values())


def test_a_non_private_run_has_no_noise_to_calibrate(planned):
    for run in planned.runs.values():
        private = run["settings"]["epsilon"] != "inf"
        assert (run["calibration"] is not None) == private
        assert (run["settings"]["mechanism"]["estimator"] == "nonprivate") != private


def test_a_changed_setting_changes_only_the_names_it_touches(composed):
    config = copy.deepcopy(composed["meng2023"])
    config["optimizers"]["adam"]["settings"]["eps"] = 1e-6
    before, after = plan.make({"meng2023": composed["meng2023"]}), plan.make({"meng2023": config})
    gone = set(before.runs) - set(after.runs)
    assert gone and all(
        before.runs[r]["settings"]["optimizer"]["algorithm"] == "adam" for r in gone
    )
    assert before.calibrations == after.calibrations and before.partitions == after.partitions


def test_numbers_vary_within_a_component(planned):
    surface = planned.studies["composition-text/clip-noise"]["cells"]
    assert len(surface) == 4
    for cell in surface:
        settings = planned.runs[cell["runs"][0]]["settings"]
        assert (settings["clipping"] | settings["budget"]).items() >= cell["variant"].items()
    for cell in planned.studies["composition-text/client-level"]["cells"]:
        settings = planned.runs[cell["runs"][0]]["settings"]
        assert settings["partition"]["clients"] == cell["variant"]["clients"]


def test_trials_are_shared_with_the_grid_of_another_paper(planned):
    [budgets] = {c["tuning"] for c in planned.studies["composition-text/budgets"]["cells"]}
    grid = [c for c in planned.studies["meng2023/rates"]["cells"] if c["method"] == "sgd"]
    assert not any("tuning" in c for c in grid)
    assert {run for c in grid for run in c["runs"]} <= set(
        tuned.trials_of(planned.tunings[budgets])
    )
    assert planned.studies["composition-text/budgets"]["baseline"] == {"budget": "uniform"}


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        ({"rank": 250, "solver": "gram"}, ""),
        ({"rank": 500, "solver": "gram"}, "k > L = 250: gram stops at rank L"),
        ({"rank": 500, "solver": "funk"}, "k > L = 250: funk is overcomplete"),
        ({"rank": 500, "solver": "gram", "reading": "matrix"}, ""),  # the batch is no matrix there
        ({"rank": 500}, ""),  # of fsdp-certified, whose basis is not of the batch
        ({}, ""),
    ],
)
def test_a_rank_that_the_batch_does_not_have_is_remarked(mechanism, expected):
    assert rank_remark({"mechanism": mechanism, "federation": {"batch_size": 250}}) == expected


def test_tuned_methods_of_equal_settings_share_their_runs(composed):
    config = copy.deepcopy(composed["zhou2022"])
    config["select"] = ["fsdp-ablation", "fsdp-gain"]
    for name in config["select"]:
        config["studies"][name]["tuned_by"] = "fsdp-rates"
    config["studies"]["fsdp-rates"]["dataset"] = "digits"
    config["studies"]["fsdp-ablation"]["methods"] = [m for m in config["methods"] if "ablat" in m]
    made = plan.make({"zhou2022": config})
    cells = {c["method"]: c for s in made.studies.values() for c in s["cells"]}
    assert cells["ablation-s"]["runs"] == cells["ablation"]["runs"] == cells["dpsgd"]["runs"]
    assert len({c["tuning"] for c in cells.values()}) == 8 + 4  # dpsgd at clip norm 1 is one of 8


def test_what_is_left_out_is_not_run(planned):
    variants = [c["variant"] for c in planned.studies["zhou2022/alongside"]["cells"]]
    assert len(variants) == 3 * 2 - 1
    pairs = {(v["mechanism"], v["clipping"]) for v in variants}
    assert ("fsdp-certified", "batch-mean") not in pairs


def test_a_costly_method_may_have_fewer_seeds(composed):
    config = copy.deepcopy(composed["zhou2022"])
    study = config["studies"]["fsdp-compare"]
    study |= {"seeds": [0, 1, 2], "epsilons": [2, 8], "method_seeds": {"pdpsgd": [1]}}
    cells = plan.make({"zhou2022": config}).studies["zhou2022/fsdp-compare"]["cells"]
    of = {(c["method"], c["epsilon"]): c["seeds"] for c in cells}
    assert of[("pdpsgd", 2.0)] == of[("pdpsgd", 8.0)] == [1]
    assert all(seeds == [0, 1, 2] for (method, _), seeds in of.items() if method != "pdpsgd")


def test_every_method_of_a_study_has_the_same_public_examples(planned):
    for name in ("fsdp-compare", "fsdp-k", "fsdp-ablation"):
        runs = {run for c in planned.studies[f"zhou2022/{name}"]["cells"] for run in c["runs"]}
        held = {planned.runs[run]["settings"]["partition"]["public_examples"] for run in runs}
        assert held == {100}
    sgd = planned.studies["meng2023/cadabelief"]["cells"][0]["runs"][0]
    assert "public_examples" not in planned.runs[sgd]["settings"]["partition"]


def test_a_study_may_vary_its_network(composed):
    config = copy.deepcopy(composed["zhou2022"])
    config["studies"]["fsdp-k"]["vary"]["model"] = ["mnist-cnn", "mnist-cnn-tanh"]
    made = plan.make({"zhou2022": config})
    for cell in made.studies["zhou2022/fsdp-k"]["cells"]:
        trained = {made.runs[run]["settings"]["model"] for run in cell["runs"]}
        assert trained == {cell["variant"]["model"]}


def test_the_unit_is_that_of_the_mechanism(planned):
    units = {name: {c["unit"] for c in s["cells"]} for name, s in planned.studies.items()}
    assert units.pop("composition-text/client-level") == {"client"}
    assert set().union(*units.values()) == {"example"}
    for run in planned.runs.values():
        if run["calibration"]:
            calibrated = planned.calibrations[run["calibration"]]["settings"]
            assert calibrated["unit"] == run["settings"]["unit"]


def test_memory_to_ask_for_holds_the_basis_and_the_gradients_of_a_batch(planned):
    every = {
        run["settings"]["mechanism"]["estimator"]: run["settings"] for run in planned.runs.values()
    }

    def asked(name, **mechanism):
        settings = copy.deepcopy(every[name]) | {"model": "cifar10-cnn"}
        settings["mechanism"] |= mechanism
        settings["federation"]["batch_size"] = 250
        return estimate.memory_mb(settings)

    floats = 8 * 550_570 / 1e6  # float64, the parameters of the network
    assert asked("fsdp-certified", rank=1000) - asked("fsdp-certified", rank=0) > 1000 * floats
    assert asked("fsdp-published") - asked("fsdp-central") > 250 * floats

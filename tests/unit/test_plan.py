"""The expansion of the configuration: names, shared runs, tuned rates."""

import copy

import pytest
import yaml

from dpfl import plugins
from dpfl.draws import streams
from dpfl.papers import folder
from dpfl.planning import estimate, methods, plan
from dpfl.planning.compose import compose
from dpfl.planning.stages import runs_of


@pytest.fixture(scope="module")
def default(root):
    """The configuration of every paper in the demonstration."""
    return compose(yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8")))


@pytest.fixture(scope="module")
def made(default):
    return plan.make(default)


def test_the_default_is_a_demonstration_of_at_most_170_runs(made, default):
    assert len(made.runs) <= 170
    selected = {f"{key}/{name}" for key, config in default.items() for name in config["select"]}
    assert set(made.studies) | set(made.analyses) == selected
    assert set(made.analyses) == {f"{k}/{n}" for k, c in default.items() for n in c["analyses"]}


def test_every_method_of_a_paper_is_in_a_study_of_it(default):
    for key, config in default.items():
        own = set(folder.load(key).content.get("methods", {}))
        assert own <= {method for s in config["studies"].values() for method in s["methods"]}


@pytest.mark.parametrize(
    "package, part, key",
    [
        ("mechanisms", "mechanism", "estimator"),
        ("clippings", "clipping", "rule"),
        ("optimizers", "optimizer", "algorithm"),
        ("privacy/budgets", "budget", "strategy"),
    ],
)
def test_the_default_runs_every_plug_in(made, package, part, key):
    run = {r["settings"][part][key] for r in made.runs.values()}
    assert run >= set(plugins.names(package)) - {"label"}  # of larger scales


def test_a_cell_of_two_studies_is_one_run(made):
    main = {
        c["method"]: c for c in made.studies["meng2023/cadabelief"]["cells"] if c["epsilon"] == 2
    }
    state = next(
        c
        for c in made.studies["meng2023/state"]["cells"]
        if c["method"] == "cadabelief" and c["variant"] == {"state": "persist"}
    )
    assert state["runs"][0] in main["cadabelief"]["runs"]


def test_seeds_pair_across_methods_and_budgets(made):
    by_seed = {}
    for run in made.runs.values():
        if run["settings"]["partition"]["validation_fraction"]:
            continue
        partition = run["settings"]["partition"]
        if partition["scheme"] == "iid" and partition["clients"] == 3:
            by_seed.setdefault(run["settings"]["seed"], set()).add(
                streams.pairing_key(run["settings"])
            )
    assert all(len(keys) == 1 for keys in by_seed.values())
    assert len({next(iter(keys)) for keys in by_seed.values()}) == len(by_seed)


def test_a_non_private_run_has_no_noise_to_calibrate(made):
    for run in made.runs.values():
        private = run["settings"]["epsilon"] != "inf"
        assert (run["calibration"] is not None) == private
        assert (run["settings"]["mechanism"]["estimator"] == "nonprivate") != private


def test_a_changed_setting_changes_only_the_names_it_touches(default):
    config = copy.deepcopy(default["meng2023"])
    config["optimizers"]["adam"]["settings"]["eps"] = 1e-6
    before, after = plan.make({"meng2023": default["meng2023"]}), plan.make({"meng2023": config})
    gone = set(before.runs) - set(after.runs)
    assert gone and all(
        before.runs[r]["settings"]["optimizer"]["algorithm"] == "adam" for r in gone
    )
    assert before.calibrations == after.calibrations and before.partitions == after.partitions


def test_method_and_study_names_do_not_name_runs(default):
    config = copy.deepcopy(default["meng2023"])
    config["methods"]["renamed"] = config["methods"]["sgd"]
    config["select"] = ["rates"]
    config["studies"]["rates"]["methods"] = ["renamed"]
    reference = copy.deepcopy(default["meng2023"])
    reference["select"] = ["rates"]
    reference["studies"]["rates"]["methods"] = ["sgd"]
    assert set(plan.make({"meng2023": config}).runs) == set(plan.make({"meng2023": reference}).runs)


def test_numbers_vary_within_a_component(made):
    surface = made.studies["composition-text/clip-noise"]["cells"]
    assert len(surface) == 4
    for cell in surface:
        settings = made.runs[cell["runs"][0]]["settings"]
        assert settings["clipping"]["clip_norm"] == cell["variant"]["clip_norm"]
        assert settings["budget"]["noise_multiplier"] == cell["variant"]["noise_multiplier"]
    for cell in made.studies["composition-text/rounds-batch"]["cells"]:
        settings = made.runs[cell["runs"][0]]["settings"]
        assert settings["federation"]["rounds"] == cell["variant"]["rounds"]
        calibrated = made.calibrations[made.runs[cell["runs"][0]]["calibration"]]["settings"]
        assert calibrated["federation"]["batch_size"] == cell["variant"]["batch_size"]


def test_trials_are_shared_with_the_grid_of_another_paper(made):
    [budgets] = {c["tuning"] for c in made.studies["composition-text/budgets"]["cells"]}
    grid = [c for c in made.studies["meng2023/rates"]["cells"] if c["method"] == "sgd"]
    assert {run for c in grid for run in c["runs"]} <= set(runs_of(made.tunings[budgets]))
    assert made.studies["composition-text/budgets"]["baseline"] == {"budget": "uniform"}


def test_the_sixteen_ablations_are_eight_runs_of_each_seed_and_epsilon(made):
    cells = {c["method"]: c for c in made.studies["zhou2022/fsdp-ablation"]["cells"]}
    assert len(cells) == 16
    assert len({run for c in cells.values() for run in c["runs"]}) == 8
    assert cells["ablation-msrc"]["runs"] == cells["ablation-mrc"]["runs"]


@pytest.mark.parametrize(
    ("mechanism", "expected"),
    [
        ({"rank": 250, "solver": "gram"}, ""),
        ({"rank": 500, "solver": "gram"}, "k > L = 250: gram stops at rank L"),
        ({"rank": 500, "solver": "funk"}, "k > L = 250: funk is overcomplete"),
        ({"rank": 500, "solver": "gram", "reading": "rows"}, "k > L = 250: gram stops at rank L"),
        ({"rank": 500, "solver": "gram", "reading": "matrix"}, ""),  # the batch is no matrix there
        ({"rank": 500}, ""),  # of fsdp-certified, whose basis is not of the batch
        ({}, ""),
    ],
)
def test_a_rank_that_the_batch_does_not_have_is_remarked(mechanism, expected):
    assert methods.remark({"mechanism": mechanism, "federation": {"batch_size": 250}}) == expected


def test_tuned_methods_of_equal_settings_share_their_runs(default):
    config = copy.deepcopy(default["zhou2022"])
    config["select"] = ["fsdp-ablation", "fsdp-gain"]
    for name in config["select"]:
        config["studies"][name]["tuned_by"] = "fsdp-rates"
    config["studies"]["fsdp-rates"]["dataset"] = "digits"
    made = plan.make({"zhou2022": config})
    cells = {c["method"]: c for s in made.studies.values() for c in s["cells"]}
    assert cells["ablation-s"]["runs"] == cells["ablation"]["runs"] == cells["dpsgd"]["runs"]
    tuned = {c["tuning"] for c in cells.values()}
    assert len(tuned) == 8 + 4  # dpsgd at clip norm 1 is one of the 8


def test_what_is_left_out_is_not_run(made):
    variants = [c["variant"] for c in made.studies["zhou2022/alongside"]["cells"]]
    assert len(variants) == 3 * 3 - 1
    pairs = {(v["mechanism"], v["clipping"]) for v in variants}
    assert ("fsdp-certified", "batch-mean") not in pairs


def test_every_method_beside_fsdp_has_five_trials_in_a_row(default):
    grid = default["zhou2022"]["studies"]["fsdp-rates"]
    rates = grid["vary"]["rate"]
    for method in grid["methods"]:
        kept = [variant["rate"] for variant in methods.variants(grid, method)]
        assert len(kept) == 5
        first = rates.index(kept[0])
        assert kept == rates[first : first + 5]


def test_a_costly_method_may_have_fewer_seeds(default):
    config = copy.deepcopy(default["zhou2022"])
    study = config["studies"]["fsdp-compare"]
    study |= {"seeds": [0, 1, 2], "epsilons": [2, 8], "method_seeds": {"pdpsgd": [1]}}
    cells = plan.make({"zhou2022": config}).studies["zhou2022/fsdp-compare"]["cells"]
    of = {(c["method"], c["epsilon"]): c["seeds"] for c in cells}
    assert of[("pdpsgd", 2.0)] == of[("pdpsgd", 8.0)] == [1]
    assert all(seeds == [0, 1, 2] for (method, _), seeds in of.items() if method != "pdpsgd")


def test_every_method_of_a_study_has_the_same_public_examples(made):
    for name in ("fsdp-compare", "fsdp-k", "fsdp-ablation"):
        runs = {run for c in made.studies[f"zhou2022/{name}"]["cells"] for run in c["runs"]}
        held = {made.runs[run]["settings"]["partition"]["public_examples"] for run in runs}
        assert held == {100}
    sgd = made.studies["meng2023/cadabelief"]["cells"][0]["runs"][0]
    assert "public_examples" not in made.runs[sgd]["settings"]["partition"]


def test_a_study_may_vary_its_network(default):
    config = copy.deepcopy(default["zhou2022"])
    config["studies"]["fsdp-k"]["vary"]["model"] = ["mnist-cnn", "mnist-cnn-tanh"]
    made = plan.make({"zhou2022": config})
    cells = made.studies["zhou2022/fsdp-k"]["cells"]
    assert {c["variant"]["model"] for c in cells} == {"mnist-cnn", "mnist-cnn-tanh"}
    for cell in cells:
        trained = {made.runs[run]["settings"]["model"] for run in cell["runs"]}
        assert trained == {cell["variant"]["model"]}


def test_the_unit_is_that_of_the_mechanism(made):
    units = {name: {c["unit"] for c in s["cells"]} for name, s in made.studies.items()}
    assert units.pop("composition-text/client-level") == {"client"}
    assert set().union(*units.values()) == {"example"}
    for run in made.runs.values():
        if run["calibration"]:
            calibrated = made.calibrations[run["calibration"]]["settings"]
            assert calibrated["unit"] == run["settings"]["unit"]


def test_memory_to_ask_for_holds_the_basis_and_the_gradients_of_a_batch(made):
    def asked(name, **mechanism):
        settings = next(
            run["settings"]
            for run in made.runs.values()
            if run["settings"]["mechanism"]["estimator"] == name
        )
        settings = copy.deepcopy(settings) | {"model": "cifar10-cnn"}
        settings["mechanism"] |= mechanism
        settings["federation"]["batch_size"] = 250
        return estimate.memory_mb(settings)

    floats = 8 * 550_570 / 1e6  # float64, the parameters of the network
    assert asked("fsdp-certified", rank=1000) - asked("fsdp-certified", rank=0) > 1000 * floats
    assert asked("fsdp-published") - asked("fsdp-central") > 250 * floats

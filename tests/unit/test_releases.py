"""Releases before the first step: priced with the steps in one account, and made by a run."""

from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from dp_accounting.pld import privacy_loss_distribution as pld
from test_run import STANDARDISED

from dpfl import plugins
from dpfl.attacks import query
from dpfl.base.errors import UserError
from dpfl.base.files import read_json
from dpfl.contracts.schedule import Budget, Work
from dpfl.data import load
from dpfl.privacy import accounting
from dpfl.privacy.cache import NoiseCache
from dpfl.privacy.calibration import Settings, calibrate
from dpfl.training import run, summary

DELTA = 1e-5
ASKED = {
    "epsilon": 2.0,
    "delta": DELTA,
    "accountant": "pld",
    "budget": {"strategy": "uniform"},
    "federation": {"batch_size": 100, "rounds": 3, "local_steps": 10},
    "participation_key": ["digits", "iid", 0, "participation"],
    "releases": [["means", 16.0], ["second moments", 16.0]],
}
ONE = np.zeros(1000, dtype=np.int32)


def price(q, z, steps, released=()):
    """Return epsilon by the library alone: k Gaussians of all examples are one of less noise."""
    grid = 1e-4
    total = pld.from_gaussian_mechanism(z, value_discretization_interval=grid, sampling_prob=q)
    total = total.self_compose(steps)
    if released:
        joint = sum(r**-2 for r in released) ** -0.5
        once = pld.from_gaussian_mechanism(joint, value_discretization_interval=grid)
        total = total.compose(once)
    return total.get_epsilon_for_delta(DELTA)


# --- One account


def test_steps_and_releases_together_cost_what_is_certified():
    found = calibrate(Settings.read(ASKED), ONE)
    record = found["clients"][0]
    z = record["noise_multipliers"][0]
    assert found["eps_certified"] <= 2
    assert found["eps_certified"] == pytest.approx(price(0.1, z, 30, (16, 16)), rel=1e-4)
    assert found["eps_certified"] > price(0.1, z, 30)
    names = ("means", "second moments")
    assert record["releases"] == [{"name": n, "noise_multiplier": 16.0} for n in names]
    both = pld.from_gaussian_mechanism(16 / 2**0.5, value_discretization_interval=1e-4)
    assert record["released"] == pytest.approx(both.get_epsilon_for_delta(DELTA), rel=1e-3)
    assert record["released"] < record["spent"][0] < record["spent"][-1] == found["eps_certified"]
    without = calibrate(Settings.read({**ASKED, "releases": []}), ONE)["clients"][0]
    assert 1.002 < z / without["noise_multipliers"][0] < 1.2
    assert not {"releases", "released"} & without.keys()


def test_a_schedule_that_is_kept_is_that_of_its_releases(tmp_path):
    cache = NoiseCache(tmp_path)
    found, again = (
        [calibrate(Settings.read(ASKED | {"releases": r}), ONE, cache) for r in both]
        for both in ([[], ASKED["releases"]] for _ in range(2))
    )
    assert found == again and found[0]["clients"] != found[1]["clients"]


@pytest.mark.parametrize("name", ["uniform", "constant", "decay", "growth"])
def test_every_fixed_strategy_pays_for_what_was_released(name):
    linear = {"shape": "linear", "ratio": 4}
    own = {"constant": {"noise_multiplier": 2.5}, "decay": linear, "growth": linear}.get(name, {})
    work = Work(0.1, 10, 2, (4.0,))
    schedule = plugins.load("privacy/budgets", name).schedule(work, Budget(2.5, DELTA), **own)
    total = accounting.spent(0.1, schedule.segments(work), DELTA, work.released)[-1]
    assert accounting.spent(0.1, schedule.segments(work), DELTA)[-1] < total <= 2.5
    assert schedule.paid_steps > 0


def test_what_leaves_nothing_for_the_steps_is_refused():
    alone = accounting.epsilon_of_run("pld", 1.0, (), (16.0, 16.0), DELTA)
    assert 0.2 < alone < 0.5
    message = r"epsilon is 0.2, must be > 0\.\d+, which what is released before the first step"
    constant = {"strategy": "constant", "noise_multiplier": 1.0}
    for budget in (ASKED["budget"], constant):
        with pytest.raises(UserError, match=message):
            calibrate(Settings.read({**ASKED, "epsilon": 0.2, "budget": budget}), ONE)


def test_units_and_strategies_that_do_not_cover_it_are_refused():
    with pytest.raises(UserError, match="statistics are released with noise for one example"):
        calibrate(Settings.read({**ASKED, "unit": "client"}), ONE)
    own = {"strategy": "adaptive", "save": 0.5, "spend": 1.5, "agreement": 0.0}
    with pytest.raises(UserError, match="adaptive prices steps alone"):
        calibrate(Settings.read({**ASKED, "budget": own}), ONE)


def test_clients_that_never_take_part_release_nothing():
    federation = {**ASKED["federation"], "rounds": 1, "clients_per_round": 1}
    three = np.arange(3000, dtype=np.int32) % 3
    found = calibrate(Settings.read({**ASKED, "federation": federation}), three)
    told = ["releases" in record for record in found["clients"]]
    assert sum(told) == 1 and told == [bool(record["rounds"]) for record in found["clients"]]


# --- A run


def settings(**changed):
    return tiny.settings(**STANDARDISED, **changed)


def trained(asked, folder):
    folder.mkdir(exist_ok=True)
    inputs = tiny.inputs_of(asked, folder)
    return run.train(asked, inputs, folder / "run", lambda line: None), inputs


def test_a_run_lists_its_releases_and_starts_with_their_price(tmp_path):
    result, inputs = trained(settings(), tmp_path)
    record = read_json(inputs.calibration)["clients"][0]
    assert result.metrics[0]["epsilon_spent"] == record["released"] > 0
    summary.write("name", settings(), inputs, result, tmp_path / "out")
    told = read_json(tmp_path / "out" / "summary.json")
    assert told["releases"]["0"] == record["releases"]
    assert told["eps_certified"] >= told["epsilon_spent"] > record["released"]
    plain = {key: value for key, value in settings().items() if key != "statistics"}
    result, inputs = trained(plain, tmp_path / "plain")
    summary.write("name", plain, inputs, result, tmp_path / "none")
    assert "releases" not in read_json(tmp_path / "none" / "summary.json")
    assert result.metrics[0]["epsilon_spent"] == 0


def test_without_privacy_inputs_are_standardised_exactly(tmp_path):
    asked = settings(epsilon="inf", mechanism={"estimator": "nonprivate"})
    result, inputs = trained(asked, tmp_path)
    x = load(inputs.data).train_inputs[np.load(inputs.assignment) >= 0].double()
    kept = result.model.state_dict()
    mean = x.mean(0)
    torch.testing.assert_close(kept["inputs.centre"].double(), mean, rtol=1e-5, atol=1e-6)
    spread = (x - mean).square().mean().rsqrt()
    torch.testing.assert_close(kept["inputs.scale"].double().view(()), spread, rtol=1e-5, atol=0)


def test_every_run_has_noise_of_its_own_in_what_it_releases(tmp_path):
    one, _ = trained(settings(), tmp_path / "one")
    other, _ = trained(settings(epsilon=40.0), tmp_path / "other")
    centres = [result.model.state_dict()["inputs.centre"] for result in (one, other)]
    assert not torch.equal(*centres)


def test_a_calibration_without_the_releases_is_refused(tmp_path):
    plain = {key: value for key, value in settings().items() if key != "statistics"}
    inputs = tiny.inputs_of(plain, tmp_path)
    with pytest.raises(UserError, match=r"releases = .*, but the calibration is for \[\]"):
        run.train(settings(), inputs, tmp_path / "run", lambda line: None)
    (tmp_path / "asked").mkdir()
    asked = tiny.inputs_of(settings(), tmp_path / "asked")
    with pytest.raises(UserError, match=r"releases = \[\], but the calibration is for"):
        run.train(plain, replace(inputs, calibration=asked.calibration), tmp_path / "run", print)


def test_whoever_asks_the_model_sees_it_behind_its_map(tmp_path):
    result, inputs = trained(settings(), tmp_path)
    summary.write("name", settings(), inputs, result, tmp_path / "out")
    asked = query.trained("linear-from-zero", tmp_path / "out" / "model.safetensors", (1, 8, 8), 10)
    x = load(inputs.data).test_inputs
    assert torch.equal(asked(x), result.model(x))

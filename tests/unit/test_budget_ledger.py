"""Budgets, the calibration of a federation, and the ledger that keeps a run within it."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refuses

from dpfl import plugins
from dpfl.privacy import priced_schedule
from dpfl.privacy.accounting import epsilon
from dpfl.privacy.cache import NoiseCache
from dpfl.privacy.calibration import Settings, calibrate
from dpfl.privacy.ledger import Ledger

SETTINGS = {
    "epsilon": 0.5,
    "delta": 1e-3,
    "accountant": "pld",
    "budget": {"strategy": "uniform"},
    "federation": {"batch_size": 10, "rounds": 4, "clients_per_round": 2, "local_epochs": 1},
    "participation_key": ["digits", "iid", 0, "participation"],
    "sampling": "poisson",
}
SIZES = [60, 60, 35, 100, 60]
ASSIGNMENT = np.append(np.repeat(np.arange(5, dtype=np.int32), SIZES), np.int32([-1, -1]))


def changed(**values) -> Settings:
    return Settings.read({**SETTINGS, **values})


@pytest.fixture(scope="module")
def calibrated() -> dict:
    return calibrate(changed(), ASSIGNMENT)


@pytest.fixture(scope="module")
def constant() -> dict:
    """Noise that buys clients of 60 a last participation of 3 of their 6 steps."""
    federation = {"batch_size": 10, "rounds": 4, "local_epochs": 1}
    bought = epsilon(1 / 6, 2.5, 15, 1e-3)
    budget = {"strategy": "constant", "noise_multiplier": 2.5}
    return calibrate(changed(epsilon=bought, federation=federation, budget=budget), ASSIGNMENT)


def test_every_client_is_calibrated_for_its_own_rate_and_steps(calibrated):
    assert [record["examples"] for record in calibrated["clients"]] == SIZES
    for record in calibrated["clients"]:
        assert record["sample_rate"] == 10 / record["examples"]
        assert record["steps_per_round"] == record["examples"] // 10
        assert record["steps"] == record["steps_per_round"] * len(record["rounds"])
        assert record["paid_steps"] == record["steps"]
        assert len(record["spent"]) == len(record["rounds"])
        assert record["epsilon"] <= 0.5
    assert sum(len(record["rounds"]) for record in calibrated["clients"]) == 4 * 2
    exposed = max(r["epsilon"] for r in calibrated["clients"])
    assert calibrated["eps_certified"] == exposed > 0.499


def test_a_client_that_never_takes_part_spends_nothing():
    federation = {**SETTINGS["federation"], "rounds": 1, "clients_per_round": 1}
    records = calibrate(changed(federation=federation), ASSIGNMENT)["clients"]
    idle = [record for record in records if not record["rounds"]]
    assert len(idle) == 4
    for record in idle:
        assert record["steps"] == record["paid_steps"] == record["epsilon"] == 0
        assert record["noise_multipliers"] == record["spent"] == []


def test_equal_clients_are_priced_once(monkeypatch):
    calls = []
    monkeypatch.setattr(priced_schedule, "spent", lambda *given: calls.append(given) or [1.0] * 4)
    federation = {"batch_size": 10, "rounds": 4, "local_epochs": 1}
    assignment = np.repeat(np.arange(1000, dtype=np.int32), 60)
    assert len(calibrate(changed(federation=federation), assignment)["clients"]) == 1000
    assert len(calls) == 1


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"delta": 1 / 60}, r"delta is 0.0166.*must be < 1/60 \(examples of client 0\)"),
        ({"delta": 0.011}, r"1/100 \(examples of client 3\)"),
        ({"federation": {"batch_size": 36, "rounds": 1, "local_epochs": 1}}, "35.*client 2"),
        ({"sampling": "shuffle"}, "'shuffle' cannot be certified: .*no amplification"),
        ({"sampling": "fixed-size"}, "'fixed-size' cannot be certified: .*replace-one"),
        ({"budget": {"strategy": "unifrom"}}, "did you mean 'uniform'"),
        ({"federation": {"rounds": 1}}, "batch_size"),
    ],
)
def test_mistakes_are_named_with_their_bound(values, message):
    refuses(message, lambda: calibrate(changed(**values), ASSIGNMENT))


POISONS = (lambda noise: [1e-9] * len(noise), lambda noise: "abcd", lambda noise: [])


def test_kept_calibrations_are_priced_again(tmp_path, calibrated, monkeypatch):
    cache = NoiseCache(tmp_path)
    assert calibrate(changed(), ASSIGNMENT, cache) == calibrated
    strategy = plugins.load("privacy/budgets", "uniform")
    with monkeypatch.context() as patch:  # nothing is calibrated a second time
        patch.delattr(strategy, "schedule")
        assert calibrate(changed(), ASSIGNMENT, cache) == calibrated
    kept = {path: path.read_text() for path in tmp_path.iterdir()}
    for damage in (lambda noise: [0.9 * z for z in noise], lambda noise: noise[1:], *POISONS):
        for path, text in kept.items():  # too little noise is found out, and replaced
            entry = json.loads(text)
            entry["content"]["noise"] = damage(entry["content"]["noise"])
            path.write_text(json.dumps(entry))
        assert calibrate(changed(), ASSIGNMENT, cache) == calibrated
        assert {path: path.read_text() for path in kept} == kept


def test_ledger_reads_the_exact_epsilon_after_every_participation(constant):
    ledger, record = Ledger(constant), constant["clients"][0]
    assert ledger.epsilon_spent() == 0
    begun = Ledger(constant)
    begun.charge(0, 2, 2.5)
    assert begun.epsilon_spent() == record["spent"][0]  # as if the participation were finished
    for steps, taken in [(6, 6), (12, 6), (15, 3), (15, 0)]:
        assert ledger.affordable(0, 6) == taken
        ledger.charge(0, taken, ledger.noise_multiplier(0))
        exact = epsilon(1 / 6, 2.5, steps, 1e-3)
        assert ledger.epsilon_spent() == pytest.approx(exact, abs=1e-6)
    assert ledger.epsilon_spent() == record["epsilon"] <= constant["epsilon"]


def test_ledger_tells_the_most_exposed_client(constant):
    ledger = Ledger(constant)
    for record in constant["clients"]:
        paid = ledger.affordable(record["client"], record["steps"])
        ledger.charge(record["client"], paid, 2.5)
    assert ledger.epsilon_spent() == constant["eps_certified"]


@given(st.integers(0, 30), st.integers(1, 7), st.lists(st.integers(0, 12), max_size=12))
def test_ledger_never_overspends(paid, per_round, requests):
    spent = [min(per_round * n, paid) / 10 for n in range(1, 32)]
    record = {"client": 3, "paid_steps": paid, "steps_per_round": per_round, "spent": spent}
    record["noise_multipliers"] = [1.0] * 31
    ledger, total, before = Ledger({"clients": [record]}), 0, 0.0
    for request in requests:
        granted = ledger.affordable(3, request)
        assert granted == min(request, paid - total)
        if granted < request:
            refuses(f"client 3 is {request}, must be in", ledger.charge, 3, request, 1.0)
        ledger.charge(3, granted, 1.0)
        total += granted
        assert before <= ledger.epsilon_spent() <= paid / 10
        assert ledger.epsilon_spent() >= total / 10
        before = ledger.epsilon_spent()


def test_ledger_refuses_less_noise_than_was_calibrated():
    record = {"client": 0, "paid_steps": 6, "steps_per_round": 2, "spent": [0.1, 0.2, 0.3]}
    ledger = Ledger({"clients": [{**record, "noise_multipliers": [1.0, 3.0, 2.0]}]})
    refuses(r"must be >= 3\.0", ledger.charge, 0, 3, 1.0)
    ledger.charge(0, 2, 1.0)
    assert ledger.noise_multiplier(0) == 3.0
    refuses(r"client 0 is 2\.9, must be >= 3\.0", ledger.charge, 0, 1, 2.9)
    ledger.charge(0, 1, 3.0)
    refuses(r"must be >= 3\.0", ledger.charge, 0, 2, 2.0)
    ledger.charge(0, 3, 3.0)
    assert ledger.noise_multiplier(0) == 2.0 and ledger.affordable(0, 5) == 0


def test_ledger_resumes_from_its_state(constant):
    ledger, resumed = Ledger(constant), Ledger(constant)
    ledger.charge(0, 6, 2.5)
    ledger.charge(2, 3, 2.5)
    resumed.restore(json.loads(json.dumps(ledger.state())))
    assert resumed.state() == ledger.state() == {"0": 6, "2": 3}
    assert resumed.epsilon_spent() == ledger.epsilon_spent()
    refuses("client 0 is 99", resumed.restore, {"0": 99})


def asked_of(home, *plans):
    """Return what the driver is asked for, some plans for one partition."""
    (home / "partitions/iid").mkdir(parents=True)
    np.save(home / "partitions/iid/assignment.npy", ASSIGNMENT)
    asked = [
        {"name": f"plan-{number}", "partition": "iid", "settings": settings}
        for number, settings in enumerate(plans)
    ]
    return ["--results", str(home), "--calibrations", json.dumps(asked)]


def test_driver_writes_the_calibration_without_loading_torch(imported, tmp_path, calibrated):
    asked = asked_of(tmp_path, SETTINGS, SETTINGS)
    code = f"import sys, calibrate; sys.argv[1:] = {asked!r}; calibrate.main()"
    assert not imported(code, "torch", "torchvision", "opacus")
    for number in range(2):
        written = (tmp_path / f"calibrations/plan-{number}.json").read_text()
        assert json.loads(written) == calibrated


def test_driver_tells_a_mistake_in_one_line(drive, tmp_path):
    done = drive("calibrate", *asked_of(tmp_path, {**SETTINGS, "delta": 0.5}))
    assert done.returncode == 1
    assert done.stderr == "error: delta is 0.5, must be < 1/60 (examples of client 0)\n"
    assert not (tmp_path / "calibrations").exists()

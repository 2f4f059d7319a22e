"""Whole runs: repeatable, resumable at any moment, never past the budget."""

import json
from dataclasses import replace

import numpy as np
import pytest
import tiny
import torch
from refusals import refuses
from safetensors import safe_open
from tiny import CERTIFIED, FIXED, QUANTILE

from dpfl import data
from dpfl.base.errors import UserError
from dpfl.base.files import read_json, write_json
from dpfl.clients.assignment import validation_of
from dpfl.privacy.accounting import epsilon
from dpfl.training import run, summary
from dpfl.training.checkpoint import Checkpoints
from dpfl.training.job import CHECKPOINT


class KilledError(Exception):
    """Stands for a kill signal."""


def killing(after, lines):
    """Return what notes the lines of a run, and kills it after some, if any."""

    def report(line):
        lines.append(line)
        if len(lines) == after:
            raise KilledError

    return report


def train(settings, folder, inputs=None, kill_after=None):
    inputs = inputs or tiny.inputs_of(settings, folder)
    return run.train(settings, inputs, folder / "run", killing(kill_after, []))


def prepared(folder, **changed):
    """Return the settings of a run, and the inputs that lie in a folder."""
    settings = tiny.settings(**changed)
    return settings, tiny.inputs_of(settings, folder)


def killed(folder, after, **changed):
    """Kill a run after some lines; return its settings and its inputs."""
    settings, inputs = prepared(folder, **changed)
    with pytest.raises(KilledError):
        train(settings, folder, inputs, after)
    return settings, inputs


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """Settings, inputs and result of a whole run."""
    folder = tmp_path_factory.mktemp("ran")
    settings, inputs = prepared(folder)
    return settings, inputs, train(settings, folder, inputs)


def rows(result):
    """The metrics without NaN, which equals nothing."""
    return json.dumps(result.metrics)


STANDARDISE = {"rule": "standardise", "noise_multiplier": 8.0, "radius": 3.0, "least": 0.05}
STANDARDISED = {"model": "linear-from-zero", "statistics": STANDARDISE}
STATES = [{"federation": tiny.federation(state=s)} for s in ("persist", "reset", "server")]

MOVING = [{"mechanism": CERTIFIED, "clipping": QUANTILE}, tiny.FEDAVG | {"clipping": QUANTILE}]
"""Whose bounds of clipping are part of the state."""


@pytest.mark.parametrize("changed", [*STATES, *MOVING, STANDARDISED])
@pytest.mark.parametrize("kill_after", [1, 3])
def test_a_killed_run_continues_to_the_same_bits(tmp_path, changed, kill_after):
    whole = tiny.trained(tmp_path / "whole", **changed)
    settings, inputs = killed(tmp_path, kill_after, **changed)
    resumed_lines = []
    continued = run.train(settings, inputs, tmp_path / "run", resumed_lines.append)
    assert f"continuing after round {kill_after}" in resumed_lines
    assert torch.equal(tiny.weights(continued), tiny.weights(whole))
    assert rows(continued) == rows(whole)
    assert continued.rates == whole.rates and continued.audit == whole.audit


def test_what_is_held_out_of_training_is_what_validates(tmp_path):
    """Accuracies of the last round again, from the model, by those who have the examples."""
    settings, inputs = prepared(tmp_path, evaluation_examples=tiny.EXAMPLES)
    result = train(settings, tmp_path, inputs)
    dataset, who = data.load(inputs.data), np.load(inputs.assignment)
    held_out = torch.from_numpy(validation_of(who))
    assert len(held_out) == tiny.EXAMPLES // 10
    for name, x, y in (
        ("train", *dataset.of_training(torch.from_numpy(np.flatnonzero(who >= 0)))),
        ("validation", *dataset.of_training(held_out)),
        ("test", dataset.test_inputs, dataset.test_targets),
    ):
        right = (result.model(x).argmax(1) == y).double().mean()
        assert result.metrics[-1][f"{name}_accuracy"] == pytest.approx(float(right))
    names = ("train", "validation", "test")
    assert len({result.metrics[-1][f"{name}_accuracy"] for name in names}) == 3


def test_a_diverged_run_killed_after_its_last_round_ends_there(tmp_path):
    optimizer = {"algorithm": "sgd", "rate_key": "lr", "rate": 3e38, "settings": {}}
    whole = tiny.trained(tmp_path / "whole", optimizer=optimizer)
    assert len(whole.metrics) == 2  # round 0, and the one that diverged
    settings, inputs = killed(tmp_path, 1, optimizer=optimizer)
    assert rows(train(settings, tmp_path, inputs)) == rows(whole)


def test_a_checkpoint_of_other_settings_is_not_continued(tmp_path):
    _, inputs = killed(tmp_path, 2)
    other = tiny.settings(clipping={"rule": "fixed", "clip_norm": 0.5})
    lines = []
    run.train(other, inputs, tmp_path / "run", lines.append)
    assert lines[0].startswith("round 1/")


@pytest.mark.parametrize("changed", ["data", "assignment", "calibration", "sources", "settings"])
def test_the_fingerprint_changes_with_all_that_a_run_depends_on(tmp_path, changed):
    settings, inputs = prepared(tmp_path)
    before = inputs.fingerprint(settings)
    assert inputs.fingerprint(tiny.settings()) == before
    if changed == "settings":
        settings = tiny.settings(delta=1e-6)
    elif changed == "sources":
        inputs = replace(inputs, sources="others")
    else:
        path = getattr(inputs, changed)
        path.write_bytes(path.read_bytes() + b" ")
    assert inputs.fingerprint(settings) != before


def test_the_step_that_would_exceed_the_budget_is_not_taken(tmp_path):
    # Less than the planned steps cost at this noise.
    settings, inputs = prepared(tmp_path, epsilon=4.0)
    result = train(settings, tmp_path, inputs)
    planned = 4 * 2 * 2
    assert 0 < result.metrics[-1]["steps"] < planned
    assert all(row["epsilon_spent"] <= 4.0 for row in result.metrics)
    for client in read_json(inputs.calibration)["clients"]:
        if client["paid_steps"] < client["steps"]:
            one_more = client["paid_steps"] + 1
            assert epsilon(client["sample_rate"], 1.0, one_more, 1e-5) > 4.0


def test_a_finite_epsilon_without_its_calibration_is_refused(tmp_path):
    settings, inputs = prepared(tmp_path)
    with pytest.raises(UserError, match=r"epsilon = 50.0, but there is no calibration"):
        train(settings, tmp_path, replace(inputs, calibration=None))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"epsilon": 2.0}, "epsilon = 2.0, but the calibration is for 50.0"),
        ({"delta": 1e-9}, "delta = 1e-09, but the calibration is for 1e-05"),
        ({"accountant": "rdp"}, "accountant = rdp, but the calibration is for pld"),
        ({"unit": "client"}, "unit = client, but the calibration is for example"),
        ({"budget": {"strategy": "constant", "noise_multiplier": 2.0}}, "budget = "),
        ({"federation": tiny.federation(batch_size=20)}, "federation = "),
        ({"federation": tiny.federation(rounds=9)}, "federation = "),
        ({"seed": 1}, "participation_key = "),
    ],
)
def test_a_calibration_of_anything_else_is_refused(tmp_path, changed, told):
    inputs = tiny.inputs_of(tiny.settings(), tmp_path)
    refuses(told, lambda: train(tiny.settings(**changed), tmp_path, inputs))


@pytest.mark.parametrize(
    ("changed", "key", "factor", "told"),
    [
        (tiny.FEDAVG, "sample_rate", 0.5, "2 of 3 are drawn, but the calibration is for a rate of"),
        ({}, "examples", 2, r"clients hold .* examples, but the calibration is for"),
    ],
)
def test_a_calibration_for_other_clients_is_refused(tmp_path, changed, key, factor, told):
    settings, inputs = prepared(tmp_path, **changed)
    content = read_json(inputs.calibration)
    content["clients"][0][key] *= factor
    write_json(inputs.calibration, content)
    refuses(told, train, settings, tmp_path, inputs)


def test_clients_that_can_still_pay_train_on_after_others_are_exhausted(tmp_path):
    """Participants of a round without a paid step do not end the training of the others."""
    federation = tiny.federation(rounds=6, clients_per_round=1)
    settings, inputs = prepared(tmp_path, federation=federation)
    content = read_json(inputs.calibration)
    first = next(c for c in content["clients"] if 1 in c["rounds"])
    first["paid_steps"] = 0
    write_json(inputs.calibration, content)
    result = train(settings, tmp_path, inputs)
    others = [c for c in content["clients"] if c is not first]
    assert result.metrics[1]["steps"] == 0
    assert result.steps_charged == {c["client"]: c["steps"] for c in others if c["steps"]}


def test_a_model_that_does_not_fit_the_data_is_named(tmp_path):
    with pytest.raises(UserError, match="mnist-cnn does not take inputs of digits"):
        train(tiny.settings(model="mnist-cnn"), tmp_path)


def test_epsilon_infinity_has_neither_noise_nor_clipping(tmp_path):
    nonprivate = {"epsilon": "inf", "mechanism": {"estimator": "nonprivate"}}
    results = []
    for clip_norm in (1e-3, 1e3):
        clipping = {"rule": "fixed", "clip_norm": clip_norm}
        results.append(tiny.trained(tmp_path / str(clip_norm), **nonprivate, clipping=clipping))
    assert torch.equal(tiny.weights(results[0]), tiny.weights(results[1]))
    assert results[0].metrics[-1]["epsilon_spent"] == float("inf")


def test_a_run_that_diverged_for_a_while_did_diverge(tmp_path, ran):
    settings, inputs, result = ran
    for losses, diverged in (([0.1, 0.1, 0.1], False), ([0.1, float("nan"), 0.1], True)):
        metrics = [{**result.metrics[-1], "train_loss": loss} for loss in losses]
        folder = tmp_path / str(diverged)
        summary.write("name", settings, inputs, replace(result, metrics=metrics), folder)
        assert read_json(folder / "summary.json")["diverged"] is diverged


def test_the_files_of_a_run(tmp_path, ran):
    settings, inputs, result = ran
    summary.write("name", settings, inputs, result, tmp_path / "run")
    found = read_json(tmp_path / "run" / "summary.json")
    assert found["eps_claimed"] == 50.0
    assert 0 < found["epsilon_spent"] <= found["eps_certified"] <= 50.0
    assert sum(found["steps_charged"].values()) == found["steps"]
    assert found["audit_status"] == "audited" == found["audit"]["status"]
    assert 0 < found["eps_audit_lb"] < found["eps_certified"]
    assert found["adjacency"] == "add-or-remove-one" and found["unit"] == "example"
    assert found["final_test_accuracy"] == result.metrics[-1]["test_accuracy"]
    header = (tmp_path / "run" / "metrics.csv").read_text().splitlines()[0]
    assert "second" not in header and header.startswith("round,steps,examples,train_accuracy")
    names = {path.name for path in (tmp_path / "run").iterdir() if path.is_file()}
    assert names == {"metrics.csv", "rates.csv", "summary.json", "model.safetensors"}


def finished(tmp_path, **changed):
    """Write the files of a run of one round and return its summary."""
    settings, inputs = prepared(tmp_path, federation=tiny.federation(rounds=1), **changed)
    result = train(settings, tmp_path, inputs)
    summary.write("name", settings, inputs, result, tmp_path / "run")
    return read_json(tmp_path / "run" / "summary.json")


@pytest.mark.parametrize(
    ("changed", "certificate"),
    [
        ({}, "pld"),
        ({"mechanism": {"estimator": "fsdp-central", "rank": 5}}, "not certified"),
        ({"mechanism": {"estimator": "nonprivate"}, "epsilon": "inf"}, "none"),
    ],
)
def test_the_model_says_what_certifies_it_and_measurements_do_not(tmp_path, changed, certificate):
    found = finished(tmp_path, **changed)
    assert (found["eps_certified"] is None) == (certificate == "not certified")
    for table in ("metrics", "rates"):
        assert "certificate" not in (tmp_path / "run" / f"{table}.csv").read_text()
    with safe_open(tmp_path / "run" / "model.safetensors", "pt") as file:
        about = json.loads(file.metadata()["run"])
    assert about == {"model": "digits-cnn", "certificate": certificate}


def test_the_files_of_a_run_are_the_same_bytes_however_often_they_are_written(tmp_path, ran):
    settings, inputs, result = ran
    written = []
    for attempt in range(12):  # an order drawn anew each time would rarely be the same so often
        folder = tmp_path / str(attempt)
        summary.write("name", settings, inputs, result, folder)
        written.append({path.name: path.read_bytes() for path in folder.iterdir()})
    assert all(files == written[0] for files in written)


@pytest.mark.parametrize(
    ("mechanism", "clipping", "predicted"),
    [
        ({"estimator": "dpsgd"}, FIXED, True),
        ({"estimator": "dpsgd"}, QUANTILE, False),
        (CERTIFIED, FIXED, False),
    ],
)
def test_a_learning_rate_is_predicted_only_from_noise_that_is_known(
    tmp_path, mechanism, clipping, predicted
):
    optimizer = {"algorithm": "cadabelief", "rate_key": "lr", "rate": 0.01, "settings": {}}
    found = finished(tmp_path, mechanism=mechanism, clipping=clipping, optimizer=optimizer)
    belief = found["belief"]
    assert (belief["r"] is not None) == (belief["regime"] is not None) == predicted
    assert belief["median_rate"] > 0


def test_with_system_entropy_neither_noise_nor_batches_repeat(tmp_path):
    first, second = (tiny.trained(tmp_path / name, noise="secure") for name in ("a", "b"))
    assert not torch.equal(tiny.weights(first), tiny.weights(second))
    assert [r["examples"] for r in first.metrics] != [r["examples"] for r in second.metrics]


def test_a_secret_has_256_bits_and_lies_where_the_user_alone_can_read(tmp_path):
    settings, inputs = killed(tmp_path, 1, noise="secure")
    folder = tmp_path / "run" / CHECKPOINT
    state, _ = Checkpoints(folder, inputs.fingerprint(settings)).load(print)
    assert len(bytes.fromhex(state["secret"])) == 32
    assert folder.stat().st_mode & 0o077 == 0

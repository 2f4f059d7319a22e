"""The same run over a wire: processes on the loopback against the simulation."""

import secrets
from pathlib import Path
from types import SimpleNamespace

import processes
import pytest
import tiny
import torch
from refusals import refuses

from dpfl import data
from dpfl.base.files import read_json, read_weights, write_json
from dpfl.data import digits
from dpfl.training import run, setup, trainers

pytest.importorskip("flwr", reason="Flower is not installed here: make test-flower")

from flwr.app import ConfigRecord, Context, RecordDict

from dpfl.flower import client_app

CLIENTS, SECONDS = 2, 60
PROX = {"rule": "fedprox", "settings": {"mu": 0.5}}


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """The handwritten digits, as training reads them."""
    path = tmp_path_factory.mktemp("data") / "digits.safetensors"
    arrays = data.read("digits", path.parent)
    data.write(path, arrays, digits.SCALE, digits.MEAN, digits.STD)
    return path


def prepared(folder: Path, pictures: Path, **federation):
    """Return settings and inputs of a run, and the file that every process reads them from."""
    partition = {"scheme": "iid", "clients": CLIENTS, "validation_fraction": 0.1}
    settings = tiny.settings(
        partition=partition, federation=tiny.federation(clients_per_round=None, **federation)
    )
    inputs = tiny.inputs_of(settings, folder, pictures)
    names = ("data", "assignment", "calibration")
    write_json(
        folder / "run.json",
        {"settings": settings, "trial": True}
        | {name: str(getattr(inputs, name)) for name in names},
    )
    return settings, inputs, folder / "run.json"


def trained(federation, results: Path):
    """Wait for the end of a run; return its account and its weights."""
    federation.wait((results / "model.safetensors").exists, 400)
    return read_json(results / "account.json"), read_weights(results / "model.safetensors")


def close(found, model):
    """Compare the weights of a file with those of a network, to 1e-6."""
    for name, own in model.state_dict().items():
        torch.testing.assert_close(found[name], own, rtol=0, atol=1e-6)


def test_a_run_over_a_wire_has_weights_and_account_of_the_simulation(tmp_path, pictures):
    settings, inputs, file = prepared(tmp_path, pictures, rounds=3, **PROX)
    with processes.federation(tmp_path) as federation:
        for client in range(CLIENTS):
            federation.join(client, file)
        federation.submit(file, tmp_path / "out", SECONDS)
        account, weights = trained(federation, tmp_path / "out")
    simulated = run.train(settings, inputs, tmp_path / "run", lambda line: None)
    close(weights, simulated.model)
    charged = {str(client): steps for client, steps in simulated.steps_charged.items()}
    assert account["steps_charged"] == charged == {"0": 6, "1": 6}
    last = simulated.metrics[-1]
    assert account["epsilon_spent"] == last["epsilon_spent"]
    assert account["final_test_accuracy"] == pytest.approx(last["test_accuracy"], abs=0.003)
    assert account["dropped"] == []


def simulated_without(settings, inputs, rounds):
    """Return the trainer after rounds in which some clients did not take their charged steps."""
    given, (ledger, records) = setup.examples(settings, inputs), setup.accounts(settings, inputs)
    parts = setup.parts(settings, given, ledger, records, secrets.token_hex(8))
    trainer = trainers.build(parts)
    for present in rounds:
        trainer.run_round(present)
        for absent in {*range(CLIENTS)} - {*present}:
            steps = trainer.clients(absent).steps_per_round
            ledger.charge(absent, steps, ledger.noise_multiplier(absent))
            trainer.steps_of(absent).taken += steps
    return trainer


def test_a_client_that_drops_out_is_charged_and_named_and_the_others_go_on(tmp_path, pictures):
    """Client 1 fails in round 2, is back in round 3, and is killed in round 4."""
    settings, inputs, file = prepared(tmp_path, pictures, rounds=4)
    own = tmp_path / "of-client-1.json"
    own.write_bytes(file.read_bytes())
    with processes.federation(tmp_path) as federation:
        for client, read in enumerate((file, own)):
            federation.join(client, read)
        federation.submit(file, tmp_path / "out", SECONDS)
        federation.answered(1, 2)  # which client it is, and round 1
        own.rename(tmp_path / "away.json")
        federation.answered(1, 3)
        (tmp_path / "away.json").rename(own)
        federation.wait(lambda: "ROUND 4]" in federation.log("node-1"), 200)
        federation.kill(1)
        account, weights = trained(federation, tmp_path / "out")
        for number in (2, 4):
            federation.prints(f"round {number}: client 1 dropped out, 2 steps are charged: ")
    dropped = [(one["round"], one["client"], one["steps"]) for one in account["dropped"]]
    assert dropped == [(2, 1, 2), (4, 1, 2)]
    assert "of-client-1.json" in account["dropped"][0]["why"]
    trainer = simulated_without(settings, inputs, [[0, 1], [0], [0, 1], [0]])
    close(weights, trainer.flat.model)
    assert account["steps_charged"] == trainer.ledger.state() == {"0": 8, "1": 8}
    assert account["epsilon_spent"] == trainer.ledger.epsilon_spent()


def asked(told, **config):
    """Ask a node which client it is, of a run of other settings."""
    context = Context(1, 2, node_config=config, state=RecordDict(), run_config={})
    content = RecordDict({"settings": ConfigRecord({"digest": "of other settings"})})
    refuses(told, client_app.who, SimpleNamespace(content=content), context)


def test_a_node_that_cannot_be_a_client_says_so(tmp_path, pictures):
    _, _, file = prepared(tmp_path, pictures)
    asked("no 'run', expected client=NUMBER, run=FILE and state=FOLDER", client=0)
    asked("run.json: settings are not those of the server", client=0, run=str(file), state="own")


def test_what_is_not_for_a_wire_is_refused_by_one_line(tmp_path, pictures):
    _, _, file = prepared(tmp_path, pictures, state="server")
    line = "error: federation has state server, expected persist or reset over a wire"
    with processes.federation(tmp_path) as federation:
        federation.submit(file, tmp_path / "out", SECONDS)
        federation.prints(line)
    assert not (tmp_path / "out").exists()

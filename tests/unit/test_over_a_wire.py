"""Server and clients of a run on their own, which hand each other weights and orders alone."""

import math

import pytest
import tiny
import torch
from refusals import refuses

from dpfl.base.files import read_json, write_json
from dpfl.flower import party
from dpfl.flower.client import Client
from dpfl.flower.server import Orders, Server
from dpfl.training import run

ADAPTIVE = {"strategy": "adaptive", "save": 0.5, "spend": 1.5, "agreement": 0.0}
ADAM = {"algorithm": "adam", "rate": 0.05}
MASKS = {"share": 0.5, "choose": "random-k"}
CASES = {
    "plain": {},
    "optimizers start anew": {"federation": tiny.federation(state="reset", weighting="uniform")},
    "bounds that move": {"mechanism": tiny.CERTIFIED, "clipping": tiny.QUANTILE},
    "budgets that end": {"epsilon": 4.0},
    "budgets that adapt": {"epsilon": 8.0, "budget": ADAPTIVE},
    "without privacy": {"epsilon": "inf", "mechanism": {"estimator": "nonprivate"}},
    "fedprox": {"federation": tiny.federation(rule="fedprox", settings={"mu": 0.5})},
    "fedopt": {"federation": tiny.federation(rule="fedopt", settings=ADAM)},
    "personal layers": {
        "federation": tiny.federation(rule="local-personal", settings={"layers": ["8"]})
    },
    "random-k": {"federation": tiny.federation(rule="sparse", settings=MASKS)},
    "random-k, budgets that end": {
        "epsilon": 4.0,
        "federation": tiny.federation(
            rule="sparse", settings=MASKS, clients_per_round=1, rounds=10
        ),
    },
}


class Wire:
    """Clients that are built anew for every round, as processes are; some fail in some rounds."""

    def __init__(self, settings, inputs, folder, failing=()):
        self.settings, self.inputs, self.failing = settings, inputs, failing
        self.folder, self.lines, self.orders = folder, [], []
        self.server = Server(*party.build(settings, inputs, "secret of the server"))

    def train(self):
        for number in range(1, self.settings["federation"]["rounds"] + 1):
            asked = self.server.begin(number)
            self.orders += asked.values()
            sent = {c: self.visit(own) for c, own in asked.items()}
            self.lines += self.server.end({c: w for c, w in sent.items() if w is not None}, {})
        return self

    def visit(self, orders):
        client = Client(self.settings, self.inputs, orders.client, self.folder)
        before = client._file.read_bytes()
        weights = client.visit(orders, self.server.weights)
        if (orders.round, orders.client) in self.failing:
            client._file.write_bytes(before)  # after all its steps, before they are kept
            return None
        return weights


def prepared(folder, **changed):
    settings = tiny.settings(**changed)
    return settings, tiny.inputs_of(settings, folder)


@pytest.mark.parametrize("changed", CASES.values(), ids=CASES)
def test_weights_and_account_are_those_of_the_simulation(tmp_path, changed):
    settings, inputs = prepared(tmp_path, **changed)
    simulated = run.train(settings, inputs, tmp_path / "run", lambda line: None)
    server = Wire(settings, inputs, tmp_path / "own").train().server
    found = server.trainer.flat.model.state_dict()
    assert all(torch.equal(own, found[name]) for name, own in simulated.model.state_dict().items())
    assert {client: len(own) for client, own in server.charged.items()} == simulated.steps_charged
    spent = simulated.metrics[-1]["epsilon_spent"]
    assert server.account()["epsilon_spent"] == (spent if settings["epsilon"] != "inf" else "inf")
    assert server.dropped == []
    accuracy = server.accuracy()
    personal = changed.get("federation", {}).get("rule") == "local-personal"
    assert accuracy == (None if personal else simulated.metrics[-1]["test_accuracy"])


def test_a_client_that_fails_is_charged_and_named_and_uses_no_noise_twice(tmp_path, monkeypatch):
    """What it took from the streams before it failed is not taken again when it is back."""
    from dpfl.draws import noise

    drawn, normal = [], noise.Seeded.normal
    monkeypatch.setattr(
        noise.Seeded, "normal", lambda own, size: drawn.append(own._key) or normal(own, size)
    )
    settings, inputs = prepared(tmp_path, federation=tiny.federation(clients_per_round=None))
    whole = Wire(settings, inputs, tmp_path / "whole").train()
    drawn.clear()
    wire = Wire(settings, inputs, tmp_path / "own", failing={(2, 1)}).train()
    steps = [key for key in drawn if "probe" not in key]
    assert len(steps) == len(set(steps)) == 4 * 3 * 2
    assert wire.server.charged == whole.server.charged
    assert wire.server.parts.ledger.state() == whole.server.parts.ledger.state()
    assert wire.lines == ["round 2: client 1 dropped out, 2 steps are charged: no answer"]
    [named] = wire.server.account()["dropped"]
    assert (named["round"], named["client"], named["steps"]) == (2, 1, 2)
    assert wire.server.weights.isfinite().all()
    assert not torch.equal(wire.server.weights, whole.server.weights)


def test_a_round_without_answers_leaves_the_weights(tmp_path):
    settings, inputs = prepared(tmp_path, federation=tiny.federation(rounds=1))
    wire = Wire(settings, inputs, tmp_path / "own", failing={(1, client) for client in range(3)})
    before = wire.server.weights
    assert torch.equal(wire.train().server.weights, before)
    assert len(wire.lines) == 2 and sum(map(len, wire.server.charged.values())) == 4


def test_weights_of_another_shape_are_no_answer(tmp_path):
    settings, inputs = prepared(tmp_path)
    server = Server(*party.build(settings, inputs, ""))
    asked = server.begin(1)
    assert len(server.end({client: torch.zeros(3) for client in asked}, {})) == len(asked)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (tiny.FEDAVG, "unit is client, expected example over a wire"),
        (
            {"federation": tiny.federation(state="server")},
            "federation has state server, expected persist or reset over a wire",
        ),
        (
            {"federation": tiny.federation(rule="scaffold", settings={})},
            "federation uses scaffold, whose server and clients share a state",
        ),
        (
            {"federation": tiny.federation(
                rule="sparse", settings={"share": 0.5, "choose": "released-k"})},
            "federation uses sparse, whose server and clients share a state",
        ),
        ({"mechanism": {"estimator": "dpsgd-shared-noise"}}, "mechanism is dpsgd-shared-noise"),
    ],
)  # fmt: skip
def test_what_is_not_for_a_wire_is_refused(tmp_path, changed, told):
    settings, inputs = prepared(tmp_path, **changed)
    refuses(told, party.build, settings, inputs, "")


def test_statistics_of_all_examples_are_refused(tmp_path):
    settings, inputs = prepared(tmp_path)
    refuses("statistics are of the", party.build, settings | {"statistics": {}}, inputs, "")


def test_a_client_pays_for_no_more_than_its_own_calibration_does(tmp_path):
    settings, inputs = prepared(tmp_path)
    client = Client(settings, inputs, 0, tmp_path)
    server = torch.zeros(client._trainer.flat.flat.shape)
    refuses("must be >=", client.visit, Orders(1, 0, [], 2, 0.1), server)
    refuses("must be >=", client.visit, Orders(1, 0, [], 2, math.nan), server)
    refuses(r"\(paid\)", client.visit, Orders(1, 0, [], 99, 1.0), server)
    refuses("has taken", client.visit, Orders(1, 0, [], 1, 1.0), server)


def test_who_starts_the_run_again_meets_the_same_account(tmp_path):
    settings, inputs = prepared(tmp_path)
    wire = Wire(settings, inputs, tmp_path / "own").train()
    last = max(wire.orders, key=lambda one: len(one.before))
    again = Client(settings, inputs, last.client, tmp_path / "own")
    first = next(one for one in wire.orders if one.client == last.client)
    refuses("has taken", again.visit, first, wire.server.weights)
    lost = Client(settings, inputs, last.client, tmp_path / "lost")
    refuses("lost, but", lost.visit, last, wire.server.weights)


@pytest.mark.parametrize("failing", [{1, 2}, {3}])
def test_budgets_that_adapt_are_those_of_the_server_whoever_fails(tmp_path, failing):
    settings, inputs = prepared(tmp_path, epsilon=8.0, budget=ADAPTIVE)
    settings["federation"] |= {"rounds": 4, "clients_per_round": None}
    inputs = tiny.inputs_of(settings, tmp_path)
    out = {(number, client) for number in failing for client in range(3)}
    wire = Wire(settings, inputs, tmp_path / "own", failing=out).train()
    for number in range(3):
        own = Client(settings, inputs, number, tmp_path / "own")
        charged = wire.server.charged[number]
        for noise in charged[own._trainer.steps_of(number).taken :]:
            own._ledger.charge(number, 1, noise)
        assert own._ledger.epsilon_spent() <= wire.server.parts.ledger.epsilon_spent()


def test_a_client_that_does_not_exist_is_refused(tmp_path):
    settings, inputs = prepared(tmp_path)
    refuses(r"client is 7, must be in \[0, 2\]", Client, settings, inputs, 7, tmp_path)


def test_every_client_has_a_secret_of_its_own(tmp_path):
    settings, inputs = prepared(tmp_path, noise="secure")
    first, second = (Client(settings, inputs, number, tmp_path) for number in (0, 1))
    assert first._secret != second._secret and len(first._secret) == 64
    assert Client(settings, inputs, 0, tmp_path)._secret == first._secret


def test_the_file_of_a_run(tmp_path):
    settings, inputs = prepared(tmp_path)
    path = tmp_path / "run.json"
    content = {"settings": settings, "data": str(inputs.data), "assignment": str(inputs.assignment)}
    write_json(path, content)
    assert party.read(path)[1].calibration is None
    content |= {"calibration": str(inputs.calibration)}
    write_json(path, content)
    refuses("noise is seeded, which the server can draw too", party.read, path)
    write_json(path, content | {"trial": True})
    assert party.read(path)[0] == settings and party.read(path)[1].calibration == inputs.calibration
    content = read_json(path)
    del content["data"]
    write_json(path, content)
    refuses("no 'data', expected", party.read, path)

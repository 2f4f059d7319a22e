"""Federated rounds against a plain loop, and the streams that pair the methods."""

import pytest
import torch
from refusals import refuses
from test_client_level import make_client as examples_of
from test_factorizations import STREAMS
from torch import nn

from dpfl import plugins
from dpfl.clippings import fixed
from dpfl.contracts.release import Release
from dpfl.data import Dataset
from dpfl.draws import noise, streams
from dpfl.factorizations import Factorization
from dpfl.federations.parts import states
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.step import Public
from dpfl.mechanisms import dpsgd, nonprivate
from dpfl.samplings import cyclic
from dpfl.training import setup
from dpfl.training.federated import Client, Trainer, Unlimited, loss_fn
from dpfl.training.holders import Holders
from dpfl.training.steps import PrivateSteps, Sources, of_run
from dpfl.training.trainers import Held

SOURCES = Sources(noise.Seeded, ("batch",), ("noise",))


def trainer(flat, clients, mechanism=None, build=None, state="persist", ledger=None, weight=None):
    build = build or (lambda: torch.optim.SGD([flat.flat], lr=0.1))
    mechanism = mechanism or (lambda: nonprivate.build({}))
    ledger = ledger or Unlimited()
    return Trainer(
        flat=flat,
        clients=lambda number: clients[number],
        holder=lambda number: PrivateSteps(number, mechanism(), ledger, SOURCES),
        public=Public(torch.empty(0, 4), torch.empty(0, dtype=torch.long)),
        states=states.STATES[state](build),
        ledger=ledger,
        weighting=weight or float,
    )


def clipped(clip_norm):
    """Build DP-SGD of a bound, for any client."""
    return lambda: dpsgd.build({"rule": "fixed", "clip_norm": clip_norm})


def make_client(number, examples, rate=0.5, steps=3):
    return Client(number, examples_of(number, examples), rate, steps)


class Noisy(Unlimited):
    """A ledger that pays for everything, at a noise of its own for every round."""

    def __init__(self, *noise):
        self.noise, self.charged, self.seen = noise, [], []

    def noise_multiplier(self, client):
        return self.noise[min(len(self.seen), len(self.noise) - 1)]

    def charge(self, client, steps, noise_multiplier):
        self.charged.append((client, steps, noise_multiplier))

    def observe(self, update):
        self.seen.append(update.clone())


def flat_linear():
    model = nn.Linear(4, 3)
    with torch.no_grad():
        model.weight.copy_(torch.arange(12.0).view(3, 4) / 10)
        model.bias.zero_()
    return FlatModel(model)


def reference_client(server, client, steps):
    """Plain SGD of one client on the same batches, divided by the expected batch size."""
    model = nn.Linear(4, 3)
    nn.utils.vector_to_parameters(server.clone(), model.parameters())
    inputs, targets = client.examples.tensors
    expected = client.sample_rate * len(targets)
    for step in range(steps):
        draws = streams.rng("batch", client.number, step).random(len(targets))
        chosen = torch.from_numpy(draws < client.sample_rate)
        loss = loss_fn(model(inputs[chosen]), targets[chosen]).sum() / expected
        model.zero_grad()
        loss.backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= 0.1 * p.grad
    return nn.utils.parameters_to_vector(model.parameters()).detach()


def test_a_round_is_the_weighted_average_of_local_training():
    flat, clients = flat_linear(), {0: make_client(0, 10), 1: make_client(1, 30)}
    server = flat.get()
    done, _ = trainer(flat, clients).run_round([0, 1])
    parts = [reference_client(server, clients[c], 3) for c in (0, 1)]
    expected = (10 * parts[0] + 30 * parts[1]) / 40
    torch.testing.assert_close(flat.get(), expected)
    assert done.steps == 6


def test_a_client_holds_the_examples_of_its_members_and_copies_none_of_them():
    inputs, targets = torch.arange(24.0).view(6, 4), torch.arange(6)
    held = Held(Dataset(inputs, targets, inputs[:0], targets[:0]), torch.tensor([5, 0, 3]))
    assert len(held) == 3
    inputs[3] = -1.0  # a copy made beforehand would not have it
    chosen, classes = held[torch.tensor([2, 0])]
    assert classes.tolist() == [3, 5] and chosen.tolist() == [[-1.0] * 4, [20.0, 21.0, 22.0, 23.0]]


def test_batches_and_noise_depend_on_client_and_step_alone():
    """A client's second round continues its streams, whoever else took part before."""
    alone, crowded = flat_linear(), flat_linear()
    clients = {c: make_client(c, 10) for c in (0, 1)}
    sgd = clipped(1.0)
    first, second = (trainer(flat, clients, sgd, ledger=Noisy(1.0)) for flat in (alone, crowded))
    first.run_round([0])
    second.run_round([1])
    second.run_round([0, 1])
    assert first.steps_taken == {0: 3} and second.steps_taken == {0: 3, 1: 6}
    alone.set(torch.zeros(15))
    crowded.set(torch.zeros(15))
    first.run_round([0])
    second.run_round([0])
    assert torch.equal(alone.get(), crowded.get())


def test_an_empty_batch_still_releases_noise_and_counts():
    flat = flat_linear()
    client = make_client(0, 5, rate=1e-12, steps=1)
    server = flat.get()
    run = trainer(flat, {0: client}, clipped(3.0), ledger=Noisy(2.0))
    done, _ = run.run_round([0])
    assert done.noise_multiplier == 2.0
    assert done.examples == 0 and done.steps == 1
    moved = (server - flat.get()) / 0.1 * (1e-12 * 5) / 6.0  # back to standard normals
    expected = noise.Seeded("noise", 0, 0).normal(15).float()
    torch.testing.assert_close(moved, expected, rtol=1e-3, atol=1e-3)


def test_every_round_asks_for_its_noise_and_shows_the_released_update():
    flat = flat_linear()
    ledger, before = Noisy(0.5, 3.0), flat.get()
    run = trainer(flat, {0: make_client(0, 20)}, clipped(1.0), ledger=ledger)
    rounds = [run.run_round([0])[0] for _ in range(2)]
    assert [r.noise_multiplier for r in rounds] == [0.5, 3.0]
    assert ledger.charged == [(0, 1, 0.5)] * 3 + [(0, 1, 3.0)] * 3
    torch.testing.assert_close(sum(ledger.seen), flat.get() - before)


class Purse(Unlimited):
    """A ledger that pays for a fixed number of steps per client."""

    def __init__(self, steps):
        self.left = dict(steps)

    def affordable(self, client, steps):
        return min(steps, self.left[client])

    def charge(self, client, steps, noise_multiplier):
        self.left[client] -= steps
        assert self.left[client] >= 0


def test_training_stops_at_the_last_paid_step():
    flat, clients = flat_linear(), {0: make_client(0, 10), 1: make_client(1, 10)}
    run = trainer(flat, clients, ledger=Purse({0: 4, 1: 0}))
    assert run.run_round([0, 1])[0].steps == 3
    assert run.run_round([0, 1])[0].steps == 1
    before = flat.get()
    assert run.run_round([0, 1]) is None
    assert torch.equal(flat.get(), before)


@pytest.mark.parametrize("state, kept", [("persist", True), ("reset", False), ("server", True)])
def test_optimizer_state_between_rounds(state, kept):
    flat, clients = flat_linear(), {0: make_client(0, 10)}
    build = lambda: torch.optim.Adam([flat.flat], lr=0.1)  # noqa: E731
    run = trainer(flat, clients, build=build, state=state)
    for _ in range(2):
        run.run_round([0])
    steps = run.states.begin(0).state_dict()["state"]
    assert (int(steps[0]["step"]) if steps else 0) == (6 if kept else 0)


def test_server_state_is_the_weighted_mean_of_moments():
    flat, clients = flat_linear(), {0: make_client(0, 10), 1: make_client(1, 30)}
    build = lambda: torch.optim.Adam([flat.flat], lr=0.1)  # noqa: E731
    server = flat.get()
    run = trainer(flat, clients, build=build, state="server")
    run.run_round([0, 1])
    shared = run.states.begin(0).state_dict()["state"][0]["exp_avg"]
    parts = []
    for number in (0, 1):
        flat.set(server)
        alone = trainer(flat, clients, build=build)
        alone.run_round([number])
        parts.append(alone.states.begin(number).state_dict()["state"][0]["exp_avg"])
    torch.testing.assert_close(shared, (10 * parts[0] + 30 * parts[1]) / 40)


def test_every_client_moves_a_bound_of_its_own():
    rule = {"rule": "quantile", "clip_norm": 0.5, "quantile": 0.9, "rate": 0.5}
    flat, clients = flat_linear(), {0: make_client(0, 40), 1: make_client(1, 40)}
    run = trainer(flat, clients, lambda: dpsgd.build(rule), ledger=Noisy(1.0))
    assert run.run_round([0])[0].clip_norm == 0.5
    assert set(run.holders) == {0}
    moved = run.holders[0].mechanism.clippings[0].clip_norm
    assert moved != 0.5
    assert run.run_round([0, 1])[0].clip_norm == pytest.approx((moved + 0.5) / 2)


def test_less_noise_than_is_charged_is_refused():
    class Careless(dpsgd.DPSGD):
        def release(self, noise_multiplier, expected_batch):
            return Release((noise_multiplier / 2,))

    flat = flat_linear()
    build = lambda: Careless(fixed.build(1.0))  # noqa: E731
    run = trainer(flat, {0: make_client(0, 10)}, build, ledger=Noisy(1.0))
    refuses(r"multiplier 0\.5, less than the 1 that is charged", run.run_round, [0])
    assert not run.ledger.charged


class Nothing:
    """Examples whose gradient is zero."""

    def __len__(self):
        return 12

    def __getitem__(self, chosen):
        return torch.zeros(len(chosen), 4), torch.zeros(len(chosen), dtype=torch.long)


def run_of_steps(name, settings, count, state=None):
    """Return noisy sums of `count` steps without gradients, over z C, and what is kept after."""
    flat = FlatModel(nn.Linear(4, 3, bias=False))
    flat.model.weight.data.zero_()
    steps = PrivateSteps(
        0,
        clipped(0.5)(),
        Noisy(2.0),
        SOURCES,
        lambda outputs, targets: 0 * outputs.sum(1),
        draw=cyclic.draw,
        stream=Factorization(name, settings).stream(),
    )
    if state:
        steps.restore(state)
    public = Public(torch.empty(0, 4), torch.empty(0, dtype=torch.long))
    found = [steps.release(flat.model, Nothing(), 0.25, 2.0, public, n) for n in range(count)]
    return torch.stack([one.gradient for one in found]).double() * 3 / (2.0 * 0.5), steps.state()


@pytest.mark.parametrize(("name", "settings"), STREAMS.items())
def test_steps_have_the_noise_of_the_run_and_continue_it(name, settings):
    made, _ = run_of_steps(name, settings, 9)
    stream = Factorization(name, settings).stream()
    draws = (noise.Seeded("noise", 0, step).normal for step in range(9))
    expected = torch.stack([stream.next(lambda own=own: own(12)) for own in draws])
    torch.testing.assert_close(made, expected, rtol=1e-4, atol=1e-5)
    first, kept = run_of_steps(name, settings, 4)
    rest, _ = run_of_steps(name, settings, 5, kept)
    assert torch.equal(torch.cat([first, rest]), made)


def test_a_mechanism_that_draws_twice_has_no_noise_of_a_run():
    normal = of_run(Factorization("bsr", {"bands": 2}).stream(), torch.randn)
    normal(3)
    refuses("draws noise more than once in a step", normal, 3)


def test_clients_share_their_noise_only_where_the_mechanism_says_so():
    flat, public = flat_linear(), Public(torch.empty(0, 4), torch.empty(0, dtype=torch.long))
    settings, examples = {"clipping": {"rule": "fixed", "clip_norm": 1.0}}, examples_of(0, 12)
    for estimator, shared in (("dpsgd-batch-medians", False), ("dpsgd-shared-noise", True)):
        own = settings | {"mechanism": {"estimator": estimator}}
        holders = Holders(own, 3.0, [{"noise_multipliers": [1.0]}], SOURCES)
        sent = [
            holders.steps(number, Noisy(1.0)).release(flat.model, examples, 1.0, 1.0, public, 0)
            for number in (0, 1)
        ]
        assert torch.equal(*(one.gradient for one in sent)) == shared


def test_a_run_does_not_start_where_small_numbers_are_lost():
    torch.set_flush_denormal(True)
    try:
        refuses("set_flush_denormal is on", setup._available, "cpu")
    finally:
        torch.set_flush_denormal(False)


def test_a_mechanism_whose_noise_is_correlated_from_step_to_step_has_no_price(monkeypatch):
    settings = {
        "clipping": {"rule": "fixed", "clip_norm": 1.0},
        "mechanism": {"estimator": "dpsgd"},
    }
    holders = Holders(settings, 3.0, [{"noise_multipliers": [1.0]}], SOURCES)
    known = plugins.constant
    declared = lambda *of: (1.0, -0.5) if of[2] == "CORRELATION" else known(*of)  # noqa: E731
    monkeypatch.setattr(plugins, "constant", declared)
    refuses("no accountant prices its CORRELATION", holders.require_noise, None)

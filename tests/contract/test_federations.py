"""Every rule of a federation, in training: released values alone reach others, and it continues."""

import declared
import pytest
import torch
from torch import nn
from torch.utils.data import TensorDataset

from dpfl import plugins
from dpfl.contracts.federation import Setting, Visit
from dpfl.draws import noise, streams
from dpfl.federations.parts import states
from dpfl.federations.parts.work import LocalWork
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.step import Public
from dpfl.mechanisms import dp_fedavg, dpsgd
from dpfl.training import client_level, federated
from dpfl.training.steps import PrivateSteps, Sources

CASES = {
    "fedavg": [{}],
    "fedopt": [{"algorithm": "fedopt", "rate": 0.1, "options": {"moment": "yogi"}}],
    "fedprox": [{"mu": 0.3}, {"mu": 0.3, "beyond": 0.01}],
    "local-personal": [{"layers": ["2"]}],
    "scaffold": [{}, {"rate": 0.5}],
    "sparse": [{"share": 0.3, "choose": own} for own in ("top-k", "random-k", "released-k")],
}
RULES = [
    (name, settings)
    for name in plugins.names("federations")
    for settings in CASES.get(name, [declared.required("federations", name)])
]
CLIENTS = 3


def examples_of(client, changed=None):
    """Return the examples of a client; `changed` has others."""
    generator = streams.generator("data", client, client == changed)
    inputs = torch.randn(12, 4, generator=generator)
    return TensorDataset(inputs, torch.randint(0, 3, (12,), generator=generator))


class Paid(federated.Unlimited):
    """A ledger that pays for everything, with noise."""

    def noise_multiplier(self, client):
        return 0.5

    def charge(self, client, steps, noise_multiplier):
        pass

    def observe(self, update):
        pass


class Forged:
    """A mechanism that releases what its number of calls says, whatever the batch; it looks on."""

    def __init__(self, inner):
        self.inner, self.calls, self.seen = inner, 0, []
        self.clippings, self.release = inner.clippings, inner.release

    def estimate(self, step):
        return self._next(FlatModel(step.model).get())

    def aggregate(self, updates, cohort, **_):
        self.seen.append(list(updates))
        return self._next(cohort.like)

    def _next(self, like):
        self.calls += 1
        return 0.1 * torch.randn(like.shape, generator=streams.generator("forged", self.calls))


def build(name, settings, unit, changed=None, forged=True):
    """Return a trainer of three clients under a rule, and the mechanisms that it builds."""
    torch.manual_seed(0)
    flat = FlatModel(nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 3)))
    sources, made, wrap = Sources(noise.Seeded, ("batch",), ("noise",)), [], Forged
    rng = lambda number: streams.rng("rule", number)  # noqa: E731
    setting = Setting(CLIENTS, CLIENTS, unit == "client", flat.parts, rng, 0.2)
    rule = plugins.load("federations", name).build(setting, **settings)
    sgd = lambda: torch.optim.SGD([flat.flat], lr=0.1, momentum=0.5)  # noqa: E731
    clipping = {"rule": "fixed", "clip_norm": 1.0}

    def mechanism(kind):
        made.append(wrap(kind.build(clipping)) if forged else kind.build(clipping))
        return made[-1]

    if unit == "client":
        trainer = client_level.Trainer(
            flat=flat,
            clients=lambda client: examples_of(client, changed),
            population=CLIENTS,
            sample_rate=1.0,
            work=LocalWork(4, local_steps=2),
            mechanism=mechanism(dp_fedavg),
            build_optimizer=sgd,
            ledger=Paid(),
            sources=sources,
            rule=rule,
        )
        return trainer, made
    trainer = federated.Trainer(
        flat=flat,
        clients=lambda n: federated.Client(n, examples_of(n, changed), 0.5, 2),
        holder=lambda n: PrivateSteps(n, mechanism(dpsgd), Paid(), sources),
        public=Public(torch.empty(0, 4), torch.empty(0, dtype=torch.long)),
        states=states.STATES["persist"](sgd),
        ledger=Paid(),
        weighting=float,
        rule=rule,
    )
    return trainer, made


def rounds(trainer, count):
    """Return the server's weights after each round, and the files that the rounds changed."""
    after, kept = [], {}
    for _ in range(count):
        _, changed = trainer.run_round(list(range(CLIENTS)))
        kept |= changed
        after.append(trainer.flat.get())
    return torch.stack(after), kept


def alike(one, other):
    """Tell whether two files of a checkpoint hold the same bits."""
    return one.keys() == other.keys() and all(
        torch.equal(torch.as_tensor(one[key]), torch.as_tensor(other[key])) for key in one
    )


@pytest.mark.parametrize(("name", "settings"), RULES)
def test_beside_what_is_released_nothing_of_an_example_is_used(name, settings):
    """Where examples are protected: with the same releases, all else is the same, state too."""
    (here, kept), (there, other) = (
        rounds(build(name, settings, "example", changed)[0], 3) for changed in (None, 1)
    )
    assert torch.equal(here, there)
    own = [file for file in kept if file.startswith(federated.RULE)]
    assert all(alike(kept[file], other[file]) for file in own)
    assert bool(own) == bool(build(name, settings, "example")[0].rule.state is not dict)


@pytest.mark.parametrize(("name", "settings"), RULES)
def test_a_client_reaches_others_by_what_is_released_alone(name, settings):
    """Where clients are protected: weights, the server's state and what others send stay."""
    (here, kept, seen), (there, other, sent) = (
        (*rounds(trainer, 3), made[0].seen)
        for trainer, made in (build(name, settings, "client", changed) for changed in (None, 1))
    )
    assert torch.equal(here, there)
    for file in (file for file in kept if file != f"{federated.RULE}client-1"):
        assert alike(kept[file], other[file])
    for own, neighbour in zip(seen, sent, strict=True):
        same = [torch.equal(*pair) for pair in zip(own, neighbour, strict=True)]
        assert same == [True, False, True]


@pytest.mark.parametrize("unit", ["example", "client"])
@pytest.mark.parametrize(("name", "settings"), RULES)
def test_a_training_continues_to_the_same_bits(name, settings, unit):
    whole, _ = rounds(build(name, settings, unit, forged=False)[0], 4)
    first = build(name, settings, unit, forged=False)[0]
    half, kept = rounds(first, 2)
    second = build(name, settings, unit, forged=False)[0]
    second.flat.set(half[-1])
    second.restore(first.state(), kept)
    rest, _ = rounds(second, 2)
    assert torch.equal(torch.cat([half, rest]), whole)


def apart(name, settings, count):
    """Return the server's weights after each round where everyone has a trainer of its own."""
    server, *clients = (build(name, settings, "example", forged=False)[0] for _ in range(4))
    after = []
    for number in range(1, count + 1):
        server.rounds, gathered = number - 1, federated.Gathered(server.flat.get())
        for client, own in enumerate(clients):
            visit = Visit(number, client, gathered.server)
            gathered.add(client, own.visit(visit, server.paid(client), 0.5), server.weight(client))
        server.end_round(gathered)
        after.append(server.flat.get())
    return torch.stack(after)


@pytest.mark.parametrize(("name", "settings"), RULES)
def test_a_rule_that_says_so_works_where_server_and_clients_share_nothing(name, settings):
    """A rule that does not say so is no such rule."""
    trainer = build(name, settings, "example", forged=False)[0]
    together, _ = rounds(trainer, 4)
    assert torch.equal(apart(name, settings, 4), together) == trainer.rule.splits


def test_a_fault_is_seen():
    """A rule that sends raw weights of one client to all is caught by both."""
    from dpfl.contracts.federation import Federation

    class Leaks:
        def __init__(self):
            self.last = None

        def start(self, visit):
            return visit.server if self.last is None else self.last

        def end(self, visit, weights, steps, rate):
            self.last = weights.clone()
            return weights

    sent = []
    for changed in (None, 1):
        trainer, made = build("fedavg", {}, "client", changed)
        leak = Leaks()
        trainer.rule = Federation(start=leak.start, end=leak.end)
        rounds(trainer, 2)
        sent.append(made[0].seen[0][2])
    assert not torch.equal(*sent)

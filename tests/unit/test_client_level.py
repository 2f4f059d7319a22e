"""Rounds that protect whole clients: the bound of the proof, plain FedAvg, samples and noise."""

import math

import numpy as np
import pytest
import torch
from refusals import refused
from torch import nn
from torch.utils.data import TensorDataset

from dpfl import plugins
from dpfl.contracts.federation import Cohort
from dpfl.draws import noise, streams
from dpfl.federations.parts.work import LocalWork
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.plain import gradient_of_sum
from dpfl.mechanisms import dp_fedavg, nonprivate
from dpfl.samplings import public
from dpfl.training.client_level import Trainer
from dpfl.training.federated import loss_fn
from dpfl.training.steps import Sources

D = 15
Z, CLIP, COUNT_NOISE, EXPECTED = 0.8, 0.7, 1.5, 5.0
OWN = {"fixed": {}, "quantile": {"quantile": 0.5, "count_noise": COUNT_NOISE}}
RULES = {rule: {"rule": rule, "clip_norm": CLIP, **own} for rule, own in OWN.items()}
CLIENT_LEVEL = [
    own
    for own in plugins.names("mechanisms")
    if plugins.constant("mechanisms", own, "UNIT") == "client"
]
WIDE = {"rule": "fixed", "clip_norm": 1e6}


class Purse:
    """A ledger that pays for some rounds, and keeps what it was told, in order."""

    def __init__(self, rounds=99, z=0.0):
        self.left, self.z, self.told = rounds, z, []

    def affordable(self, client, steps):
        assert client == "server"
        return min(steps, self.left)

    def noise_multiplier(self, client):
        return self.z

    def charge(self, client, steps, noise_multiplier):
        assert (client, steps, noise_multiplier) == ("server", 1, self.z)
        self.left -= 1
        self.told.append("charge")

    def observe(self, update):
        self.told.append(update)


def make_client(number, examples=6):
    generator = streams.generator("data", number)
    inputs = torch.randn(examples, 4, generator=generator)
    return TensorDataset(inputs, torch.randint(0, 3, (examples,), generator=generator))


def sources(draws, *secret):
    return Sources(draws, (*secret, "batch"), (*secret, "noise"))


def trainer(clients=make_client, population=4, q=1.0, clipping=WIDE, mechanism=None, **changed):
    torch.manual_seed(0)
    flat = FlatModel(nn.Linear(4, 3))
    return Trainer(
        **{
            "flat": flat,
            "clients": clients,
            "population": population,
            "sample_rate": q,
            "work": LocalWork(4, local_steps=3),
            "mechanism": mechanism or dp_fedavg.build(clipping),
            "build_optimizer": lambda: torch.optim.SGD([flat.flat], lr=0.1, momentum=0.9),
            "ledger": Purse(),
            "sources": sources(noise.Seeded),
            **changed,
        }
    )


def aggregate(mechanism, updates, z=0.0, expected=EXPECTED, normal=None, size=3):
    return mechanism.aggregate(
        iter(updates),
        Cohort(torch.zeros(size, dtype=torch.float64), expected),
        noise_multiplier=z,
        normal=normal or (lambda size: torch.zeros(size)),
    )


def released(clipping, updates):
    """Return the noiseless sum, and the count that the motion of C gives away (0 if fixed)."""
    mechanism = dp_fedavg.build(clipping)
    total = EXPECTED * aggregate(mechanism, updates, Z)
    moved = math.log(CLIP / mechanism.clipping.clip_norm)
    return total, EXPECTED * moved / 0.2


@pytest.mark.parametrize("rule", RULES)
def test_the_bound_is_met(rule):
    """A client at the clip norm uses all that it is allowed."""
    (sum_less, _), (sum_more, votes) = (
        released(RULES[rule], updates) for updates in ([], [torch.tensor([0, CLIP - 1e-7, 0])])
    )
    of_sum = dp_fedavg.build(RULES[rule]).release(Z, EXPECTED).multipliers[0]
    moved = float((sum_more - sum_less).norm()) / (of_sum * CLIP)
    assert math.hypot(moved, votes / COUNT_NOISE) == pytest.approx(1 / Z, rel=1e-5)


def test_updates_that_are_not_finite_count_as_zero():
    bad = [torch.full((3,), value) for value in (math.inf, -math.inf, math.nan)]
    one = torch.tensor([0.1, 0.2, 0.3])
    alone = released(RULES["fixed"], [one])[0]
    torch.testing.assert_close(alone, one.double(), rtol=0, atol=Z * CLIP * 2**-20)
    assert torch.equal(released(RULES["fixed"], [*bad, one])[0], alone)
    assert released(RULES["quantile"], [*bad, one])[1] == pytest.approx(-1.0)


@pytest.mark.parametrize("rule", RULES)
def test_noise_has_the_calibrated_variance(rule):
    size, z, expected = 40_000, 3.0, 7.0
    own = {"quantile": 0.5} if rule == "quantile" else {}
    mechanism = dp_fedavg.build({"rule": rule, "clip_norm": 2.0, **own})
    found = aggregate(mechanism, [], z, expected, noise.Seeded("noise").normal, size)
    of_sum = z if rule == "fixed" else 1 / math.sqrt(z**-2 - (2 * 2.3 * z) ** -2)
    assert float(found.mean()) == pytest.approx(0, abs=4 * of_sum * 2 / 7 / math.sqrt(size))
    assert float(found.std()) == pytest.approx(of_sum * 2.0 / 7.0, rel=4 / math.sqrt(2 * size))


@pytest.mark.parametrize("build", [nonprivate.build, dp_fedavg.build])
def test_the_denominator_is_the_expected_cohort_not_the_realised_one(build):
    updates = [torch.ones(3), torch.ones(3)]
    for expected in (2.0, 10.0):
        found = aggregate(build(WIDE), updates, expected=expected)
        torch.testing.assert_close(found, torch.full_like(found, 2 / expected))


def reference_client(server, number):
    """Three steps of SGD with momentum on batches of four, and of the two that remain."""
    model = nn.Linear(4, 3)
    nn.utils.vector_to_parameters(server.clone(), model.parameters())
    inputs, targets = make_client(number).tensors
    rng = streams.rng("batch", "local", number, 0)
    first, second = rng.permutation(6), rng.permutation(6)
    velocity = [torch.zeros_like(p) for p in model.parameters()]
    for batch in (first[:4], first[4:], second[:4]):
        model.zero_grad()
        loss_fn(model(inputs[batch]), targets[batch]).mean().backward()
        with torch.no_grad():
            for p, u in zip(model.parameters(), velocity, strict=True):
                u.mul_(0.9).add_(p.grad)
                p -= 0.1 * u
    return nn.utils.parameters_to_vector(model.parameters()).detach()


@pytest.mark.parametrize("mechanism", [nonprivate.build({}), dp_fedavg.build(WIDE)])
def test_without_noise_clip_and_sampling_a_round_is_fedavg(mechanism):
    run = trainer(mechanism=mechanism)
    server = run.flat.get()
    done, changed = run.run_round([])
    mean = torch.stack([reference_client(server, c) for c in range(4)]).mean(0)
    torch.testing.assert_close(run.flat.get(), mean)
    assert (done.steps, done.examples, changed) == (1, 4 * 10, {})


def test_a_diverging_client_does_not_poison_the_round():
    inputs, targets = make_client(0).tensors
    diverging = TensorDataset(math.inf * inputs, targets)
    with_it = trainer(lambda c: make_client(c) if c else diverging)
    server = with_it.flat.get()
    with_it.run_round()
    others = sum(reference_client(server, c) - server for c in (1, 2, 3))
    torch.testing.assert_close(with_it.flat.get(), server + others / 4)


class Rigged:
    """Draws that are known beforehand."""

    def __init__(self, *key):
        self.key = key

    def uniform(self, size):
        assert self.key[:2] == ("batch", "clients")
        return np.array([0.1, 0.3, 0.2, 0.9])

    def normal(self, size):
        assert self.key[:2] == ("noise", "server")
        return torch.zeros(size)


def test_a_client_is_sampled_with_the_sample_rate():
    built = []
    run = trainer(lambda c: built.append(c) or make_client(c), q=0.3, sources=sources(Rigged))
    run.run_round()
    assert built == [0, 2]


def test_samples_are_fresh_in_every_round_and_follow_the_key():
    cohorts = {}
    for draws in (noise.Seeded, noise.Secure):
        for repetition, secret in enumerate(("one", "one", "other")):
            built = cohorts[draws, repetition] = []
            clients = lambda c, built=built: built.append(c) or make_client(c)  # noqa: E731
            run = trainer(clients, population=64, q=0.5, sources=sources(draws, secret))
            run.run_round()
            built.append("end of round")
            run.run_round()
        found = cohorts[draws, 0]
        middle = found.index("end of round")
        assert found[:middle] != found[middle + 1 :]
        assert found == cohorts[draws, 1] != cohorts[draws, 2]


def test_an_empty_round_releases_noise_and_counts():
    run = trainer(q=1e-12, clipping={"rule": "fixed", "clip_norm": 3.0}, ledger=Purse(z=2.0))
    server = run.flat.get()
    done, _ = run.run_round()
    moved = (run.flat.get() - server) * (4e-12 / 6)  # back to standard normals
    expected = noise.Seeded("noise", "server", 0).normal(D).float()
    torch.testing.assert_close(moved, expected, rtol=1e-4, atol=1e-6)
    assert (done.steps, done.examples, done.noise_multiplier) == (1, 0, 2.0)
    assert run.steps_taken == {"server": 1} and run.ledger.left == 98


@pytest.mark.parametrize("name", CLIENT_LEVEL)
@pytest.mark.parametrize("cohort", [[], [0]], ids=["nobody", "one client of one example"])
def test_cohorts_at_their_edges(name, cohort):
    """Nobody, and a client with fewer examples than a batch: noise for C, and one clipped step."""
    mechanism = plugins.load("mechanisms", name).build({"rule": "fixed", "clip_norm": 3.0})
    alone = {"clients": lambda number: make_client(number, 1), "q": 0.5, "draw": public.draw}
    run, again = (
        trainer(**alone, mechanism=mechanism, ledger=Purse(z=z), work=LocalWork(4, local_steps=1))
        for z in (2.0, 0.0)
    )
    server = run.flat.get()
    done, _ = run.run_round(cohort)
    assert done.examples == len(cohort) and run.ledger.left == 98
    again.run_round(cohort)
    inputs, targets = make_client(0, 1).tensors
    moved = 2 * (again.flat.get() - server)  # times the expected cohort
    if not cohort:
        assert torch.equal(moved, torch.zeros(D))
        noisy = noise.Seeded("noise", "server", 0).normal(D).float() * 6.0
        torch.testing.assert_close(2 * (run.flat.get() - server), noisy, rtol=1e-4, atol=1e-5)
    else:
        own = FlatModel(nn.Linear(4, 3))
        own.set(server)
        step = gradient_of_sum(own.model, loss_fn, inputs, targets)
        torch.testing.assert_close(moved, -0.1 * step, rtol=1e-4, atol=1e-6)


def test_a_round_is_charged_before_a_client_trains_and_observed_once_released():
    ledger = Purse(z=1.0)
    run = trainer(lambda c: ledger.told.append(c) or make_client(c), ledger=ledger)
    server = run.flat.get()
    run.run_round()
    *before, update = ledger.told
    assert before == ["charge", 0, 1, 2, 3]
    assert torch.equal(run.flat.get(), server + update)


def test_training_ends_with_the_last_paid_round():
    run = trainer(ledger=Purse(rounds=2))
    assert run.run_round() and run.can_pay([[]]) and run.run_round()
    before = run.flat.get()
    assert run.run_round() is None and not run.can_pay([[], []])
    assert torch.equal(run.flat.get(), before) and run.steps_taken == {"server": 2}


@pytest.mark.parametrize(
    ("work", "examples", "sizes"),
    [
        (LocalWork(4, local_epochs=1), 10, [4, 4, 2]),
        (LocalWork(4, local_epochs=2), 4, [4, 4]),
        (LocalWork(4, local_epochs=0.1), 10, [4]),
        (LocalWork(32, local_epochs=3), 5, [5, 5, 5]),
        (LocalWork(4, local_steps=4), 6, [4, 2, 4, 2]),
        (LocalWork(4, local_steps=1), 6, [4]),
    ],
)
def test_local_work_is_whole_passes_in_random_order(work, examples, sizes):
    batches = list(work.batches(examples, streams.rng("local")))
    assert [len(batch) for batch in batches] == sizes
    each = -(-examples // work.batch_size)
    for first in range(0, len(batches) - each + 1, each):
        assert sorted(np.concatenate(batches[first : first + each])) == list(range(examples))


test_mistakes_are_named_with_their_bound = refused(
    (lambda: LocalWork(4), "local_epochs is None and local_steps is None, set exactly one"),
    (lambda: LocalWork(4, 1.0, 1), "local_epochs is 1.0 and local_steps is 1, set exactly one"),
    (lambda: LocalWork(0, 1.0), "batch_size is 0, must be > 0"),
    (lambda: LocalWork(4, local_steps=0), "local_steps is 0, must be > 0"),
    (lambda: trainer(q=1.5), r"sample_rate is 1.5, must be in \(0, 1\]"),
)

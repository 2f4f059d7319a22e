"""Every rule of statistics: what it releases is bounded, charged, and all that it uses."""

import math
from functools import partial

import declared
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from dpfl import plugins, statistics
from dpfl.base.errors import UserError
from dpfl.contracts import protocols
from dpfl.draws import noise
from dpfl.privacy.ledger import Ledger
from dpfl.statistics.parts.releases import Releases

RULES = plugins.names("statistics")
SHAPE = (6, 2, 2)
Z = 0.5


def settings(rule):
    return {"rule": rule, **declared.required("statistics", rule), "noise_multiplier": Z}


def ledger(rule, clients=(0,)):
    planned = [
        {"name": n, "noise_multiplier": Z} for n in plugins.constant("statistics", rule, "RELEASES")
    ]
    record = {"releases": planned, "released": 3.0, "spent": [3.5], "paid_steps": 1}
    common = {"steps_per_round": 1, "noise_multipliers": [1.0]}
    return Ledger({"clients": [{"client": c, **record, **common} for c in clients]})


def releases(rule, inputs, members=None, kind=Releases, book=None, key=("key",)):
    members = {0: torch.arange(len(inputs))} if members is None else members
    planned = dict(statistics.releases_of({"statistics": settings(rule)}))
    book = book or ledger(rule, members)
    return kind(inputs, members, planned, book.charge_release, partial(noise.Seeded, *key))


def examples(seed, count=7, spread=1.0):
    generator = torch.Generator().manual_seed(seed)
    return spread * torch.randn(count, *SHAPE, generator=generator)


class Watched(Releases):
    """Notes every sum, by name, with its radius and the function that it is of."""

    def mean(self, name, rows, radius):
        self.__dict__.setdefault("seen", {})[name] = (rows, radius)
        return super().mean(name, rows, radius)


def watched(rule, inputs):
    found = releases(rule, inputs, kind=Watched)
    statistics.build(settings(rule)).measure(found.mean, SHAPE)
    return found.seen


@pytest.mark.parametrize("rule", RULES)
@given(
    seed=st.integers(0, 2**32 - 1), spread=st.sampled_from([0.0, 0.1, 10.0, 1e6, 1e200, math.inf])
)
def test_one_example_moves_a_sum_by_at_most_the_radius(rule, seed, spread):
    """Neighbouring data sets: one with another example, of any size, added."""
    inputs = examples(seed).double()
    other = torch.cat([inputs, (examples(seed + 1, 1).double() * spread)])
    for rows, radius in watched(rule, inputs).values():
        without, with_it = (
            releases(rule, data).clipped_sum(torch.arange(len(data)), rows, radius)
            for data in (inputs, other)
        )
        assert with_it.isfinite().all()
        assert (with_it - without).norm() <= radius * (1 + 1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_the_radius_is_attained_and_owes_nothing_to_the_data(rule):
    plain, other = watched(rule, examples(0)), watched(rule, examples(1, 30, spread=5.0))
    assert {n: r for n, (_, r) in plain.items()} == {n: r for n, (_, r) in other.items()}
    far = examples(2, 1).double() * 1e6
    for rows, radius in plain.values():
        found = releases(rule, far).clipped_sum(torch.arange(1), rows, radius)
        assert found.norm().item() == pytest.approx(radius)


@pytest.mark.parametrize("rule", RULES)
def test_all_that_is_released_is_declared_once_and_in_order(rule):
    names = plugins.constant("statistics", rule, "RELEASES")
    assert names and tuple(watched(rule, examples(4))) == names
    assert statistics.releases_of({"statistics": settings(rule)}) == [[n, Z] for n in names]
    assert isinstance(statistics.build(settings(rule)), protocols.Statistics)


@pytest.mark.parametrize("rule", RULES)
def test_the_map_is_made_of_what_is_released_alone(rule):
    """Two data sets whose released means are the same have the same map, to the bit."""
    measure = statistics.build(settings(rule)).measure
    given_means = {}

    def first(name, rows, radius):
        given_means[name] = releases(rule, examples(5)).mean(name, rows, radius)
        return given_means[name]

    one = measure(first, SHAPE)
    again = measure(lambda name, rows, radius: given_means[name], SHAPE)
    assert all(map(torch.equal, one.buffers(), again.buffers()))
    assert not list(one.parameters())


@pytest.mark.parametrize("rule", RULES)
def test_noise_is_as_promised_and_its_own(rule):
    """Of no examples nothing is left but noise: of z radius, unlike for every name and key."""
    nobody, seen = torch.zeros(40, *SHAPE), watched(rule, examples(6))
    drawn = []
    for name, (_, radius) in seen.items():
        for key in ("a", "b"):
            found = releases(rule, nobody, key=(key,))
            zero = found.mean(name, lambda x: torch.zeros(len(x), 4000), radius) * len(nobody)
            drawn.append(zero / (Z * radius))
    for one in drawn:
        assert one.std().item() == pytest.approx(1, abs=0.06) and abs(one.mean()) < 0.08
    correlated = np.corrcoef(torch.stack(drawn)) - np.eye(len(drawn))
    assert np.abs(correlated).max() < 0.08


@pytest.mark.parametrize("rule", RULES)
def test_every_release_is_charged_to_every_client_before_it_is_made(rule):
    inputs, book = examples(7), ledger(rule, (0, 1))
    members = {0: torch.arange(3), 1: torch.arange(3, 7)}
    assert book.epsilon_spent() == 0
    found = releases(rule, inputs, members, book=book)
    statistics.build(settings(rule)).measure(found.mean, SHAPE)
    assert book.epsilon_spent() == 3.0
    for client in members:
        for name in plugins.constant("statistics", rule, "RELEASES"):
            with pytest.raises(UserError, match="was made before"):
                book.charge_release(client, name, Z)
    with pytest.raises(UserError, match=r"release 'median' of client 1 is not planned; \w+"):
        book.charge_release(1, "median", Z)
    with pytest.raises(UserError, match=r"noise_multiplier .* is 0.4, must be >= 0.5"):
        ledger(rule).charge_release(0, plugins.constant("statistics", rule, "RELEASES")[0], 0.4)
    book.charge(0, 1, 1.0)
    assert book.epsilon_spent() == 3.5


@pytest.mark.parametrize("rule", RULES)
def test_clients_are_added_up_over_all_their_examples(rule):
    """Without privacy: the mean over all, however they are divided, and nothing is clipped."""
    inputs = examples(8, spread=1e4).double()
    members = {0: torch.arange(2), 3: torch.arange(2, 7)}
    found = Releases(inputs, members, {}, None, None)
    torch.testing.assert_close(
        found.mean("means", lambda x: x.flatten(1), 1.0), inputs.mean(0).flatten()
    )

"""Who takes part: fixed by its key, uniform, and counted right."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from dpfl.clients.participation import draw, local_steps, rounds_of
from dpfl.draws import streams

KEY = ("digits", "iid", 0, "participation")


def test_the_same_key_draws_the_same_clients():
    first, again = (draw(1000, 10, 50, streams.rng(*KEY)) for _ in range(2))
    other = draw(1000, 10, 50, streams.rng(*KEY[:-2], 1, KEY[-1]))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_everyone_takes_part_unless_told_otherwise():
    for per_round in (None, 4):
        drawn = draw(4, per_round, 3, streams.rng(*KEY))
        assert [list(chosen) for chosen in drawn] == [[0, 1, 2, 3]] * 3


@given(st.integers(1, 40), st.data(), st.integers(1, 20))
def test_rounds_hold_distinct_sorted_clients_and_are_told_per_client(clients, data, rounds):
    per_round = data.draw(st.integers(1, clients))
    drawn = draw(clients, per_round, rounds, np.random.default_rng(0))
    assert len(drawn) == rounds
    for chosen in drawn:
        assert list(chosen) == sorted(set(chosen.tolist()))
        assert len(chosen) == per_round and chosen[0] >= 0 and chosen[-1] < clients
    told = rounds_of(drawn, clients)
    pairs = {(number, client) for client, numbers in enumerate(told) for number in numbers}
    assert pairs == {(t, int(i)) for t, chosen in enumerate(drawn, start=1) for i in chosen}
    assert all(numbers == sorted(numbers) for numbers in told)


def test_clients_are_drawn_evenly():
    drawn = draw(20, 5, 4000, streams.rng(*KEY))
    counts = np.bincount(np.concatenate(drawn), minlength=20)
    assert np.abs(counts - 1000).max() < 5 * np.sqrt(4000 * 0.25 * 0.75)


@pytest.mark.parametrize(
    ("settings", "steps"),
    [
        ({"local_epochs": 1}, 93),
        ({"local_epochs": 3}, 279),
        ({"local_epochs": 0.001}, 1),
        ({"local_steps": 7}, 7),
    ],
)
def test_local_steps(settings, steps):
    assert local_steps(6000, 64, **settings) == steps


test_mistakes_are_named_with_their_bound = refused(
    (lambda: draw(4, 5, 1, streams.rng(*KEY)), r"clients_per_round is 5, must be in \[1, 4\]"),
    (lambda: draw(4, None, 0, streams.rng(*KEY)), "rounds is 0, must be >= 1"),
    (lambda: draw(0, None, 1, streams.rng(*KEY)), "clients is 0, must be >= 1"),
    (lambda: local_steps(60, 64, 1, client=7), r"batch_size is 64, .*60.*client 7"),
    (lambda: local_steps(60, 10), "set exactly one"),
    (lambda: local_steps(60, 10, 1, 5), "set exactly one"),
    (lambda: local_steps(60, 10, local_steps=0), "local_steps is 0, must be > 0"),
)

"""Clients: properties of every assignment, its picture and driver, and who takes part."""

import csv
import json
import re
from collections import Counter

import declared
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import line_of, refused

from dpfl import data, plugins
from dpfl.base.errors import UserError
from dpfl.clients import assignment as assignments
from dpfl.clients.participation import draw, local_steps, rounds_of
from dpfl.draws import streams
from dpfl.figures import label_counts
from dpfl.privacy.calibration import Federation, Settings, calibrate

ALL = {
    name: declared.required("clients/partitions", name)
    for name in plugins.names("clients/partitions")
}
SCHEMES = {name: s for name, s in ALL.items() if assignments.divides(name) == "targets"}
ONCE = {name: s for name, s in SCHEMES.items() if name != "shards-repeated"}
BALANCED = np.tile(np.arange(10), 600)


def assign(targets, scheme, clients, seed=0, **options):
    return assignments.assign(targets, scheme, clients, streams.rng(seed), **options)


@st.composite
def partitions(draw):
    """Draw targets, the arguments of `assign` but for the seed, and a seed."""
    targets = np.array(draw(st.lists(st.integers(0, 4), min_size=40, max_size=200)))
    scheme = draw(st.sampled_from(sorted(ONCE)))
    percent = draw(st.integers(0, 50))
    options = {
        "scheme": scheme,
        "clients": draw(st.integers(1, 8)),
        "validation_fraction": percent / 100,
        **SCHEMES[scheme],
    }
    return targets, options, percent, draw(st.integers(0, 10**6))


@settings(deadline=None)
@given(partitions())
def test_every_example_has_one_place_and_is_counted_there(case):
    targets, options, percent, seed = case
    try:
        assignment = assign(targets, seed=seed, **options)
    except UserError as error:
        assert "fewer than min_examples = 1" in str(error) and options["scheme"] == "dirichlet"
        return
    assert assignment.dtype == np.int32 and assignment.shape == targets.shape
    held_out, clients = assignments.validation_of(assignment), assignments.clients_of(assignment)
    assert len(held_out) == len(targets) * percent // 100
    assert len(clients) == options["clients"] and all(len(c) for c in clients)
    everyone = np.concatenate([held_out, *clients])
    assert sorted(everyone.tolist()) == list(range(len(targets)))
    for number, members in enumerate(clients):
        assert members.tolist() == [i for i, c in enumerate(assignment) if c == number]
    counts = assignments.label_counts(assignment, targets, 5)
    naive = Counter(zip(assignment.tolist(), targets.tolist(), strict=True))
    assert all(n == naive[pair] for pair, n in np.ndenumerate(counts))
    assert counts.shape == (options["clients"], 5)


def test_clients_are_looked_up_in_one_array_when_they_are_asked_for():
    clients = assignments.clients_of(np.int32([2, -1, 0, 2, 0, 3]))
    assert len(clients) == 4
    assert [clients[c].tolist() for c in range(4)] == [[2, 4], [], [0, 3], [5]]
    assert np.shares_memory(clients[0], clients[2].base)
    for outside in (-1, 4):
        with pytest.raises(IndexError, match=re.escape(f"client is {outside}, must be in [0, 3]")):
            clients[outside]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_seed_decides(scheme):
    options = {**SCHEMES[scheme], "validation_fraction": 0.1}
    one, same, other = (assign(BALANCED, scheme, 10, seed, **options) for seed in (1, 1, 2))
    assert one.tobytes() == same.tobytes()
    assert (one != other).mean() > 0.3
    held_out = assignments.validation_of(one)
    assert held_out.tolist() != assignments.validation_of(other).tolist()


@pytest.mark.parametrize("scheme", ONCE)
def test_the_order_of_the_examples_does_not_decide(scheme):
    """Among 600 of one label the owner changes often; dealt out in order, four times at most."""
    owners = assign(np.zeros(600, dtype=int), scheme, 3, **SCHEMES[scheme])
    assert np.count_nonzero(np.diff(owners)) > 100


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 11), min_size=30, max_size=120),
    st.integers(1, 12),
    st.integers(0, 10**6),
)
def test_natural_clients_keep_their_examples_together(owned, clients, seed):
    owners = np.array(owned)
    targets = np.zeros(len(owners), dtype=int)
    found = len(set(owned))
    if clients > found:
        with pytest.raises(UserError, match=f"must lie in 1..{found}, the natural clients"):
            assign(targets, "natural", clients, seed, owners=owners)
        return
    assignment = assign(targets, "natural", clients, seed, owners=owners)
    held_by = [set(assignment[owners == owner].tolist()) for owner in set(owned)]
    assert all(len(holders) == 1 for holders in held_by)  # no owner is divided
    of = [next(iter(holders)) for holders in held_by]
    counts = np.bincount(of, minlength=clients)  # owners of each client, equal up to one
    assert counts.min() >= 1 and counts.max() - counts.min() <= 1


def test_natural_clients_need_owners():
    told = "needs natural clients, and the data set has none"
    assert told in line_of(assign, BALANCED, "natural", 3)


@given(st.integers(1, 40), st.integers(0, 100))
def test_iid_sizes_differ_by_one_at_most(clients, seed):
    sizes = np.bincount(assign(BALANCED[:103], "iid", clients, seed))
    assert sizes.max() - sizes.min() <= 1


def test_validation_examples_are_drawn_uniformly():
    """Each of ten examples is held out in 3 of 10 draws, to within four standard errors."""
    draws = 2000
    held_out = np.zeros(10)
    for seed in range(draws):
        assignment = assign(np.arange(10) % 2, "iid", 2, seed, validation_fraction=0.3)
        held_out[assignments.validation_of(assignment)] += 1
    assert np.abs(held_out / draws - 0.3).max() < 4 * np.sqrt(0.3 * 0.7 / draws)


def test_validation_size_is_not_lost_to_rounding():
    assert 100 * 0.29 < 29
    assignment = assign(BALANCED[:100], "iid", 2, validation_fraction=0.29)
    assert len(assignments.validation_of(assignment)) == 29


@pytest.mark.parametrize("alpha", [0.3, 1.0, 5.0])
def test_dirichlet_shares_have_the_variance_of_the_distribution(alpha):
    """A share has mean 1/K and variance (1/K)(1 - 1/K) / (K alpha + 1), K clients."""
    clients, draws = 4, 3000
    split = plugins.load("clients/partitions", "dirichlet").assign
    one_label, rng = np.zeros(1000, dtype=int), streams.rng("variance")
    found = (split(one_label, clients, rng, alpha=alpha) for _ in range(draws))
    shares = np.array([np.bincount(one, minlength=clients) / 1000 for one in found])
    variance = (1 / clients) * (1 - 1 / clients) / (clients * alpha + 1)
    assert np.abs(shares.mean(axis=0) - 1 / clients).max() < 4 * np.sqrt(variance / draws)
    assert shares.var(axis=0) == pytest.approx(variance, rel=0.12)


def test_shards_of_mcmahan():
    """100 clients with two shards of one label each (McMahan et al. 2017, section 3)."""
    assignment = assign(BALANCED, "shards", 100, labels_per_client=2)
    counts = assignments.label_counts(assignment, BALANCED, 10)
    assert (counts.sum(axis=1) == 60).all()
    assert set(np.unique(counts)) <= {0, 30, 60}
    assert (np.count_nonzero(counts, axis=1) == 2).sum() > 70


@given(st.integers(1, 4), st.integers(1, 5), st.integers(0, 20), st.integers(0, 99))
def test_examples_that_are_dealt_out_again_lie_once_in_every_copy(copies, each, held_out, seed):
    options = {"clients": copies * each, "labels_per_client": 2, "copies": copies}
    targets = BALANCED[:200]
    fraction = {"validation_fraction": held_out / 200, "public_examples": 3}
    dealt = assign(targets, "shards-repeated", seed=seed, **options, **fraction)
    assert dealt.shape == (copies, 200)
    clients = assignments.clients_of(dealt)
    assert len(clients) == copies * each
    counts = np.bincount(np.concatenate([clients[c] for c in range(len(clients))]), minlength=200)
    outside = [*assignments.validation_of(dealt), *assignments.public_of(dealt)]
    assert len(outside) == held_out + 3 and not counts[outside].any()
    inside = assignments.training_of(dealt)
    assert {*inside, *outside} == {*range(200)} and (counts[inside] == copies).all()
    table = assignments.label_counts(dealt, targets, 10)
    assert table.sum() == copies * len(inside)
    held = [np.bincount(targets[clients[c]], minlength=10).tolist() for c in range(len(clients))]
    assert table.tolist() == held


def test_only_whole_clients_can_be_protected_where_they_share_examples():
    options = {"clients": 4, "labels_per_client": 2, "copies": 2}
    dealt = assign(BALANCED, "shards-repeated", **options)
    federation = Federation(64, 3, local_steps=2)
    given = Settings(2.0, 1e-5, "pld", {"strategy": "uniform"}, federation, ("key",))
    assert "several clients" in line_of(calibrate, given, dealt)
    with pytest.raises(UserError, match="a multiple of the 2 copies"):
        assign(BALANCED, "shards-repeated", **options | {"clients": 5})


@pytest.mark.parametrize(("similarity", "own"), [(0, 600), (0.1, 546), (0.5, 330), (1, 60)])
def test_of_a_share_labels_are_alike_and_the_rest_is_one_label_a_client(similarity, own):
    """Ten clients and labels of 600: the share puts a tenth of itself on a client's own label."""
    found = assign(BALANCED, "similarity", 10, similarity=similarity)
    counts = assignments.label_counts(found, BALANCED, 10)
    assert np.ptp(counts.sum(axis=1)) <= 2
    assert counts.max(axis=1).mean() == pytest.approx(own, abs=25)


@given(st.integers(1, 10), st.integers(1, 10), st.integers(0, 100))
def test_shards_are_equal_up_to_one(clients, per_client, seed):
    targets = BALANCED[:103]
    sizes = np.bincount(assign(targets, "shards", clients, seed, labels_per_client=per_client))
    assert sizes.max() - sizes.min() <= per_client
    assert sizes.max() <= per_client * -(-103 // (clients * per_client))


@given(st.integers(1, 5), st.integers(0, 30), st.sampled_from([0.0, 0.1, 0.29]), st.integers(0, 99))
def test_public_examples_are_nobodys(clients, public, fraction, seed):
    options = {"public_examples": public, "validation_fraction": fraction}
    found = assign(BALANCED, "iid", clients, seed, **options)
    declared = assignments.public_of(found)
    assert len(declared) == public and set(found[declared]) <= {assignments.PUBLIC}
    held = [assignments.clients_of(found)[c] for c in range(clients)]
    everyone = np.concatenate([declared, assignments.validation_of(found), *held])
    assert sorted(everyone) == list(range(len(BALANCED)))


@pytest.mark.parametrize(
    ("scheme", "clients", "options", "message"),
    [
        ("iid", 0, {}, "clients = 0: must lie in 1..100"),
        ("iid", 91, {"validation_fraction": 0.1}, "clients = 91: must lie in 1..90"),
        ("iid", 2, {"validation_fraction": 1.0}, "validation_fraction = 1.0: must lie in [0, 1)"),
        ("iid", 2, {"min_examples": 0}, "min_examples = 0: must be at least 1"),
        ("iid", 2, {"alpha": 1.0}, "partition 'iid' takes no alpha (= 1.0)"),
        ("dirichlet", 2, {}, "partition 'dirichlet' needs alpha"),
        ("dirichlet", 2, {"alpha": 0.0}, "alpha is 0.0; it must be a finite number > 0"),
        ("shards", 51, {"labels_per_client": 2}, "51 x 2: more than the 100 examples"),
        ("dirichet", 2, {}, "did you mean 'dirichlet'?"),
    ],
)
def test_mistakes_are_told_in_one_line(scheme, clients, options, message):
    assert message in line_of(assign, BALANCED[:100], scheme, clients, **options)


def test_settings_that_are_not_given_change_nothing():
    with_none = assign(BALANCED, "iid", 7, alpha=None, labels_per_client=None)
    assert np.array_equal(with_none, assign(BALANCED, "iid", 7))


def test_a_client_with_too_few_examples_is_named():
    free = assign(BALANCED, "dirichlet", 10, alpha=0.5)
    sizes = np.bincount(free)
    enough = assign(BALANCED, "dirichlet", 10, alpha=0.5, min_examples=sizes.min())
    assert np.array_equal(free, enough)
    line = line_of(assign, BALANCED, "dirichlet", 10, alpha=0.5, min_examples=sizes.min() + 1)
    expected = f"client {sizes.argmin()} gets {sizes.min()} examples, fewer than min_examples = "
    assert line.startswith(f"{expected}{sizes.min() + 1} ")


# --- The picture


@pytest.mark.parametrize("clients", [1, 30, 31])
def test_bars_are_as_long_as_the_counts_and_a_map_of_many_clients_holds_them(clients):
    counts = assignments.label_counts(assign(BALANCED, "iid", clients), BALANCED, 10)
    axes = label_counts.draw(counts, "title").axes[0]
    bars = [[bar.get_width() for bar in bars] for bars in axes.containers]
    shown = axes.images[0].get_array() if clients > 30 else bars
    assert np.array_equal(np.transpose(shown), counts)
    assert axes.get_title() == "title"


# --- The driver


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """Return a prepared file of 200 training examples with the shape of digits."""
    targets = np.arange(200) % 10
    inputs = np.zeros((200, 1, 8, 8), dtype=np.uint8)
    path = tmp_path_factory.mktemp("data") / "digits.safetensors"
    data.write(path, data.Arrays(inputs, targets, inputs[:9], targets[:9]), 16, (0.3,), (0.4,))
    return path, targets


SETTINGS = {"scheme": "iid", "clients": 4, "validation_fraction": 0.1}


def test_driver_writes_assignment_table_and_picture(imported, prepared, tmp_path):
    made = {"settings": SETTINGS, "seed": 3, "min_examples": 5}
    partitions = json.dumps([{"name": name} | made for name in ("out", "again")])
    asked = ["--dataset", "digits", "--data", str(prepared[0]), "--output", str(tmp_path)]
    asked += ["--partitions", partitions]
    code = f"import sys, partition; sys.argv[1:] = {asked!r}; partition.main()"
    assert not imported(code, "torch", "torchvision", "sklearn")
    bits = [(tmp_path / name / "assignment.npy").read_bytes() for name in ("out", "again")]
    assert bits[0] == bits[1]

    assignment = np.load(tmp_path / "out" / "assignment.npy")
    key = streams.pairing_key({"dataset": "digits", "partition": SETTINGS, "seed": 3})
    expected = assignments.assign(prepared[1], rng=streams.rng(*key, "partition"), **SETTINGS)
    assert np.array_equal(assignment, expected)

    with (tmp_path / "out" / "clients.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["client"] for row in rows] == ["0", "1", "2", "3", "validation"]
    for row in rows:
        number = -1 if row["client"] == "validation" else int(row["client"])
        mine = prepared[1][assignment == number].tolist()
        assert int(row["examples"]) == len(mine)
        assert [int(row[f"label_{i}"]) for i in range(10)] == [mine.count(i) for i in range(10)]

    assert (tmp_path / "out" / "labels.png").read_bytes().startswith(b"\x89PNG")
    assert len(list((tmp_path / "out").iterdir())) == 4  # and the digest of the assignment


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

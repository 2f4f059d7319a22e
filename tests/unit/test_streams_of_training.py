"""Noise and batches of whole runs are drawn anew in every step; what repeats is caught."""

import functools
import math

import numpy as np
import pytest
import streams_of_runs
import torch
from scipy import stats

from dpfl.draws import noise, streams
from dpfl.training import client_level, federated

ROUNDS = {"example": 6, "client": 30}
CLIENTS, STEPS = 3, 4  # of a round, at the level of examples; a round of clients is one step


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """The files of a run by its unit, written when first asked for."""

    @functools.cache
    def written(unit):
        return streams_of_runs.world(tmp_path_factory.mktemp(unit), unit, ROUNDS[unit])

    return written


@pytest.fixture(params=ROUNDS)
def world(request, worlds):
    """The files of a run at the level of examples, and at that of clients."""
    return worlds(request.param)


@pytest.fixture
def found(world, monkeypatch, tmp_path):
    """What is wrong with a run that has these draws."""

    def found(draws):
        record = streams_of_runs.recorded(monkeypatch, world, tmp_path / "run", draws)
        return streams_of_runs.reasons(world, record)

    return found


@pytest.mark.parametrize("source", sorted(noise.SOURCES))
def test_every_step_has_noise_and_a_batch_of_its_own(found, source):
    assert found(noise.SOURCES[source]) == []


class of:  # noqa: N801
    """The stream of a key, with the library's own normals."""

    def __init__(self, *key):
        self.rng = streams.rng("planted", *key)

    def uniform(self, size):
        return self.rng.random(size)

    def normal(self, size, dtype=np.float64):
        return torch.from_numpy(self.rng.standard_normal(size, dtype))


def planted(world, normal=None, uniform=None):
    """Return draws whose calls, in the order (round, client, step), give what is planted."""
    calls = {"normal": 0, "uniform": 0}
    clients, steps = (1, 1) if world.clients else (CLIENTS, STEPS)

    def place(kind):
        call = calls[kind]
        calls[kind] += 1
        return call // (clients * steps), call // steps % clients, call % steps

    class Planted:
        def __init__(self, *key):
            pass

        def normal(self, size):
            where = place("normal")
            return normal(size, *where) if normal else of("n", *where).normal(size)

        def uniform(self, size):
            where = place("uniform")
            return uniform(size, *where) if uniform else of("u", *where).uniform(size)

    return Planted


def shifted(size, r, c, s):
    """Each draw a few places further in one stream."""
    start = 9 * (STEPS * r + s)
    return of(c).normal(size + 9 * 200)[start : start + size]


def half_shared(size, r, c, s):
    return (of("all").normal(size) + of(r, c, s).normal(size)) / math.sqrt(2)


def repeated_within(size, r, c, s):
    return of(r, c, s).normal(-(-size // 4)).repeat(4)[:size]


def ranks(size, *key):
    """Uniforms of which exactly half are below 1/2."""
    return (np.argsort(np.argsort(of(*key).uniform(size))) + 0.5) / size


def shuffled(size, r, c, s):
    """Both halves of a shuffle, one after the other."""
    epoch, half = divmod(STEPS * r + s, 2)
    return ranks(size, epoch, c) if half else 1 - ranks(size, epoch, c)


def shuffled_rounds(size, r, c, s):
    return ranks(size, r // 2) if r % 2 else 1 - ranks(size, r // 2)


AGAIN = "noise is used again"
NOISE = {
    "everywhere": lambda size, r, c, s: of().normal(size),
    "between the steps of a round": lambda size, r, c, s: of(r, c).normal(size),
    "between rounds": lambda size, r, c, s: of(c, s).normal(size),
    "between two rounds": lambda size, r, c, s: of(max(r, 1), c, s).normal(size),
    "between clients": lambda size, r, c, s: of(r, s).normal(size),
    "with the other sign": lambda size, r, c, s: (-1) ** (r % 2) * of(r // 2, c, s).normal(size),
    "further along": shifted,
    "in half of its variance": half_shared,
    "within a step": repeated_within,
}
MANY_STEPS = {"between the steps of a round", "between clients"}  # a round of the server has one


def cases(faults):
    """Return (unit, fault) for every fault that can happen there."""
    units = ((unit, fault) for unit in ROUNDS for fault in faults)
    return [(unit, fault) for unit, fault in units if unit == "example" or fault not in MANY_STEPS]


@pytest.mark.parametrize(("world", "fault"), cases(NOISE), indirect=["world"])
def test_noise_that_is_used_again_is_caught(world, found, fault):
    assert AGAIN in found(planted(world, normal=NOISE[fault]))


REPEATED = {"batches are drawn again", "uniforms are used again"}
SIZES = "batch sizes are not binomial"
OFTEN = "how often examples of 0 are drawn is not binomial"
BATCHES = {
    "again in every round": (lambda n, r, c, s: of(c, s).uniform(n), REPEATED),
    "again in the second round": (lambda n, r, c, s: of(max(r, 1), c, s).uniform(n), REPEATED),
    "between the steps of a round": (lambda n, r, c, s: of(r, c).uniform(n), REPEATED),
    "between clients": (lambda n, r, c, s: of(r, s).uniform(n), REPEATED),
    "of a fixed size": (ranks, {SIZES}),
    "of a few sizes": (
        lambda n, r, c, s: of(r, c, s).uniform(n) * (0.5 if (r + s) % 2 else 1.5),
        {SIZES},
    ),
    "favouring some": (
        lambda n, r, c, s: of(r, c, s).uniform(n) * np.linspace(0.5, 1.5, n),
        {OFTEN},
    ),
}


@pytest.mark.parametrize(("world", "fault"), cases(BATCHES), indirect=["world"])
def test_batches_that_are_not_drawn_anew_and_alone_are_caught(world, found, fault):
    uniform, told = BATCHES[fault]
    assert told <= set(found(planted(world, uniform=uniform)))


def test_fixed_shuffles_are_caught(world, found):
    uniform = shuffled_rounds if world.clients else shuffled
    assert {SIZES, OFTEN} <= set(found(planted(world, uniform=uniform)))


def inverse(stream, size):
    return torch.from_numpy(stats.norm.ppf(stream.uniform(size)))


def box_muller(stream, size):
    radius, angle = stream.uniform(2 * size).reshape(2, size)
    return torch.from_numpy(np.sqrt(-2 * np.log(1 - radius)) * np.cos(2 * np.pi * angle))


def single(stream, size):
    return stream.normal(size, np.float32)


@pytest.mark.parametrize("normals", [inverse, box_muller, of.normal, single])
def test_noise_from_the_stream_of_the_batch_is_caught(world, found, normals):
    draws = planted(
        world,
        normal=lambda size, *where: normals(of(*where), size),
        uniform=lambda size, *where: of(*where).uniform(size),
    )
    assert "noise and batches share their draws" in found(draws)


def test_streams_that_begin_again_with_every_round_are_caught(world, found, monkeypatch):
    """As those of a trainer would whose count of steps is lost."""
    trainer = (client_level if world.clients else federated).Trainer
    run_round = trainer.run_round

    def forgetful(self, *participants):
        self.steps_taken.clear()
        for holder in getattr(self, "holders", {}).values():
            holder.taken = 0
        return run_round(self, *participants)

    monkeypatch.setattr(trainer, "run_round", forgetful)
    assert {AGAIN, "batches are drawn again"} <= set(found(noise.Seeded))


def test_a_run_that_drops_steps_is_not_taken_for_a_whole_one(world):
    assert streams_of_runs.reasons(world, []) == [f"0 steps of {world.steps}"]

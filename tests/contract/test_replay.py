"""Sensitivity and noise of every mechanism with a proof, exactly; found by file name."""

import math

import declared
import pytest
import replay
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from replay import CLASSES, CLIP, FEATURES, Clients, Examples, Replay, batch, check, drawn

from dpfl import plugins
from dpfl.contracts.release import Release
from dpfl.privacy.release import of_step

UNITS = {"example": Examples, "client": Clients}
CLIPPINGS = {
    rule: {**declared.required("clippings", rule), "rule": rule, "clip_norm": CLIP}
    for rule in plugins.names("clippings")
}
ROOM = {"rank": 3, "basis_examples": 20}  # of settings: more would leave nothing of 21 coordinates


def variants():
    """Yield every mechanism at its defaults, and with every choice that it declares."""
    for name in plugins.names("mechanisms"):
        own = declared.required("mechanisms", name)
        own |= {key: ROOM[key] for key in ROOM.keys() & declared.parameters("mechanisms", name)}
        yield name, name, own
        for setting, value in declared.choices("mechanisms", name):
            yield f"{name}, {setting} {value}", name, {**own, setting: value}


def build_of(name, rule, own):
    return lambda: plugins.load("mechanisms", name).build(CLIPPINGS[rule], **own)


def proven():
    """Return (build, unit) by name of whatever has a proof."""
    found = {}
    for label, name, own in variants():
        unit = UNITS[plugins.constant("mechanisms", name, "UNIT")]
        for rule in plugins.constant("mechanisms", name, "CLIPPING_RULES"):
            build = build_of(name, rule, own)
            if isinstance(of_step(build(), 1.3, 10.0), Release):
                found[f"{label}, {rule}"] = (build, unit)
    return found


PROVEN = proven()


def example(norm, axis=0, target=0):
    return [norm if feature == axis else 0.0 for feature in range(FEATURES)], target


INF, NAN = [math.inf] * FEATURES, [math.nan] * FEATURES
HUGE = 1e6 * CLIP
BATCHES = {
    "one of the clip norm": batch([example(CLIP)]),
    "one just within it": batch([example(CLIP * (1 - 1e-6))]),
    "one just outside it": batch([example(CLIP * (1 + 1e-6))]),
    "one huge": batch([example(HUGE)]),
    "one tiny": batch([example(1e-6 * CLIP)]),
    "one of zeros": batch([example(0.0)]),
    "one of infinity": batch([(INF, 0)]),
    "one of nothing": batch([(NAN, 1)]),
    "one too long to square": batch([example(1e30)]),
    "duplicates": batch([example(CLIP, 2, 1)] * 5),
    "one against all": batch([*[example(CLIP)] * 3, example(-HUGE)]),
    "after infinity": batch([(INF, 0), (NAN, 1), example(CLIP, 5, 2)]),
    "infinity after others": batch([example(CLIP), example(HUGE, 4, 1), (INF, 2)]),
    **{
        f"all lengths, {seed}": drawn(
            [CLIP * 10.0**e for e in (-6, -3, -1, 0, 1, 3, 6, last)], seed
        )
        for seed, last in enumerate((-6, -1, 0, 0.5, 6))
    },
}


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("name", PROVEN)
def test_noise_covers_what_one_example_or_client_moves(name, dtype):
    build, unit = PROVEN[name]
    assert check(build, unit(dtype=dtype), BATCHES.values()) == []


@pytest.mark.parametrize(("z", "expected"), [(0.4, 2.0), (8.0, 300.0)])
@pytest.mark.parametrize("name", PROVEN)
def test_so_it_does_at_other_noise_and_batch_sizes(name, z, expected):
    build, unit = PROVEN[name]
    some = [BATCHES["one of the clip norm"], BATCHES["one huge"], BATCHES["all lengths, 2"]]
    assert check(build, unit(z, expected), some) == []


lengths = st.floats(-6, 6).map(lambda e: CLIP * 10.0**e) | st.sampled_from([0.0, CLIP, math.inf])
directions = st.lists(st.floats(-1, 1), min_size=FEATURES, max_size=FEATURES)
examples = st.tuples(lengths, directions, st.integers(0, CLASSES - 1))


def long(length, direction, target):
    """Return an example of a length; one without a direction is of zeros, or of no number."""
    norm = math.hypot(*direction) or 1.0
    return [length * (x / norm) for x in direction], target


@pytest.mark.parametrize("name", PROVEN)
@settings(deadline=None, max_examples=15)
@given(rows=st.lists(examples, min_size=1, max_size=6))
def test_no_batch_that_is_searched_for_shows_more(name, rows):
    build, unit = PROVEN[name]
    measured = measured_once(name, build, unit)
    assert [*replay._reasons_of(measured, batch([long(*row) for row in rows]))] == []


def measured_once(name, build, unit, known={}):  # noqa: B006
    if name not in known:
        known[name] = Replay(build, unit())
    return known[name]


@pytest.mark.parametrize("name", PROVEN)
def test_two_steps_share_no_noise(name):
    build, unit = PROVEN[name]
    assert abs(replay.correlation(build, unit())) < 0.3  # 5 deviations, where a basis has rank 3

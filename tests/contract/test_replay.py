"""Sensitivity and noise of every mechanism with a proof, exactly; found by file name."""

import math
from functools import cache

import pytest
import torch
from every_mechanism import small_builds
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfl.audit import replay, trials
from dpfl.audit.replay import Replay, check, check_widely
from dpfl.audit.trials import CLASSES, CLIP, FEATURES, Clients, Examples, batch, drawn

UNITS = {"example": Examples, "client": Clients}
PROVEN = {
    name: (build, UNITS[unit])
    for name, (build, unit, has_proof) in small_builds().items()
    if has_proof
}


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


NEAR = CLIP * (1 - 1e-9)  # at C itself rounding decides how `quantile` counts: docs/privacy.md
lengths = st.floats(-6, 6).map(lambda e: NEAR * 10.0**e) | st.sampled_from([0.0, NEAR, math.inf])
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
    assert [*replay.reasons_of(measured(name), batch([long(*row) for row in rows]))] == []


@cache
def measured(name):
    build, unit = PROVEN[name]
    return Replay(build, unit())


@pytest.mark.parametrize("name", PROVEN)
def test_so_it_does_on_a_wide_network_whatever_is_in_the_batch(name):
    """Noise, sizes, losses and steps of many kinds; a convolution, a norm layer and biases."""
    assert check_widely(*PROVEN[name]) == []


def test_the_page_on_privacy_says_what_is_tried(root):
    text = " ".join((root / "docs" / "privacy.md").read_text(encoding="utf-8").split())
    least, most = (f"{z:g}".removeprefix("0") for z in trials.NOISE)
    assert f"batches go to {trials.LARGEST} and noise from {least} to {most}," in text
    assert f"all {replay.STEPS} steps of a round" in text

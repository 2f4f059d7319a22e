"""How far one example, or client, moves what a step releases: the most that a search finds.

It is told in what the noise is for, so that 1 is what is charged. A search finds at least so much;
dpfl.audit.replay tries more kinds of batches, and says only whether something is wrong.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from dpfl.audit.replay import NONE, Build, NotComparableError, Replay, differ
from dpfl.audit.trials import CLIP, FEATURES, Batch, Unit, batch
from dpfl.base.errors import UserError

OTHERS = 19  # beside the one that is left out
LENGTHS = (1e-3, 1.0, 1e3, 1e6)  # of gradients, in C
NO_NOISE, UNEVEN = "what no noise covers moves", "the number of draws depends on the batch"


class Found(NamedTuple):
    """The most that one moves a release, and with which others.

    `moved` is infinite where no noise covers what moves, and NaN where releases of two batches
    cannot be compared; `remark` then says so.
    """

    moved: float
    length: float
    others: int
    their_length: float
    remark: str = ""


def most(build: Build, kind: type[Unit]) -> Found:
    """Return the largest move, of the first such batch."""
    found = [_moved(build, kind(), *case) for case in _cases()]
    return max(found, key=lambda one: -1.0 if math.isnan(one.moved) else one.moved)


def _cases() -> Iterator[tuple[float, int, float, float]]:
    """Yield a length, the number of others, their length, and 1, or -1 where they are opposed."""
    for length in LENGTHS:
        yield length, 0, 0.0, 1.0
        for theirs in LENGTHS[:-1]:
            yield from ((length, OTHERS, theirs, side) for side in (1.0, -1.0))


def _moved(
    build: Build, unit: Unit, length: float, others: int, theirs: float, side: float
) -> Found:
    """Return how far one of a length moves the release of the others; noise is that without it."""
    rows = [_row(theirs)] * others
    at = replace(unit, network=replace(unit.network, empty=batch(rows)))
    case = (length, others, theirs)
    try:
        replay = Replay(build, at)
        moved = replay.released(_with(rows, side * length), NONE) - replay.offset
    except NotComparableError:
        return Found(math.nan, *case, UNEVEN)
    except UserError as error:  # such as a network that it does not take
        return Found(math.nan, *case, str(error))
    hidden = replay.map.hiding(moved) if sum(replay.sizes) else NONE
    if differ(replay.map.noise(hidden) if len(hidden) else 0 * moved, moved):
        return Found(math.inf, *case, NO_NOISE)
    return Found(unit.noise_multiplier * float(hidden.norm()), *case)


def _with(rows: list, length: float) -> Batch:
    return batch([*rows, _row(length)])


def _row(length: float) -> tuple[list[float], int]:
    """Return an example whose gradient has this length in C, and lies in both layers."""
    each = length * CLIP / math.sqrt(FEATURES)
    return [each] * FEATURES, 0

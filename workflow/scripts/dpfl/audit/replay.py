"""Replay of steps with chosen draws: the noise on all that a step releases, exactly and unsampled.

At fixed data a step is an affine map of its draws, released = L draws + mean: the estimate times B,
and the logarithm of every bound that moves. Chosen draws give L. With s how far one example moves
the mean, the step is a Gaussian of multiplier z if s is in the range of L (else something is
released without noise) and s^T (L L^T)^+ s <= 1/z^2. `check` and `check_widely` name what does not
hold; [] if all does.

What a later step releases may depend on an earlier batch through what that released alone: the
draws of the batch without the example are moved by L^+ s, which hides it, and the steps after it
must be the same, also in the round after this one. The example that is left out is the last, the
first or one between them; in another order a batch must release the same.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from dpfl.audit.audited import innermost
from dpfl.audit.trials import CLIP, DEEP, LONG, Batch, Tape, Unit, cases, pictures, random
from dpfl.contracts.protocols import ClientMechanism, Mechanism
from dpfl.gradients.step import Step

TOLERANCE = 1e-4  # of a bound: what rounding a float32 sum, or a release, may do
RANK = 1e-4  # noise weaker than this beside the strongest is none
UNIT = 16.0  # the size of the draws that L is measured with: rounding is small beside them
DIGITS = 256  # of the two numbers that a draw is told by, among 65,536
CASES, STEPS = 24, 100  # on the wide network
LATER, ROUND = 30, 25  # steps that every third batch is followed for, and the first of a new round

Built = Mechanism | ClientMechanism
Build = Callable[[], Built]
Move = Callable[[Tensor], Tensor]
NONE = torch.zeros(0, dtype=torch.float64)


@dataclass(frozen=True)
class Map:
    """L as two functions: `noise` of draws, and the least draws `hiding` a move of the release."""

    noise: Move
    hiding: Move


def written_out(moved: Move, draws: int) -> Map:
    """Return L from the release of each unit draw, and L^+."""
    units = UNIT * torch.eye(draws, dtype=torch.float64)
    matrix = torch.stack([moved(unit) / UNIT for unit in units], dim=1)
    return Map(matrix.matmul, torch.linalg.pinv(matrix, rtol=RANK).matmul)


def one_each(moved: Move, draws: int) -> Map:
    """Return L where every coordinate has the noise of one draw of its own, times a scale.

    Three releases tell which: all draws alike, and the two digits of each one's number.
    """
    places = torch.arange(draws)
    scale = moved(torch.full((draws,), UNIT, dtype=torch.float64)) / UNIT
    high, low = (
        moved(UNIT * (digit + 1.0).double() / DIGITS) / scale * (DIGITS / UNIT) - 1
        for digit in (places // DIGITS, places % DIGITS)
    )
    found = (high.round() * DIGITS + low.round()).nan_to_num(0, 0, 0)
    place = found.clamp(0, draws - 1).long()

    def hiding(moved: Tensor) -> Tensor:
        hidden, noisy = torch.zeros(draws, dtype=torch.float64), scale != 0
        hidden[place[noisy]] = (moved / scale)[noisy]  # what has no noise hides in no draw
        return hidden

    return Map(lambda drawn: scale * drawn[place], hiding)


class NotComparableError(Exception):
    """A step draws otherwise than without data."""


class Replay:
    """The steps of a mechanism on chosen batches and draws, all in units of its bounds.

    On the wide network it is the innermost mechanism; what is made of its release is `Told` apart.
    """

    def __init__(self, build: Build, unit: Unit):
        self.build = (lambda: innermost(build())) if unit.network.wide else build
        self.unit, self.empty, tape = unit, unit.network.empty, Tape(NONE)
        _, self.trials = unit.take(self.build(), self.empty, tape)
        self.sizes = tape.sizes
        self.offset = self.released(self.empty, NONE)

    @cached_property
    def map(self) -> Map:
        """Return L, of a step that draws."""
        measure = one_each if self.unit.network.wide else written_out
        return measure(lambda d: self.released(self.empty, d) - self.offset, sum(self.sizes))

    def released(self, given: Batch, draws: Tensor) -> Tensor:
        """Return all that a step releases: every estimate it may choose, the bounds it moves to."""
        trials = range(max(1, self.trials))
        views = [self.taken(self.build(), given, draws, 0, chosen) for chosen in trials]
        return torch.cat([*(estimate for estimate, _ in views), views[0][1]])

    def taken(
        self, mechanism: Built, given: Batch, draws: Tensor, number: int = 0, chosen: int = 0
    ) -> tuple[Tensor, Tensor]:
        """Return the estimate of a step and the bounds after it; it draws as without data."""
        tape = Tape(draws)
        estimate, _ = self.unit.take(mechanism, given, tape, number, chosen)
        if tape.sizes != self.sizes:
            raise NotComparableError(f"draws of sizes {tape.sizes}; without data, {self.sizes}")
        return estimate / CLIP, _bounds(mechanism)

    def after(self, given: Batch, draws: Tensor, steps: int) -> Tensor:
        """Return what the steps after this one release; their own batches and draws are fixed."""
        mechanism, found = self.build(), []
        self.unit.take(mechanism, given, Tape(draws))
        for number in range(1, steps + 1):
            if number == ROUND:
                end_round(mechanism)
            tape, batch = Tape(random(200, "next", number)), self.unit.network.later(number)
            estimate, _ = self.unit.take(mechanism, batch, tape, number % ROUND)
            found += [estimate / CLIP, _bounds(mechanism)]
        return torch.cat(found)

    def drawn(self) -> Tensor:
        """Return draws of a step."""
        return random(sum(self.sizes), "noise")


def check(build: Build, unit: Unit, batches: Collection[Batch]) -> list[str]:
    """Return what a mechanism does to examples of these batches that its noise hides not.

    `build` returns it anew. Looked at is its first step, the one after that, and one after a round.
    """

    def warm() -> Built:
        mechanism = build()
        unit.take(mechanism, unit.network.next, Tape(random(200, "warm")))
        return mechanism

    starts = {"first step": build, "next step": warm}
    if hasattr(build(), "forget"):
        starts["next round"] = lambda: end_round(warm())
    return _listed(
        f"{when}: {reason}"
        for when, make in starts.items()
        for reason in _reasons(Replay(make, unit), batches)
    )


def end_round(mechanism: Built) -> Built:
    """Return a mechanism that was told of the end of a round, where it wants to know."""
    getattr(mechanism, "forget", tuple)()
    return mechanism


def check_widely(build: Build, kind: type[Unit], count: int = CASES) -> list[str]:
    """Return the same of steps of many kinds on the wide network, and of every step of a round."""
    steps = (
        f"z {unit.noise_multiplier:.3g}, expected {unit.expected:.3g}: {reason}"
        for unit, given in cases(kind, count)
        for reason in _reasons(Replay(build, unit), [given])
    )
    return [
        *_listed(steps),
        *_listed(_reasons_around(build, kind, count)),
        *_listed(_reasons_of_a_round(build, kind(network=DEEP))),
    ]


def _listed(reasons: Iterator[str]) -> list[str]:
    """Return reasons up to the first step that cannot be compared with others."""
    found: list[str] = []
    try:
        for reason in reasons:
            found.append(reason)
    except NotComparableError as error:
        found.append(str(error))
    return found


def _reasons(replay: Replay, batches: Collection[Batch]) -> Iterator[str]:
    if not sum(replay.sizes):
        yield "no noise is drawn"
        return
    noise = replay.drawn()
    if differ(replay.map.noise(noise), replay.released(replay.empty, noise) - replay.offset):
        yield "what is released is not affine in the draws"
        return
    for number, given in enumerate(batches):
        last = (given.gradients[-8:].norm(dim=1) / CLIP).tolist()
        steps = 1 if replay.unit.network.wide or number % 3 else LATER
        for reason in reasons_of(replay, given, steps):
            yield f"batch {number}, last norms in C {last}: {reason}"


def reasons_of(replay: Replay, given: Batch, steps: int = 1) -> Iterator[str]:
    """Yield what an example of a batch does that the noise hides not, in so many steps after it."""
    last = len(given.targets) - 1
    less, noise = given.without(last), replay.drawn()
    means = [replay.released(which, NONE) for which in (given, less)]
    for which, mean in zip((given, less), means, strict=True):
        if differ(replay.map.noise(noise), replay.released(which, noise) - mean):
            yield "the noise depends on the batch"
    moved = means[0] - means[1]
    yield from _exposed(replay, moved)
    hidden = replay.map.hiding(moved)
    if differ(replay.after(given, noise, steps), replay.after(less, noise + hidden, steps)):
        told = "the next step shows" if steps == 1 else f"the next {steps} steps show"
        yield f"{told} more of this batch than this one released"
    for place in {0, last // 2} - {last}:
        yield from _exposed(replay, means[0] - replay.released(given.without(place), NONE), place)
    if differ(means[0], replay.released(given.turned(), NONE)):
        yield "the order of the batch shows"


def _exposed(replay: Replay, moved: Tensor, place: int = -1) -> Iterator[str]:
    """Yield how an example that moves the release like this is not hidden, if it is not."""
    hidden, allowed = replay.map.hiding(moved), 1 / replay.unit.noise_multiplier
    found, which = float(hidden.norm()), "the last example" if place < 0 else f"example {place}"
    if differ(replay.map.noise(hidden), moved):
        yield f"{which} moves what no noise covers"
    elif not found <= allowed * (1 + TOLERANCE) + TOLERANCE:
        yield f"{which} moves the release by {found:.4f} of its noise, not {allowed:.4f}"


@dataclass(frozen=True)
class Told:
    """In the place of an innermost mechanism: whatever the batch, it releases the same."""

    inside: Built
    clippings: Sequence = ()

    def estimate(self, step: Step) -> Tensor:
        """Return numbers of the shape of what the other releases."""
        found = self.inside.estimate(step)
        return random(found.numel(), "told").to(found).view_as(found)


def _around(told: Told, mechanism: Built) -> Built:
    """Return a mechanism with another one in its middle."""
    own = hasattr(mechanism, "inner")
    return replace(mechanism, inner=_around(told, mechanism.inner)) if own else told


def _reasons_around(build: Build, kind: type[Unit], count: int) -> Iterator[str]:
    """Yield that what is made of a release shows more of the batch than the release does."""
    if not hasattr(build(), "inner"):
        return
    for unit, given in cases(kind, count):
        around = _around(Told(innermost(made := build())), made)
        released = [unit.take(around, b, Tape(NONE))[0] for b in (given, unit.network.empty)]
        if not torch.equal(*released):
            yield f"with {len(given.targets)} examples it makes more than a release of a release"


def _reasons_of_a_round(build: Build, unit: Unit) -> Iterator[str]:
    """Yield what is wrong in any step of a round: three mechanisms take it side by side.

    They differ in the last example, and in the noise, which is in every step of the third. Bounds
    are put back before every step.
    """
    replay = Replay(build, unit)
    if not sum(replay.sizes):
        return
    given = pictures([LONG] * 3, [0] * 3, [False, True, False], "round")
    less, noise = given.without(2), replay.drawn()
    trios = [(replay.build(), *own) for own in ((given, NONE), (less, NONE), (given, noise))]
    bounds = [rule.state() for rule in trios[0][0].clippings]
    for number in range(STEPS):
        released = []
        for mechanism, which, draws in trios:
            for rule, bound in zip(mechanism.clippings, bounds, strict=True):
                if bound:
                    rule.restore(bound)
            released.append(torch.cat(replay.taken(mechanism, which, draws, number)))
        if differ(replay.map.noise(noise), released[2] - released[0]):
            yield f"step {number} of a round: its noise is not its draws alone"
        for reason in _exposed(replay, released[0] - released[1]):
            yield f"step {number} of a round: {reason}"


def differ(first: Tensor, second: Tensor) -> bool:
    """Tell whether two releases differ by more than rounding; what is not finite does."""
    return not bool(((first - second).abs() <= TOLERANCE * (1 + first.abs())).all())


def _bounds(mechanism: Built) -> Tensor:
    """Return the logarithms of the bounds that move."""
    moving = [rule.clip_norm for rule in mechanism.clippings if rule.state()]
    return torch.tensor(moving, dtype=torch.float64).log()

"""Replay of steps with chosen draws: the noise on all that a step releases, exactly and unsampled.

At fixed data a step is an affine map of its draws, released = L draws + mean: the estimate times B,
and the logarithm of every bound that moves. Chosen draws give L. With s how far one example moves
the mean, the step is a Gaussian of multiplier z if s is in the range of L (else something is
released without noise) and s^T (L L^T)^+ s <= 1/z^2. `check` and `check_widely` name what does not
hold; [] if all does.

What a later step releases may depend on an earlier batch through what that released alone: the
draws of the batch without the example are moved by L^+ s, which hides it, and the next step must
be the same.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from dpfl.audit.audited import innermost
from dpfl.audit.trials import CLIP, DEEP, LONG, Batch, Tape, Unit, cases, pictures, random
from dpfl.contracts.protocols import ClientMechanism, Mechanism

TOLERANCE = 1e-4  # of a bound: what rounding a float32 sum, or a release, may do
RANK = 1e-4  # noise weaker than this beside the strongest is none
UNIT = 16.0  # the size of the draws that L is measured with: rounding is small beside them
DIGITS = 256  # of the two numbers that a draw is told by, among 65,536
CASES, STEPS = 24, 100  # on the wide network

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


class Replay:
    """The steps of a mechanism on chosen batches and draws, all in units of its bounds.

    On the wide network it is the innermost mechanism: what is made of its release is not seen.
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
            raise AssertionError(f"draws of sizes {tape.sizes} and, without data, {self.sizes}")
        return estimate / CLIP, _bounds(mechanism)

    def after(self, given: Batch, draws: Tensor) -> Tensor:
        """Return what the step after this one releases; its own batch and draws are fixed."""
        mechanism = self.build()
        self.unit.take(mechanism, given, Tape(draws))
        later = Tape(random(200, "next"))
        estimate, _ = self.unit.take(mechanism, self.unit.network.next, later, 1)
        return torch.cat([estimate / CLIP, _bounds(mechanism)])

    def drawn(self) -> Tensor:
        """Return draws of a step."""
        return random(sum(self.sizes), "noise")


def check(build: Build, unit: Unit, batches: Collection[Batch]) -> list[str]:
    """Return what a mechanism does to the last examples of these batches that its noise hides not.

    `build` returns it anew. Looked at is its first step, and the one after that.
    """

    def warm() -> Built:
        mechanism = build()
        unit.take(mechanism, unit.network.next, Tape(random(200, "warm")))
        return mechanism

    return _listed(
        f"{when}: {reason}"
        for when, make in (("first step", build), ("next step", warm))
        for reason in _reasons(Replay(make, unit), batches)
    )


def check_widely(build: Build, kind: type[Unit], count: int = CASES) -> list[str]:
    """Return the same of steps of many kinds on the wide network, and of every step of a round."""
    steps = (
        f"z {unit.noise_multiplier:.3g}, expected {unit.expected:.3g}: {reason}"
        for unit, given in cases(kind, count)
        for reason in _reasons(Replay(build, unit), [given])
    )
    return _listed(steps) + _listed(_reasons_of_a_round(build, kind(network=DEEP)))


def _listed(reasons: Iterator[str]) -> list[str]:
    """Return reasons up to the first step that cannot be compared with others."""
    found: list[str] = []
    try:
        for reason in reasons:
            found.append(reason)
    except AssertionError as error:
        found.append(str(error))
    return found


def _reasons(replay: Replay, batches: Collection[Batch]) -> Iterator[str]:
    if not sum(replay.sizes):
        yield "no noise is drawn"
        return
    noise = replay.drawn()
    if _differ(replay.map.noise(noise), replay.released(replay.empty, noise) - replay.offset):
        yield "what is released is not affine in the draws"
        return
    for number, given in enumerate(batches):
        last = (given.gradients[-8:].norm(dim=1) / CLIP).tolist()
        for reason in reasons_of(replay, given):
            yield f"batch {number}, last norms in C {last}: {reason}"


def reasons_of(replay: Replay, given: Batch) -> Iterator[str]:
    """Yield what the last example of a batch does that the noise of the step hides not."""
    less, noise = given.without_the_last(), replay.drawn()
    means = [replay.released(which, NONE) for which in (given, less)]
    for which, mean in zip((given, less), means, strict=True):
        if _differ(replay.map.noise(noise), replay.released(which, noise) - mean):
            yield "the noise depends on the batch"
    moved = means[0] - means[1]
    yield from _exposed(replay, moved)
    hidden = replay.map.hiding(moved)
    if _differ(replay.after(given, noise), replay.after(less, noise + hidden)):
        yield "the next step shows more of this batch than this one released"


def _exposed(replay: Replay, moved: Tensor) -> Iterator[str]:
    """Yield how an example that moves the release like this is not hidden, if it is not."""
    hidden, allowed = replay.map.hiding(moved), 1 / replay.unit.noise_multiplier
    found = float(hidden.norm())
    if _differ(replay.map.noise(hidden), moved):
        yield "the last example moves what no noise covers"
    elif not found <= allowed * (1 + TOLERANCE) + TOLERANCE:
        yield f"the last example moves the release by {found:.4f} of its noise, not {allowed:.4f}"


def _reasons_of_a_round(build: Build, unit: Unit) -> Iterator[str]:
    """Yield what is wrong in any step of a round: three mechanisms take it side by side.

    They differ in the last example, and in the noise, which is in every step of the third. Bounds
    are put back before every step.
    """
    replay = Replay(build, unit)
    if not sum(replay.sizes):
        return
    given = pictures([LONG] * 3, [0] * 3, [False, True, False], "round")
    less, noise = given.without_the_last(), replay.drawn()
    trios = [(replay.build(), *own) for own in ((given, NONE), (less, NONE), (given, noise))]
    bounds = [rule.state() for rule in trios[0][0].clippings]
    for number in range(STEPS):
        released = []
        for mechanism, which, draws in trios:
            for rule, bound in zip(mechanism.clippings, bounds, strict=True):
                if bound:
                    rule.restore(bound)
            released.append(torch.cat(replay.taken(mechanism, which, draws, number)))
        if _differ(replay.map.noise(noise), released[2] - released[0]):
            yield f"step {number} of a round: its noise is not its draws alone"
        for reason in _exposed(replay, released[0] - released[1]):
            yield f"step {number} of a round: {reason}"


def _differ(first: Tensor, second: Tensor) -> bool:
    """Tell whether two releases differ by more than rounding; what is not finite does."""
    return not bool(((first - second).abs() <= TOLERANCE * (1 + first.abs())).all())


def _bounds(mechanism: Built) -> Tensor:
    """Return the logarithms of the bounds that move."""
    moving = [rule.clip_norm for rule in mechanism.clippings if rule.state()]
    return torch.tensor(moving, dtype=torch.float64).log()

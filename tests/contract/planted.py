"""Mechanisms with one fault each, beside sound ones that differ from them in that alone.

What the replay tells of a fault is `told` on the small network, `wide` on the wide one. `probed` is
what the probe tells.
"""

import math
from dataclasses import dataclass, field

import torch

from dpfl.audit.trials import CLIP, DEEP
from dpfl.clippings.quantile import Quantile
from dpfl.contracts.release import Release
from dpfl.draws.gaussian import noisy_sum
from dpfl.gradients import finite
from dpfl.privacy.release import remaining

FAULTY, WIDE, PROBED = {}, {}, {}  # what is told of each mechanism with a fault
LAYERS = [p.numel() for p in DEEP.model(torch.float64).parameters()]


@dataclass
class Sound:
    """DP-SGD, a method for everything that a fault below replaces; also of updates of clients."""

    clippings: tuple = ()
    kept: dict = field(default_factory=dict)

    def __init_subclass__(cls, told=None, wide=None, probed=None):
        for found, reason in ((FAULTY, told), (WIDE, wide), (PROBED, probed)):
            if reason:
                found[cls] = reason

    @property
    def clip_norm(self):
        return self.clippings[0].clip_norm if self.clippings else CLIP

    def release(self, noise_multiplier, expected):
        return Release((noise_multiplier,))

    def estimate(self, step):
        gradients, norms = step.gradients()
        self.kept["step"] = step
        total = self.noisy(gradients.rows(), norms, step.noise_multiplier, step.normal)
        return self.divided(total, len(norms), step.expected_batch)

    def aggregate(self, updates, cohort, *, noise_multiplier, normal):
        rows = torch.stack([cohort.like * 0, *updates])
        rows = rows[rows.isfinite().all(1)]
        total = self.noisy(rows, rows.norm(dim=1), noise_multiplier, normal)
        return self.divided(total, len(rows) - 1, cohort.expected)

    def noisy(self, rows, norms, z, normal):
        return self.clipped_sum(rows, norms) + self.noise(rows.shape[1], z, normal)

    def clipped_sum(self, rows, norms):
        return (rows * (self.clip_norm / norms).clamp(max=1)[:, None]).sum(0)

    def noise(self, size, z, normal):
        return z * self.clip_norm * normal(size)

    def divided(self, total, realised, expected):
        return total / expected


class NoNoise(Sound, told="moves what no noise covers"):
    def noise(self, size, z, normal):
        return 0 * normal(size)


class NothingDrawn(Sound, told="no noise is drawn"):
    def noise(self, size, z, normal):
        return torch.zeros(size)


class Halved(Sound, told="by 1.5385 of its noise, not 0.7692"):
    def noise(self, size, z, normal):
        return super().noise(size, z / 2, normal)


class AThousandthLess(Sound, told="of its noise"):
    def noise(self, size, z, normal):
        return super().noise(size, 0.999 * z, normal)


class OneScalar(Sound, told="moves what no noise covers"):
    def noise(self, size, z, normal):
        return super().noise(1, z, normal).expand(size)


class NoneOnTheLast(Sound, told="moves what no noise covers"):
    def noise(self, size, z, normal):
        return torch.cat([super().noise(size - 1, z, normal), torch.zeros(1)])


class DrawnOnce(Sound, told="next step: no noise is drawn"):
    def noise(self, size, z, normal):
        if "noise" not in self.kept:
            self.kept["noise"] = super().noise(size, z, normal)
        return self.kept["noise"]


class PartlyKept(Sound, told="the next step shows more of this batch"):
    """Noise of full variance in every step, half of it that of the step before."""

    def noise(self, size, z, normal):
        old, self.kept["noise"] = self.kept.get("noise"), super().noise(size, z, normal)
        fresh = self.kept["noise"]
        return fresh if old is None else (fresh + old) / math.sqrt(2)


class OfTheLibrary(Sound, told="not affine in the draws"):
    """Noise of torch's global generator, not of the stream."""

    def noise(self, size, z, normal):
        return super().noise(size, z, normal) + torch.randn(size, dtype=torch.float64)


class NotClipped(Sound, told="of its noise"):
    def clipped_sum(self, rows, norms):
        return rows.sum(0)


class ClippedAtTwice(Sound, told="by 1.5385 of its noise"):
    def clipped_sum(self, rows, norms):
        return 2 * super().clipped_sum(rows / 2, norms / 2)


class ClippedByParameter(Sound, told="of its noise"):
    """Each of the two parameters to C, so that both together reach sqrt(2) C."""

    def clipped_sum(self, rows, norms):
        parts = rows.split([12, 9], dim=1)
        return torch.cat(
            [super(ClippedByParameter, self).clipped_sum(p, p.norm(dim=1)) for p in parts]
        )


class ClippedAsABatch(Sound, told="of its noise"):
    def clipped_sum(self, rows, norms):
        total = rows.sum(0)
        return total * (self.clip_norm / total.norm()).clamp(max=1)


class ClippedAfterNoise(Sound, told="not affine in the draws"):
    def noisy(self, rows, norms, z, normal):
        total = rows.sum(0) + self.noise(rows.shape[1], z, normal)
        return total * (self.clip_norm / total.norm()).clamp(max=1)


class ClippedByTheMean(Sound, told="the noise depends on the batch"):
    """To the mean norm of the batch, noise in proportion: FSDP's rule."""

    def noisy(self, rows, norms, z, normal):
        self.clippings = (Quantile(float(norms.mean()) if norms.any() else CLIP, 0.5, 1.0, None),)
        return super().noisy(rows, norms, z, normal)


class NormalisedToOne(Sound, told="by 7.6923 of its noise, not 0.7692"):
    """What is longer than 1 gets length 1, and noise the scale of C = .1."""

    def clipped_sum(self, rows, norms):
        return (rows / norms.clamp(min=1)[:, None]).sum(0)

    def noise(self, size, z, normal):
        return z * 0.1 * normal(size)


class RealisedSize(Sound, told="the noise depends on the batch"):
    def divided(self, total, realised, expected):
        return total / max(realised, 1)


class CarriedNorm(Sound, told="the next step shows more of this batch"):
    """The mean norm of this batch scales the next step's estimate."""

    def noisy(self, rows, norms, z, normal):
        scale, self.kept["scale"] = self.kept.get("scale", 1.0), 1 + float(norms.mean())
        return scale * super().noisy(rows, norms, z, normal)


class CarriedLoss(Sound, told="the next step shows more of this batch"):
    """The mean loss of this batch scales the next step's bound, and its noise with it."""

    def noisy(self, rows, norms, z, normal):
        step = self.kept["step"]
        with torch.no_grad():
            loss = float(step.loss_fn(step.model(step.inputs), step.targets).mean())
        scale, self.kept["scale"] = self.kept.get("scale", 1.0), math.exp(math.tanh(loss))
        self.clippings = (Quantile(CLIP * scale, 0.5, 1.0, None),)
        return super().noisy(rows, norms, z, normal)


class DrawsForEveryExample(Sound, told="draws of sizes"):
    def noisy(self, rows, norms, z, normal):
        return super().noisy(rows, norms, z, normal) + normal(len(rows)).sum()


class NothingOfAnEmptyBatch(Sound, told="no noise is drawn"):
    def noisy(self, rows, norms, z, normal):
        return super().noisy(rows, norms, z, normal) if norms.any() else rows.sum(0)


class CandidatesForFree(Sound, told="by 1.3323 of its noise, not 0.7692"):
    """The best of three noisy sums by the public loss, and one of them is charged."""

    def estimate(self, step):
        with torch.no_grad():
            return min(
                (super(CandidatesForFree, self).estimate(step) for _ in range(3)), key=self.loss
            )

    def loss(self, estimate):
        step = self.kept["step"]
        return float(step.loss_fn(step.model(step.public.inputs), step.public.targets).mean())


@dataclass
class WithCount(Sound):
    """The same with the rule `quantile`, whose count is released beside the sum."""

    clippings: tuple = field(default_factory=lambda: (Quantile(CLIP, 0.5, 0.2, None),))

    def noisy(self, rows, norms, z, normal):
        (rule,) = self.clippings
        kept = remaining(z, [self.counted(rule, z)])
        found = super().noisy(rows, norms, kept, normal)
        votes = float((norms <= rule.clip_norm).sum()) - len(norms) / 2
        self.move(rule, votes, z, normal)
        return found

    def counted(self, rule, z):
        return rule.count_multiplier(z, 10.0)

    def move(self, rule, votes, z, normal):
        rule.after(votes, noise_multiplier=z, expected=10.0, normal=normal)


class CountWithoutNoise(WithCount, told="moves what no noise covers"):
    def move(self, rule, votes, z, normal):
        super().move(rule, votes, z, lambda size: torch.zeros(size))


class CountForFree(WithCount, told="of its noise"):
    """The count has noise, but all of z is spent on the sum as well."""

    def counted(self, rule, z):
        return math.inf


class CountWithTheNoiseOfTheSum(WithCount, told="moves what no noise covers"):
    def noise(self, size, z, normal):
        self.kept["drawn"] = normal(size)
        return z * self.clip_norm * self.kept["drawn"]

    def move(self, rule, votes, z, normal):
        super().move(rule, votes, z, lambda size: self.kept["drawn"][:size])


class TwoParts(Sound):
    """The first 5 coordinates and the others, each clipped and noised alone, as fsdp-certified."""

    def noisy(self, rows, norms, z, normal):
        parts, half = rows.split([5, 16], dim=1), math.sqrt(2) * z
        sums = [super(TwoParts, self).clipped_sum(p, p.norm(dim=1)) for p in parts]
        draws = self.draws(normal)
        noisy = [s + half * CLIP * d for s, d in zip(sums, draws, strict=True)]
        return torch.cat(noisy)

    def draws(self, normal):
        return normal(5), normal(16)


class OneDrawForBoth(TwoParts, told="moves what no noise covers"):
    def draws(self, normal):
        other = normal(16)
        return other[:5], other


class SplitAsIfAlone(TwoParts, told="of its noise"):
    """Both parts with the noise of z, which together cost as z / sqrt(2) does."""

    def draws(self, normal):
        return tuple(d / math.sqrt(2) for d in super().draws(normal))


class OnTheGrid(Sound):
    """The same, its sum on the grid that it leaves on."""

    def noisy(self, rows, norms, z, normal):
        total = self.clipped_sum(rows, norms)
        return noisy_sum(total, self.drawn(len(total), normal), z * self.clip_norm).to(rows.dtype)

    def drawn(self, size, normal):
        return normal(size)


UNCOVERED, CARRIED = "moves what no noise covers", "its noise is not its draws alone"
REPEATED, UNEVEN = "repeats itself along", "not an even copy"


# --- noise that can be told, or subtracted --------------------------------------------------------


class Repeated(OnTheGrid, wide=UNCOVERED, probed=REPEATED):
    def drawn(self, size, normal):
        return normal(2048).repeat(size // 2048 + 1)[:size]


class RepeatedBackwards(OnTheGrid, wide=UNCOVERED, probed=UNEVEN):
    """All are drawn, half of them used twice, the second time with the other sign."""

    def drawn(self, size, normal):
        drawn = normal(size)
        half = size // 2
        return torch.cat([drawn[: size - half], -drawn[:half].flip(0)])


class RepeatedInDisorder(OnTheGrid, wide=UNCOVERED, probed=UNEVEN):
    """One draw in a hundred is used again, somewhere else."""

    def drawn(self, size, normal):
        places = torch.randperm(size, generator=torch.Generator().manual_seed(1))
        drawn = normal(size)
        drawn[places[: size // 100]] = drawn[places[-(size // 100) :]]
        return drawn


class AlikeNeighbours(OnTheGrid, wide="not affine in the draws", probed=UNEVEN):
    """Neighbours share a little of their noise."""

    def drawn(self, size, normal):
        drawn = normal(size)
        return (drawn + 0.05 * drawn.roll(1)) / math.sqrt(1 + 0.05**2)


class OneWithout(OnTheGrid, wide=UNCOVERED, probed="1 of the 5419 coordinates have no noise"):
    def drawn(self, size, normal):
        drawn = normal(size)
        drawn[3000] = 0
        return drawn


class LessTheLast(OnTheGrid, wide=CARRIED, probed="the noise of two steps is alike"):
    """Noise of a step less a part of that of an earlier one: what is left of the sums adds up."""

    part, lag = 0.6, 1

    def drawn(self, size, normal):
        kept = self.kept.setdefault("drawn", [])
        kept.append(normal(size))
        earlier = kept[-1 - self.lag] if len(kept) > self.lag else 0 * kept[-1]
        return kept[-1] - self.part * earlier


class LessALittleOfTheLast(LessTheLast, wide=CARRIED, probed=UNEVEN):
    part = 0.05


class LessThatOfTwoBefore(LessTheLast, wide=CARRIED, probed="the noise of two steps is alike"):
    part, lag = 0.3, 2


class InFloat32(OnTheGrid, probed="off the grid"):
    def noisy(self, rows, norms, z, normal):
        total = self.clipped_sum(rows, norms).float()
        return total + (z * self.clip_norm * normal(len(total))).float()


class InFloat64(OnTheGrid, probed="off the grid"):
    """Added in float64, and never rounded to a grid."""

    def noisy(self, rows, norms, z, normal):
        return Sound.noisy(self, rows.double(), norms, z, normal)


class OfFewDigits(OnTheGrid, probed=UNEVEN):
    kind = torch.bfloat16

    def drawn(self, size, normal):
        return normal(size).to(self.kind).double()


class OfHalfPrecision(OfFewDigits, probed=UNEVEN):
    kind = torch.float16


class OfTheLibraryInFewDigits(OnTheGrid, probed="from what the step is handed"):
    def drawn(self, size, normal):
        normal(size)
        return torch.randn(size, dtype=torch.bfloat16).double()


class Truncated(OnTheGrid, probed=UNEVEN):
    def drawn(self, size, normal):
        return normal(size).clamp(-3, 3)


# --- sums that one example moves too far ----------------------------------------------------------


TOO_FAR = "of its noise, not"


class WithoutBiases(Sound, wide=TOO_FAR):
    """The norm that is clipped leaves out some of the layers."""

    left_out = (1, 3, 5, 7)

    def clipped_sum(self, rows, norms):
        if rows.shape[1] < sum(LAYERS):
            return super().clipped_sum(rows, norms)
        parts = rows.split([*LAYERS, rows.shape[1] - sum(LAYERS)], dim=1)
        kept = [part for number, part in enumerate(parts) if number not in self.left_out]
        return super().clipped_sum(rows, torch.cat(kept, dim=1).norm(dim=1))


class WithoutTheConvolution(WithoutBiases, wide=TOO_FAR):
    left_out = (0,)


class WithoutTheNormLayer(WithoutBiases, wide=TOO_FAR):
    left_out = (2, 3)


class WithoutTheLastLayer(WithoutBiases, wide=TOO_FAR):
    left_out = (6, 7)


class AtTheMedianOfMany(Sound, wide=TOO_FAR):
    """In a batch that is large enough examples are clipped at what the batch shows."""

    many, at = 32, staticmethod(torch.median)

    def clipped_sum(self, rows, norms):
        if len(rows) <= self.many:
            return super().clipped_sum(rows, norms)
        return (rows * (self.at(norms) / norms).clamp(max=1)[:, None]).sum(0)


class AtTheMeanOfVeryMany(AtTheMedianOfMany, wide=TOO_FAR):
    many, at = 150, staticmethod(torch.mean)


class AtAQuantileOfAFew(AtTheMedianOfMany, wide=TOO_FAR):
    many, at = 8, staticmethod(lambda norms: norms.quantile(0.7))


class DroppedWhereTheLossIsSmall(Sound, wide=TOO_FAR):
    def clipped_sum(self, rows, norms):
        step = self.kept["step"]
        losses = step.loss_fn(step.model(step.inputs), step.targets).detach()
        return super().clipped_sum(rows, norms) * self.part(losses)

    def part(self, losses):
        return float(len(losses) == 0 or losses.mean() > 0.1)


class HalvedByAnOutlier(DroppedWhereTheLossIsSmall, wide=TOO_FAR):
    def part(self, losses):
        return 0.5 if len(losses) and losses.max() > 1e3 else 1.0


class DroppedWhereTheLossIsNegative(DroppedWhereTheLossIsSmall, wide=TOO_FAR):
    def part(self, losses):
        return float(losses.sum() >= 0)


class TwiceWhereWeightsAreLong(Sound, wide=TOO_FAR):
    """Clipped at a multiple of C at some weights, which training may reach."""

    def clipped_sum(self, rows, norms):
        found = [p.detach().flatten() for p in self.kept["step"].model.parameters()]
        more = self.more(float(torch.cat(found).norm()))
        return more * super().clipped_sum(rows / more, norms / more)

    def more(self, length):
        return 2.0 if length > 50 else 1.0


class TwiceWhereTheyAreShort(TwiceWhereWeightsAreLong, wide=TOO_FAR):
    def more(self, length):
        return 2.0 if length < 1 else 1.0


class TwiceWhereNoiseIsStrong(Sound, wide=TOO_FAR):
    """Clipped at a multiple of C at some noise."""

    def noisy(self, rows, norms, z, normal):
        more = self.more(z)
        total = more * self.clipped_sum(rows / more, norms / more)
        return total + self.noise(rows.shape[1], z, normal)

    def more(self, z):
        return 2.0 if z > 20 else 1.0


class ATenthMoreWhereItIsWeak(TwiceWhereNoiseIsStrong, wide=TOO_FAR):
    def more(self, z):
        return 1.1 if z < 0.2 else 1.0


class ThriceInBetween(TwiceWhereNoiseIsStrong, wide=TOO_FAR):
    def more(self, z):
        return 3.0 if 5 < z < 10 else 1.0


class NotClippedEveryFiftiethStep(Sound, wide="step 49 of a round: the last example moves"):
    every = 50

    def noisy(self, rows, norms, z, normal):
        self.kept["taken"] = self.kept.get("taken", 0) + 1
        return super().noisy(rows, norms, z, normal)

    @property
    def due(self):
        return self.kept["taken"] % self.every == 0

    def clipped_sum(self, rows, norms):
        return rows.sum(0) if self.due else super().clipped_sum(rows, norms)


class NotClippedOnce(NotClippedEveryFiftiethStep, wide="step 76 of a round: the last example"):
    every = 77


class NoNoiseInTheNinetiethStep(NotClippedEveryFiftiethStep, wide="step 89 of a round: its noise"):
    every = 90

    def clipped_sum(self, rows, norms):
        return Sound.clipped_sum(self, rows, norms)

    def noise(self, size, z, normal):
        return super().noise(size, 0.0 if self.due else z, normal)


# --- canaries that do not show --------------------------------------------------------------------


class Padded(OnTheGrid, probed="64 of the 5419 coordinates have no noise"):
    """It differentiates by itself, and the columns of canaries are filled up."""

    def estimate(self, step):
        gradients, norms = finite(step.model, step.loss_fn, step.inputs, step.targets)
        rows = torch.nn.functional.pad(gradients.rows(), (0, step.appended))
        return self.noisy(rows, norms, step.noise_multiplier, step.normal) / step.expected_batch

    def drawn(self, size, normal):
        drawn = normal(size)
        drawn[sum(LAYERS) :] = 0
        return drawn


class PaddedWithNoise(Padded, probed="the canaries in its batch do not show"):
    def drawn(self, size, normal):
        return normal(size)


class PaddedWithAConstant(PaddedWithNoise, probed="the canaries in its batch do not show"):
    """The same is in every column, whether its canary is in or not."""

    def noisy(self, rows, norms, z, normal):
        found = super().noisy(rows, norms, z, normal)
        found[sum(LAYERS) :] += 2.0**-10
        return found


# --- what is made of a release --------------------------------------------------------------------


@dataclass
class Around(Sound):
    """What another releases, turned round."""

    inner: Sound = field(default_factory=Sound)

    def estimate(self, step):
        return -self.inner.estimate(step) * self.part(step.inputs)

    def part(self, inputs):
        return 1.0


class ScaledByTheBatch(Around, wide="more than a release"):
    def part(self, inputs):
        return 1.0 + float(len(inputs) > 30 and inputs.mean() > 0)


class TurnedByAnEmptyExample(Around, wide="more than a release"):
    def part(self, inputs):
        return 1.0 - 2.0 * float((inputs.flatten(1).abs().sum(1) == 0).any())


SOUND = (Sound, OnTheGrid, WithCount, TwoParts, Around)
OF_EXAMPLES_ALONE = {  # an update has no loss, and all of it is given
    CarriedLoss,
    CandidatesForFree,
    DroppedWhereTheLossIsSmall,
    HalvedByAnOutlier,
    DroppedWhereTheLossIsNegative,
    TwiceWhereWeightsAreLong,
    TwiceWhereTheyAreShort,
    Padded,
    PaddedWithNoise,
    PaddedWithAConstant,
    ScaledByTheBatch,
    TurnedByAnEmptyExample,
}


# --- what another example, a later step or a new round shows --------------------------------------


class FirstFive(Sound, told="the order of the batch shows"):
    """No more than five examples, to bound memory: when one leaves, another comes in."""

    def clipped_sum(self, rows, norms):
        return super().clipped_sum(rows[-5:], norms[-5:])


class MedianOfEarlierBatches(Sound, told="the next 30 steps show more of this batch"):
    """From the tenth step on a bound that nobody has paid for."""

    def clipped_sum(self, rows, norms):
        old, own = self.kept.setdefault("old", []), norms[norms > 0].clamp(1e-3, CLIP)
        bound = min([CLIP, *old[-10:]]) if len(old) > 8 else CLIP
        old += [float(own.median())] * bool(len(own))
        return super().clipped_sum(rows, norms * (CLIP / bound))


class LessNoiseInTheNextRound(Sound, told="next round: "):
    def forget(self):
        self.kept["less"] = 0.8

    def noise(self, size, z, normal):
        return self.kept.get("less", 1.0) * super().noise(size, z, normal)

"""Mechanisms with one fault each, beside sound ones that differ from them in that alone."""

import math
from dataclasses import dataclass, field

import torch
from replay import CLIP

from dpfl.clippings.quantile import Quantile
from dpfl.contracts.release import Release
from dpfl.privacy.release import remaining

FAULTY = {}  # what is told of each mechanism with a fault


@dataclass
class Sound:
    """DP-SGD, a method for everything that a fault below replaces; also of updates of clients."""

    clippings: tuple = ()
    kept: dict = field(default_factory=dict)

    def __init_subclass__(cls, told=None):
        if told:
            FAULTY[cls] = told

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

    def aggregate(self, updates, *, like, noise_multiplier, expected_clients, normal):
        rows = torch.stack([like * 0, *updates])
        rows = rows[rows.isfinite().all(1)]
        total = self.noisy(rows, rows.norm(dim=1), noise_multiplier, normal)
        return self.divided(total, len(rows) - 1, expected_clients)

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


SOUND = (Sound, WithCount, TwoParts)
OF_EXAMPLES_ALONE = {CarriedLoss, CandidatesForFree}  # an update has no loss

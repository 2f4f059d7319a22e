"""The canaries of one holder of examples: who is in, what was seen of them, and what is kept.

Canary j is a record whose gradient is one coordinate of its own, appended to the parameters' (Nasr
et al. 2023, arXiv 2302.07956). The columns are, in this order:

    records   in or out for the whole run by a fair coin; those in are drawn into batches by the
              sampler's own draw, as examples are (one-run bound; checks of the sampler)
    tossed    in or out by a fair coin at every step, always drawn (per-step bound)
    silent    never in: their noise alone, by which two steps are compared
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from dpfl.draws import streams

SILENT = 64
KEPT = 20_000  # steps of a holder whose noise is compared, its first: a checkpoint holds them all

NOT_AUDITED = {"status": "not audited", "epsilon": None, "ceiling": None, "estimator": None}


@dataclass(frozen=True)
class Terms:
    """What an audit is told before the run.

    `gaussian`, whether every step is one, chooses the estimator; `blind` is what canaries cannot
    see of the mechanism.
    """

    gaussian: bool
    delta: float
    level: float
    blind: tuple[str, ...] = ()


class Canaries:
    """Coins of `records` and `tossed` canaries from the stream of a key, and notes on all steps.

    `length` is that of a canary's gradient, as a multiple of the batch's mean norm. Where every
    step is known to be a Gaussian, canaries are so long that clipping leaves them C. Whether the
    mechanism lets canaries be appended is `seen`; the sampler is watched in any case.
    """

    def __init__(self, records: int, tossed: int, key: tuple, length: float = 1.0):
        self.records, self.tossed, self.length, self.key = records, tossed, length, key
        self.included = streams.rng(*key, "records").random(records) < 0.5
        self.scores = np.full(records, -np.inf)
        self.counts = np.zeros(records, np.int64)
        self.steps = 0
        self.sizes: list[tuple[int, int, float]] = []  # batch, population, sample rate
        self.noise: list[np.ndarray] = []  # [SILENT] a step, in shifts
        self.tallies: dict[float, list[int]] = {}  # by noise multiplier: see _tally
        self.residuals: list[float] = []
        self.seen = False
        self.drawn = np.zeros(records, bool)
        self.tosses = np.zeros(tossed, bool)

    @property
    def columns(self) -> int:
        """Return how many coordinates are appended."""
        return self.records + self.tossed + SILENT

    def draw(self, drawn: np.ndarray, batch: int, population: int, sample_rate: float) -> None:
        """Note the sampler's draw of a step: which records [records], and how many examples."""
        self.drawn = drawn
        self.tosses = streams.rng(*self.key, "tosses", self.steps).random(self.tossed) < 0.5
        self.counts += drawn
        self.sizes.append((batch, population, sample_rate))
        self.steps += 1

    def hits(self) -> np.ndarray:
        """Return the columns of the canaries that are in the batch of this step."""
        return np.flatnonzero(np.concatenate([self.drawn & self.included, self.tosses]))

    def observe(self, x: np.ndarray, noise_multiplier: float) -> None:
        """Note what a step released at the columns x [columns], in shifts of one canary."""
        self.seen = True
        self.scores = np.maximum(self.scores, x[: self.records])
        if len(self.noise) < KEPT:
            self.noise.append(x[-SILENT:].astype(np.float32))
        tossed = x[self.records : self.records + self.tossed]
        tally = self.tallies.setdefault(noise_multiplier, [0, 0, 0, 0, 0])
        for index, found in enumerate(_tally(tossed, self.tosses)):
            tally[index] += found

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps; coins are functions of the key."""
        noise = np.array(self.noise, np.float32).reshape(-1, SILENT)
        return {
            **{k: getattr(self, k) for k in ("seen", "steps", "sizes", "tallies", "residuals")},
            "scores": torch.from_numpy(self.scores),
            "counts": torch.from_numpy(self.counts),
            "noise": torch.from_numpy(noise),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what a checkpoint kept."""
        self.steps, self.seen = state["steps"], state["seen"]
        self.sizes = list(state["sizes"])
        self.residuals[:] = state["residuals"]  # the list that clipping rules add to
        self.tallies = {z: list(tally) for z, tally in state["tallies"].items()}
        self.scores, self.counts = state["scores"].numpy(), state["counts"].numpy()
        self.noise = list(state["noise"].numpy())


def _tally(x: np.ndarray, tosses: np.ndarray) -> tuple[int, int, int, int, int]:
    """Return (steps, ins, misses, outs, false alarms) of one step, called at half of the shift.

    There the likelihoods of in and out are equal, whatever the noise.
    """
    called = x > 0.5
    ins = int(tosses.sum())
    return 1, ins, int((tosses & ~called).sum()), len(x) - ins, int((~tosses & called).sum())

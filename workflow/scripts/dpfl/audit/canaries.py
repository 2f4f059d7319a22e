"""The canaries of one holder of examples: who is in, what was seen of them, and what is kept.

Canary j is a record whose gradient is one coordinate of its own, appended to the parameters' (Nasr
et al. 2023, arXiv 2302.07956). The columns are, in this order:

    records   in or out for the whole run by a fair coin; those in are drawn into batches by the
              sampler's own draw, as examples are (one-run bound; checks of the sampler)
    tossed    in or out by a fair coin at every step, always drawn (per-step bound)
    silent    never in: their noise alone, by which two steps are compared
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from dpfl.audit.turns import Drawn, Turns
from dpfl.draws import streams

SILENT = 64
KEPT = 20_000  # steps of a holder whose noise is compared, its first: a checkpoint holds them all
LONGEST = 2_000  # so many where noise is correlated, which takes a matrix of steps by steps

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
    mechanism lets canaries be appended is `seen`; the sampler is watched in any case. Without
    Poisson sampling there are `turns`, and no records. Where steps share draws of noise, `made_of`
    returns the rows of so many steps. With both, the tossed ones are judged at the end.
    """

    def __init__(
        self,
        records: int,
        tossed: int,
        key: tuple,
        length: float = 1.0,
        turns: Turns | None = None,
        made_of: Callable[[int], np.ndarray] | None = None,
    ):
        self.turns, self.made_of = turns, made_of
        self.records, self.tossed, self.length, self.key = records, tossed, length, key
        self.included = streams.rng(*key, "records").random(records) < 0.5
        self.scores = np.full(records, -np.inf)
        self.counts = np.zeros(records, np.int64)
        self.steps = 0
        self.sizes: list[tuple[int, int, float]] = []  # batch, population, sample rate
        self.noise: list[np.ndarray] = []  # [width] a step, in shifts
        self.tallies: dict[float, list[int]] = {}  # by noise multiplier: see tally
        self.residuals: list[float] = []
        self.seen = False
        self.drawn = np.zeros(records, bool)
        self.tosses = np.zeros(tossed, bool)
        self.taken: Drawn | None = None

    @property
    def columns(self) -> int:
        """Return how many coordinates are appended."""
        return self.records + self.tossed + SILENT

    @property
    def judged_at_end(self) -> bool:
        """Tell whether the tossed ones are judged when the run is over."""
        return self.turns is not None and self.made_of is not None

    @property
    def width(self) -> int:
        """Return of how many columns, the last ones, every step is kept."""
        return SILENT + (self.tossed if self.judged_at_end else 0)

    def draw(self, drawn: np.ndarray, batch: int, population: int, sample_rate: float) -> None:
        """Note the sampler's draw of a step: which records [records], and how many examples."""
        self.drawn = drawn
        self.tosses = self.coins(self.steps)
        self.counts += drawn
        self.sizes.append((batch, population, sample_rate))
        self.steps += 1

    def took(self, chosen: np.ndarray, population: int, sample_rate: float) -> None:
        """Note which examples of a population a step has, drawn otherwise than by Poisson."""
        self.taken = self.taken or Drawn.none(population)
        self.taken.add(chosen, self.steps, self.turns.groups)
        self.draw(np.zeros(0, bool), len(chosen), population, sample_rate)

    def coins(self, step: int) -> np.ndarray:
        """Return which of the tossed ones are in a step [tossed]."""
        return streams.rng(*self.key, "tosses", step).random(self.tossed) < 0.5

    def hits(self) -> np.ndarray:
        """Return the columns of the canaries that are in the batch of this step."""
        return np.flatnonzero(np.concatenate([self.drawn & self.included, self.tosses]))

    def observe(self, x: np.ndarray, noise_multiplier: float) -> None:
        """Note what a step released at the columns x [columns], in shifts of one canary."""
        self.seen = True
        self.scores = np.maximum(self.scores, x[: self.records])
        if len(self.noise) < (KEPT if self.made_of is None else LONGEST):
            row = x[-self.width :].astype(np.float32)
            if self.made_of is not None:  # noise of other steps may have another scale
                row[-SILENT:] /= noise_multiplier
            self.noise.append(row)
        told = 0 if self.judged_at_end else self.tossed
        before = self.tallies.get(noise_multiplier, [0, 0, 0, 0, 0])
        found = 1, *tally(x[self.records :][:told], self.tosses[:told])
        self.tallies[noise_multiplier] = [a + b for a, b in zip(before, found, strict=True)]

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps; coins are functions of the key."""
        noise = np.array(self.noise, np.float32).reshape(-1, self.width)
        taken = {"taken": _as(torch.from_numpy, vars(self.taken))} if self.taken else {}
        return {
            **taken,
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
        if "taken" in state:
            self.taken = Drawn(**_as(torch.Tensor.numpy, state["taken"]))


def _as(kind: Callable[[Any], Any], state: dict[str, Any]) -> dict[str, Any]:
    return {key: own if isinstance(own, int) else kind(own) for key, own in state.items()}


def tally(x: np.ndarray, coins: np.ndarray) -> tuple[int, int, int, int]:
    """Return (ins, misses, outs, false alarms) of canaries called by what they show, x [m].

    They are called at half of the shift: there the likelihoods of in and out are equal, whatever
    the noise.
    """
    called, ins = x > 0.5, int(coins.sum())
    return ins, int((coins & ~called).sum()), len(x) - ins, int((~coins & called).sum())

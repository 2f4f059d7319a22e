"""How often a rule of tuning makes two equally good methods look different.

Each method has a curve of its own: its accuracy falls by k ln(rate / peak)^2, k of each side drawn
so that a factor of 1.8 costs 0.3 to 0.8 points, as measured on MNIST; its peak lies anywhere from
one step below the grid to one step above it. At their peaks the two are equal. Each is tuned on
noisy validation accuracies, then trained with five seeds; the verdict is that of a paired t-test.

`python tuning_simulation.py` prints the table of docs/statistics.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np
from scipy.stats import t

from dpfl import plugins
from dpfl.tuning.parts import rules

REPEATS = 2000
SEEDS, MARGIN = 5, 1.0
COST, AWAY, WORST = (0.3, 0.8), 1.8, 80.0  # points, at this factor from the peak; far from it
SHARED_SD, TRIAL_SD = 0.2, 0.25  # of a validation accuracy: what a seed's trials share, the rest
DIFFERENCE_SD = {"paired": 0.17, "unpaired": 0.28}  # of two methods' test accuracies with one seed
SPAN, NARROW = 6.8**4, 6.8**2.4  # of a grid, from its lowest to its highest rate


@dataclass(frozen=True)
class Curve:
    """What a method loses of its best accuracy at a rate, in points."""

    peak: float
    left: float
    right: float

    @classmethod
    def drawn(cls, rng: np.random.Generator, low: float, high: float) -> "Curve":
        left, right = rng.uniform(*COST, 2) / math.log(AWAY) ** 2
        return cls(math.exp(rng.uniform(math.log(low), math.log(high))), left, right)

    def loss(self, rate: float) -> float:
        x = math.log(rate / self.peak)
        return min(WORST, (self.left if x < 0 else self.right) * x * x)


@dataclass(frozen=True)
class Rule:
    """A rule of tuning with the factor of the grid that it starts from."""

    name: str
    uses: str
    factor: float
    choose: Callable | None = None
    """In place of the rule's own."""
    span: float = SPAN
    """From the lowest to the highest rate of the grid."""

    @property
    def grid(self) -> list[float]:
        steps = round(math.log(self.span) / math.log(self.factor))
        return [self.factor**i for i in range(steps + 1)]

    def run(self, accuracy: Callable[[float, int], float]) -> tuple[float, int]:
        """Return the chosen rate, and how many trials it took."""
        module: ModuleType = plugins.load("tuning", self.uses)
        trials = [({"rate": rate}, [accuracy(rate, 0)]) for rate in self.grid]
        for stage in rules.stages(self.uses, ["rate"]):
            named = module.propose(rules.points(trials), stage)
            seeds = range(1, 1 + stage.more_seeds) if stage.more_seeds else [0]
            trials += [(v, [accuracy(v["rate"], seed) for seed in seeds]) for v in named]
        tried = rules.points(trials)
        chosen = tried[(self.choose or module.choose)(tried)]
        return chosen.values["rate"], sum(len(a) for _, a in trials)


def of_means(tried: list[rules.Point]) -> int:
    """Choose the highest mean of the points of most seeds: no one-standard-error rule."""
    most = max(len(point.accuracies) for point in tried)
    last = [i for i, point in enumerate(tried) if len(point.accuracies) == most]
    return max(last, key=lambda i: tried[i].mean)


RULES = (
    Rule("`grid`, factor 6.8", "grid", 6.8),
    Rule("`grid`, factor 3.2", "grid", 6.8**0.6),
    Rule("`grid`, factor 1.8", "grid", 6.8**0.3),
    Rule("`bisect`, factor 6.8", "bisect", 6.8),
    Rule("`bisect`, factor 3.2", "bisect", 6.8**0.6),
    Rule("the same, without the one-standard-error rule", "bisect", 6.8**0.6, of_means),
    Rule("`bisect`, factor 3.2, five rates as in our studies", "bisect", 6.8**0.6, span=NARROW),
)
SHIPPED = RULES[4]


def errors(rule: Rule, repeats: int = REPEATS) -> dict[str, Any]:
    """Return the trials of a method, the mean true gap in points, and shares of false verdicts."""
    rng = np.random.default_rng([17, RULES.index(rule)])
    gaps, trials = np.empty(repeats), 0
    for repeat in range(repeats):
        shared = rng.normal(0, SHARED_SD, 9)
        losses = []
        for _ in range(2):
            curve = Curve.drawn(rng, rule.grid[0] / rule.factor, rule.grid[-1] * rule.factor)
            rate, trials = rule.run(partial(_measured, rng, curve, shared))
            losses.append(curve.loss(rate))
        gaps[repeat] = losses[1] - losses[0]
    found: dict[str, Any] = {"trials": trials, "gap": float(np.abs(gaps).mean())}
    for pairing, sd in DIFFERENCE_SD.items():
        lower = _lower_end(gaps[:, None] + rng.normal(0, sd, (repeats, SEEDS)))
        found[f"holds, {pairing}"] = float((lower > MARGIN / 2).mean())
        found[f"above 0, {pairing}"] = float((lower > 0).mean())
    return found


def _measured(
    rng: np.random.Generator, curve: Curve, shared: np.ndarray, rate: float, seed: int
) -> float:
    """Return the validation accuracy of a trial, less the best that the method can have."""
    return float(shared[seed] - curve.loss(rate) + rng.normal(0, TRIAL_SD))


def _lower_end(differences: np.ndarray) -> np.ndarray:
    """Return the lower end of the 95 % interval of every row's mean."""
    n = differences.shape[1]
    return differences.mean(1) - t.ppf(0.975, n - 1) * differences.std(1, ddof=1) / math.sqrt(n)


def table(simulated: dict[Rule, dict[str, Any]]) -> str:
    """Return the table of rules and their errors in Markdown."""
    keys = [f"{verdict}, {p}" for verdict in ("holds", "above 0") for p in DIFFERENCE_SD]
    heads = ["rule", "trials", "gap, points", *keys]
    lines = [heads, ["---"] * len(heads)]
    for rule, found in simulated.items():
        shares = [f"{found[key]:.1%}" for key in keys]
        lines.append([rule.name, str(found["trials"]), f"{found['gap']:.2f}", *shares])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    print(table({rule: errors(rule) for rule in RULES}), end="")

"""Made-up confidences of models on examples, half of which each of them was trained on."""

from pathlib import Path

import numpy as np

from dpfl.attacks import observed


def gaussian(
    models: int, examples: int, gain: float, seed: int = 0, population: int = 500
) -> observed.Observed:
    """Confidences N(mean of the example, 1), by `gain` larger for members."""
    rng = np.random.default_rng(seed)
    means = rng.normal(2, 3, examples)
    members = rng.random((models, examples)) < 0.5
    confidences = means + gain * members + rng.normal(size=members.shape)
    others = rng.normal(2, 3, population) + rng.normal(size=(models, population))
    return observed.Observed(confidences, members, others)


def write(runs_dir: Path, study: dict, gain: float, examples: int = 400) -> observed.Observed:
    """Write what all models of a study say, as if its runs lay in `runs_dir`; return it."""
    runs = list(dict.fromkeys(run for cell in study["cells"] for run in cell["runs"]))
    seen = gaussian(len(runs), examples, gain)
    observed.write(runs_dir.parent / "membership" / f"{study['name']}.safetensors", runs, seen)
    return seen

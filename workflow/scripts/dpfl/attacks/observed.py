"""What an attack may see: the confidences of models on the same examples, as one file a study."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from dpfl.base.files import atomic, open_tensors

EXAMPLES = 10_000
"""At most so many examples of the training set, and of the population, are scored."""


@dataclass(frozen=True)
class Observed:
    """What models say of the same examples.

    `confidences` [models, examples] are those in the true label, logit-scaled: log(p / (1 - p)).
    `members` [models, examples] tells who was trained on what. `population` [models, population]
    are confidences on examples that no model was trained on.
    """

    confidences: np.ndarray
    members: np.ndarray
    population: np.ndarray


def spread(examples: int) -> np.ndarray:
    """Return the ascending indices of the examples that are scored: the same for every seed."""
    return np.linspace(0, examples - 1, min(EXAMPLES, examples)).astype(np.int64)


def write(path: Path, runs: Sequence[str], seen: Observed) -> None:
    """Write what the models of some runs say, in their order."""
    arrays = {name: np.ascontiguousarray(array) for name, array in asdict(seen).items()}
    with atomic(path) as temporary:
        temporary.write_bytes(save(arrays, {"runs": json.dumps(list(runs))}))


def read(path: Path, runs: Sequence[str]) -> Observed:
    """Read what the models of some of the runs say; UserError for a damaged file."""
    with open_tensors(path, "numpy") as file:
        known = json.loads(file.metadata()["runs"])
        rows = [known.index(run) for run in runs]
        names = Observed.__annotations__
        return Observed(**{name: file.get_tensor(name)[rows] for name in names})

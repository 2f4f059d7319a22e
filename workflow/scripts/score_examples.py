"""Asks all models of a study about examples: what attacks that infer membership may see.

`--data` are the arrays of the data set. Of every run: `--models` names its file of dpfl/models,
`--weights` its {run}/model.safetensors, `--assignments` the client of every example. `--output` is
a .safetensors file.
"""

from pathlib import Path

import numpy as np

from dpfl import data
from dpfl.attacks import observed, query
from dpfl.base import cli, files, options
from dpfl.base.errors import UserError
from dpfl.clients.assignment import PUBLIC


def main() -> None:
    """Write every model's confidences, whom it was trained on, and the test set as population."""
    several = {"models": [str], "weights": [Path], "assignments": [Path]}
    args = options.read(__doc__, data=Path, **several, output=Path)
    dataset = data.load(args.data)
    runs = zip(args.models, args.weights, args.assignments, strict=True)
    told = [_of_model(dataset, *run) for run in runs]
    seen = observed.Observed(*(np.stack(arrays) for arrays in zip(*told, strict=True)))
    observed.write(args.output, [path.parent.name for path in args.weights], seen)


def _of_model(
    dataset: data.Dataset, name: str, weights: Path, assignment: Path
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return confidences [examples], members [examples] and confidences [population]."""
    client = files.read_array(assignment)
    if (client == PUBLIC).any():
        raise UserError(f"{assignment}: public examples are neither members nor held out")
    model = query.trained(name, weights, tuple(dataset.test_inputs.shape[1:]), dataset.classes)
    inside, outside = observed.spread(len(client)), observed.spread(len(dataset.test_targets))
    return (
        query.confidences(model, dataset.train_inputs[inside], dataset.train_targets[inside]),
        client[inside] >= 0,
        query.confidences(model, dataset.test_inputs[outside], dataset.test_targets[outside]),
    )


if __name__ == "__main__":
    cli.main(main)

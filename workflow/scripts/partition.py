"""Divide the training examples of a data set among clients, with a table and a picture of labels.

`--data` is what prepare_data.py wrote. `--partitions` is JSON: of each its name, its seed and its
settings (the scheme, the clients and so on). It also says the fewest examples a client may get.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpfl import data, plugins
from dpfl.base import cli, options
from dpfl.base.files import atomic, write_sum
from dpfl.clients.assignment import assign, label_counts, validation_of
from dpfl.draws import streams
from dpfl.figures.label_counts import draw


def main() -> None:
    """Assign, count, draw: the three files of a partition appear together, in {output}/{name}."""
    wanted = {"dataset": str, "data": Path, "partitions": json.loads}
    args = options.read(__doc__, **wanted, output=Path("results/partitions"))
    targets, owners = data.load_train_targets(args.data), data.load_train_clients(args.data)
    for made in args.partitions:
        content = {"dataset": args.dataset, "partition": made["settings"], "seed": made["seed"]}
        rng = streams.rng(*streams.pairing_key(content), "partition")
        given = {"owners": owners, "rng": rng, "min_examples": made["min_examples"]}
        assignment = assign(targets, **given, **made["settings"])
        _write(args.output / made["name"], content, assignment, targets)


def _write(
    home: Path, content: dict[str, Any], assignment: np.ndarray, targets: np.ndarray
) -> None:
    """Write the assignment, its table and its picture."""
    classes = plugins.load("data", content["dataset"]).CLASSES
    counts = label_counts(assignment, targets, classes)
    held_out = np.bincount(targets[validation_of(assignment)], minlength=classes)
    with (
        atomic(home / "assignment.npy") as array,
        atomic(home / "clients.csv") as table,
        atomic(home / "labels.png") as png,
    ):
        with array.open("wb") as file:
            np.save(file, assignment)
        _table(counts, held_out).to_csv(table, index=False, lineterminator="\n")
        draw(counts, _title(content)).savefig(png, dpi=150)
    write_sum(home / "assignment.npy")


def _table(counts: np.ndarray, held_out: np.ndarray) -> pd.DataFrame:
    """Return a row for every client, and one for the validation examples if there are any."""
    rows = [(client, row.sum(), *row) for client, row in enumerate(counts)]
    if held_out.any():
        rows.append(("validation", held_out.sum(), *held_out))
    labels = [f"label_{label}" for label in range(len(held_out))]
    return pd.DataFrame(rows, columns=["client", "examples", *labels])


def _title(content: dict[str, Any]) -> str:
    """Name the data set, the scheme and whatever shapes the picture."""
    settings = content["partition"]
    first = [f"{content['dataset']}: {settings['scheme']}", f"{settings['clients']} clients"]
    others = {k: v for k, v in settings.items() if v and k not in ("scheme", "clients")}
    shown = [f"{key.replace('_', ' ')} {value}" for key, value in others.items()]
    return ", ".join([*first, *shown, f"seed {content['seed']}"])


if __name__ == "__main__":
    cli.main(main)

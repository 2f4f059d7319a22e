"""Divide the training examples among clients, with a table and a picture of their labels.

`--data` is what prepare_data.py wrote, `--settings` JSON: the scheme, the clients and so on;
`--assignment` is a .npy file, `--summary` a .csv file, `--picture` a .png file.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import pandas as pd

from dpfl import data, plugins
from dpfl.base import cli, options
from dpfl.base.files import atomic, write_sum
from dpfl.clients.assignment import assign, label_counts, validation_of
from dpfl.draws import streams
from dpfl.figures.label_counts import draw


def main() -> None:
    """Assign, count, draw; the three files appear together."""
    wanted = {"dataset": str, "data": Path, "settings": json.loads, "seed": int}
    written = dict.fromkeys(("assignment", "summary", "picture"), Path)
    args = options.read(__doc__, **wanted, **written, min_examples=1)
    settings = args.settings
    targets, owners = data.load_train_targets(args.data), data.load_train_clients(args.data)
    key = streams.pairing_key({"dataset": args.dataset, "partition": settings, "seed": args.seed})
    rng = streams.rng(*key, "partition")
    assignment = assign(targets, owners=owners, rng=rng, min_examples=args.min_examples, **settings)
    classes = plugins.load("data", args.dataset).CLASSES
    counts = label_counts(assignment, targets, classes)
    held_out = np.bincount(targets[validation_of(assignment)], minlength=classes)

    with (
        atomic(args.assignment) as array,
        atomic(args.summary) as table,
        atomic(args.picture) as png,
    ):
        with array.open("wb") as file:
            np.save(file, assignment)
        _table(counts, held_out).to_csv(table, index=False, lineterminator="\n")
        draw(counts, _title(args, settings)).savefig(png, dpi=150)
    write_sum(args.assignment)


def _table(counts: np.ndarray, held_out: np.ndarray) -> pd.DataFrame:
    """Return a row for every client, and one for the validation examples if there are any."""
    rows = [(client, row.sum(), *row) for client, row in enumerate(counts)]
    if held_out.any():
        rows.append(("validation", held_out.sum(), *held_out))
    labels = [f"label_{label}" for label in range(len(held_out))]
    return pd.DataFrame(rows, columns=["client", "examples", *labels])


def _title(args: argparse.Namespace, settings: dict) -> str:
    """Name the data set, the scheme and whatever shapes the picture."""
    first = [f"{args.dataset}: {settings['scheme']}", f"{settings['clients']} clients"]
    others = {k: v for k, v in settings.items() if v and k not in ("scheme", "clients")}
    shown = [f"{key.replace('_', ' ')} {value}" for key, value in others.items()]
    return ", ".join([*first, *shown, f"seed {args.seed}"])


if __name__ == "__main__":
    cli.main(main)

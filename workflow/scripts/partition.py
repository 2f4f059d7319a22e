"""Divides the training examples among clients, with a table and a picture of their labels."""

import argparse
import csv
import json
from pathlib import Path

import numpy as np

from dpfl import data, plugins
from dpfl.base import cli
from dpfl.base.files import atomic, write_sum
from dpfl.clients.assignment import assign, label_counts, validation_of
from dpfl.draws import streams
from dpfl.figures.label_counts import draw


def main() -> None:
    """Assign, count, draw; the three files appear together."""
    args = _arguments()
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
        _write_table(table, counts, held_out)
        draw(counts, _title(args, settings)).savefig(png, dpi=150)
    write_sum(args.assignment)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--data", type=Path, required=True, help="what prepare_data.py wrote")
    parser.add_argument("--settings", type=json.loads, required=True, help="JSON: scheme, ...")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--min-examples", type=int, default=1, help="of every client")
    parser.add_argument("--assignment", type=Path, required=True, help="a .npy file")
    parser.add_argument("--summary", type=Path, required=True, help="a .csv file")
    parser.add_argument("--picture", type=Path, required=True, help="a .png file")
    return parser.parse_args()


def _write_table(path: Path, counts: np.ndarray, held_out: np.ndarray) -> None:
    """One row a client, and one for the validation examples if there are any."""
    rows = [(client, row.sum(), *row) for client, row in enumerate(counts)]
    if held_out.any():
        rows.append(("validation", held_out.sum(), *held_out))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["client", "examples", *(f"label_{i}" for i in range(len(held_out)))])
        writer.writerows(rows)


def _title(args: argparse.Namespace, settings: dict) -> str:
    """Name the data set, the scheme and whatever shapes the picture."""
    hidden = ("scheme", "clients")
    shown = [f"{k.replace('_', ' ')} {v}" for k, v in settings.items() if v and k not in hidden]
    clients = f"{settings['clients']} clients"
    return ", ".join(
        [f"{args.dataset}: {settings['scheme']}", clients, *shown, f"seed {args.seed}"]
    )


if __name__ == "__main__":
    cli.main(main)

"""Converts a data set once to the file that training reads."""

import argparse
from pathlib import Path
from types import ModuleType

from dpfl import data, plugins
from dpfl.base import cli
from dpfl.base.files import read_json, write_sum


def main() -> None:
    """Read, check and write one data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dataset", required=True, help="the name of a file in dpfl/data")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--data-dir", type=Path, help="where files lie or are downloaded to")
    where.add_argument("--config", dest="data_dir", type=_data_dir, help="JSON that says so")
    parser.add_argument("--output", type=Path, required=True, help="a .safetensors file")
    args = parser.parse_args()

    arrays = data.read(args.dataset, args.data_dir)
    source = plugins.load("data", args.dataset)
    scaled = hasattr(source, "SCALE")  # features are taken as they are
    data.write(args.output, arrays, *((source.SCALE, source.MEAN, source.STD) if scaled else ()))
    write_sum(args.output)
    print(
        f"{args.output}: {args.dataset}, {len(arrays.train_targets)} training and "
        f"{len(arrays.test_targets)} test examples of {_shape(source.SHAPE)}, "
        f"{source.CLASSES} classes{_owners(source)}"
    )


def _data_dir(config: str) -> Path:
    return Path(read_json(config)["data_dir"])


def _shape(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) if len(shape) > 1 else f"{shape[0]} columns"


def _owners(source: ModuleType) -> str:
    return f", {source.CLIENTS} natural clients" if hasattr(source, "CLIENTS") else ""


if __name__ == "__main__":
    cli.main(main)

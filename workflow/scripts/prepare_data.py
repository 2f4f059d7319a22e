"""Convert a data set once to the file that training reads.

`--dataset` is the name of a file in dpfl/data, `--output` a .safetensors file. `--config` is a JSON
file that says the `data_dir`, where the data set's files lie or are downloaded to.
"""

from pathlib import Path

from dpfl import data, plugins
from dpfl.base import cli, files, options


def main() -> None:
    """Read, check and write one data set."""
    args = options.read(__doc__, dataset=str, config=Path, output=Path)
    arrays = data.read(args.dataset, Path(files.read_json(args.config)["data_dir"]))
    source = plugins.load("data", args.dataset)
    scaled = hasattr(source, "SCALE")  # features are taken as they are
    data.write(args.output, arrays, *((source.SCALE, source.MEAN, source.STD) if scaled else ()))
    files.write_sum(args.output)
    sizes = " x ".join(map(str, source.SHAPE)) + " columns" * (len(source.SHAPE) == 1)
    owners = f", {source.CLIENTS} natural clients" if hasattr(source, "CLIENTS") else ""
    print(
        f"{args.output}: {args.dataset}, {len(arrays.train_targets)} training and "
        f"{len(arrays.test_targets)} test examples of {sizes}, {source.CLASSES} classes{owners}"
    )


if __name__ == "__main__":
    cli.main(main)

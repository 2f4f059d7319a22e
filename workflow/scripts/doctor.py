"""Checks that finished files are whole; deletes what is not, so that the next run makes it again.

Of a training run whose files differ from their digests, everything is deleted. Status 0: all files
are whole; 1: something was deleted, a line each.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from dpfl.base import cli, files, leftovers
from dpfl.base.errors import UserError
from dpfl.planning import restored
from dpfl.terminal import lock


def main() -> None:
    """Check the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=Path("results"))
    home = parser.parse_args().results
    held = lock.Lock(home.parent / lock.PATH)  # what a job is about to write looks damaged
    try:
        damaged = _deleted(home)
    finally:
        held.close()
    if not damaged:
        print(f"{home}: all finished files are whole")
    sys.exit(damaged)


def _deleted(home: Path) -> bool:
    """Delete what is not whole, a line each; tell whether anything was damaged."""
    for path in leftovers.of(home):
        files.remove(path)
        print(f"{path}: left behind by a job that is gone; deleted")
    damaged = [*_runs(home), *_single(home)]
    for path, message in damaged:
        print(message)
        files.remove(path)
        files.remove(path.with_name(f"{path.name}{files.SUM}"))
    return bool(damaged)


def _runs(home: Path) -> Iterator[tuple[Path, str]]:
    """Yield the folders of runs that are not whole, each with a line for the first such file."""
    for sums in sorted(home.glob(f"runs/*/{files.SUMS}")):
        try:
            for name in restored.expected(sums):
                files.check(sums.with_name(name))
        except (UserError, OSError) as error:
            yield sums.parent, f"{_first(error)}: not whole; deleted with all files of its run"


def _single(home: Path) -> Iterator[tuple[Path, str]]:
    """Yield the files before training that cannot be read whole, each with a line."""
    for pattern, read in READERS.items():
        for path in sorted(home.glob(pattern)):
            try:
                read(path)
            except (UserError, OSError):
                yield path, f"{path}: not whole; deleted"


def _first(error: UserError | OSError) -> str:
    """Return the file that an error is about."""
    return error.filename if isinstance(error, OSError) else str(error).split(": not whole")[0]


def _tensors(path: Path) -> None:
    with files.open_tensors(path, "numpy") as found:
        for name in found.keys():  # noqa: SIM118, it is no mapping
            found.get_tensor(name)


READERS: dict[str, Callable[[Path], Any]] = {
    "data/[!.]*.safetensors": _tensors,
    "partitions/*/assignment.npy": files.read_array,
    "calibrations/[!.]*.json": files.read_json,
    "tunings/[!.]*.json": files.read_json,
    "membership/*/[!.]*.safetensors": _tensors,
}


if __name__ == "__main__":
    cli.main(main)

"""Calibrate the noise of every client: --partition assignment.npy --settings JSON --output FILE.

`--cache` is a folder of calibrations that other jobs found.
"""

import json
from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.privacy.cache import NoiseCache
from dpfl.privacy.calibration import Settings, calibrate


def main() -> None:
    """Calibrate, write the calibration whole or not at all."""
    wanted = {"partition": Path, "settings": json.loads, "output": Path}
    args = options.read(__doc__, **wanted, cache="")
    cache = NoiseCache(Path(args.cache) if args.cache else None)
    assignment = files.read_array(args.partition)
    files.write_json(args.output, calibrate(Settings.read(args.settings), assignment, cache))
    files.write_sum(args.output)


if __name__ == "__main__":
    cli.main(main)

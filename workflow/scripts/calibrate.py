"""Calibrate the noise of every client: --partition assignment.npy --settings JSON --output FILE."""

import argparse
import json
from pathlib import Path

from dpfl.base import cli
from dpfl.base.files import read_array, write_json, write_sum
from dpfl.privacy.cache import NoiseCache
from dpfl.privacy.calibration import Settings, calibrate


def main() -> None:
    """Parse the arguments, calibrate, write the calibration whole or not at all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--partition", type=Path, required=True, help="client of each example")
    parser.add_argument("--settings", type=json.loads, required=True, help="JSON")
    parser.add_argument("--cache", type=Path, help="folder of calibrations that other jobs found")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()
    settings, assignment = Settings.read(arguments.settings), read_array(arguments.partition)
    cache = NoiseCache(arguments.cache)
    write_json(arguments.output, calibrate(settings, assignment, cache))
    write_sum(arguments.output)


if __name__ == "__main__":
    cli.main(main)

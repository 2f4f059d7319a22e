"""Calibrate the noise of every client: --partition assignment.npy --settings JSON --output FILE."""

import argparse
import json
from pathlib import Path

import numpy as np

from dpfl import cli
from dpfl.files import write_json
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
    settings, assignment = Settings.read(arguments.settings), np.load(arguments.partition)
    cache = NoiseCache(arguments.cache)
    write_json(arguments.output, calibrate(settings, assignment, cache))


if __name__ == "__main__":
    cli.main(main)

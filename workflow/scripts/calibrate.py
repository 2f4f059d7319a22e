"""Calibrate the noise of every client, for several plans.

`--calibrations` is JSON: of each its name, its partition and its settings. `--cache` is a folder of
calibrations that other jobs found.
"""

import json
from importlib import import_module
from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.privacy.cache import NoiseCache
from dpfl.privacy.calibration import Settings, calibrate


def main() -> None:
    """Write RESULTS/calibrations/{name}.json of each, from RESULTS/partitions."""
    args = options.read(__doc__, calibrations=json.loads, results=Path("results"), cache="")
    cache = NoiseCache(Path(args.cache) if args.cache else None)
    for wanted in args.calibrations:
        assigned = args.results / "partitions" / wanted["partition"] / "assignment.npy"
        output = args.results / "calibrations" / f"{wanted['name']}.json"
        settings = Settings.read(wanted["settings"])
        pricer = None if settings.is_poisson else import_module("dpfl.samplings").calibrated
        files.write_json(output, calibrate(settings, files.read_array(assigned), cache, pricer))
        files.write_sum(output)


if __name__ == "__main__":
    cli.main(main)

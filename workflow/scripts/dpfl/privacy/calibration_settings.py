"""What the noise of a run is calibrated for, from the run's settings."""

from typing import Any

from dpfl import statistics
from dpfl.draws import streams

STEPS = ("rounds", "clients_per_round", "batch_size", "local_epochs", "local_steps")


def of_run(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a run's calibration: shared by runs of the same steps and budget."""
    return {
        "epsilon": settings["epsilon"],
        "delta": settings["delta"],
        "accountant": settings["accountant"],
        "unit": settings["unit"],
        **sampling_of(settings),
        "budget": settings["budget"],
        "federation": {key: settings["federation"][key] for key in STEPS},
        "participation_key": [*streams.pairing_key(settings), "participation"],
        "releases": statistics.releases_of(settings),
    }


def sampling_of(settings: dict[str, Any]) -> dict[str, Any]:
    """Return how a run draws batches, or cohorts, what it charges, and how noise is correlated."""
    drawn = settings["federation"].get("sampling", "poisson")
    charged = settings["federation"].get("charged", drawn)
    told = {"sampling": drawn} | ({"charged": charged} if charged != drawn else {})
    noise = settings["federation"].get("factorization")
    return told | ({"factorization": noise} if noise else {})

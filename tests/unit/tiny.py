"""A tiny data set, partition and calibration on disk, and the settings of a run over them."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import torch

from dpfl import data
from dpfl.base.files import write_json
from dpfl.clients.assignment import assign
from dpfl.draws import streams
from dpfl.privacy import calibration_settings
from dpfl.privacy.calibration import Settings, calibrate
from dpfl.training import run
from dpfl.training.job import Inputs

CLIENTS, EXAMPLES = 3, 240
FIXED = {"rule": "fixed", "clip_norm": 1.0}
QUANTILE = {**FIXED, "rule": "quantile", "quantile": 0.85}
CERTIFIED = {"estimator": "fsdp-certified", "rank": 5, "basis_examples": 20, "basis_every": 2}


def settings(**changed) -> dict:
    """Resolved settings of a run; nested keys are replaced whole."""
    return {
        "dataset": "digits",
        "model": "digits-cnn",
        "partition": {"scheme": "iid", "clients": CLIENTS, "validation_fraction": 0.1},
        "mechanism": {"estimator": "dpsgd"},
        "optimizer": {"algorithm": "adam", "rate_key": "lr", "rate": 0.01, "settings": {}},
        "clipping": FIXED,
        "budget": {"strategy": "constant", "noise_multiplier": 1.0},
        "federation": federation(),
        "unit": "example",
        "epsilon": 50.0,
        "delta": 1e-5,
        "accountant": "pld",
        "seed": 0,
        "noise": "seeded",
        "device": "cpu",
        "evaluation_examples": 100,
        "audit": {"canaries": 60, "length": 1.0, "level": 0.01},
        **changed,
    }


def federation(**changed) -> dict:
    """The federation of a run: four rounds of two of three clients, two steps each."""
    return {
        "rounds": 4,
        "clients_per_round": 2,
        "batch_size": 16,
        "local_epochs": None,
        "local_steps": 2,
        "state": "persist",
        "weighting": "examples",
        **changed,
    }


FEDAVG = {
    "unit": "client",
    "mechanism": {"estimator": "dp-fedavg"},
    "federation": federation(state="reset", weighting="uniform"),
}
"""What makes a run protect whole clients."""


def write_data(folder: Path) -> Path:
    """Write separable 8x8 pictures of ten classes."""
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 10, EXAMPLES)
    inputs = rng.integers(0, 4, (EXAMPLES, 1, 8, 8))
    inputs[np.arange(EXAMPLES), 0, targets % 8, targets // 8] = 16
    inputs = inputs.astype(np.uint8)
    arrays = data.Arrays(inputs, targets, inputs[:50], targets[:50])
    path = folder / "digits.safetensors"
    data.write(path, arrays, 16.0, [0.5], [0.5])
    return path


def inputs_of(settings: dict, folder: Path, path: Path | None = None) -> Inputs:
    """Write what a run reads, a data set of our own unless there is one at `path`."""
    path = path or write_data(folder)
    assignment = assign(
        data.load_train_targets(path),
        owners=data.load_train_clients(path),
        rng=streams.rng(*streams.pairing_key(settings), "partition"),
        **settings["partition"],
    )
    np.save(folder / "assignment.npy", assignment)
    calibration = None
    if settings["epsilon"] != "inf":
        calibration = folder / "calibration.json"
        asked = json.dumps(calibration_settings.of_run(settings))
        write_json(calibration, _calibrated(asked, tuple(assignment.tolist())))
    return Inputs(path, folder / "assignment.npy", calibration, "sources")


@cache  # to price the steps takes longer than to train
def _calibrated(asked: str, assignment: tuple[int, ...]) -> dict:
    return calibrate(Settings.read(json.loads(asked)), np.array(assignment, np.int32))


def trained(folder: Path, **changed) -> run.Result:
    """Train the run of changed settings in a folder, which is made if it is not there."""
    folder.mkdir(exist_ok=True)
    asked = settings(**changed)
    return run.train(asked, inputs_of(asked, folder), folder / "run", lambda line: None)


def weights(result: run.Result) -> torch.Tensor:
    """Return the final weights of a run, and what it has released of its inputs [D]."""
    return torch.cat([t.flatten() for t in result.model.state_dict().values()])

"""A tiny data set, partition and calibration on disk, and the settings of a run over them."""

from pathlib import Path

import numpy as np
import torch

from dpfl import data
from dpfl.base.files import write_json
from dpfl.clients.assignment import assign
from dpfl.draws import streams
from dpfl.privacy.calibration import Settings, calibrate
from dpfl.training import run
from dpfl.training.job import Inputs

CLIENTS, EXAMPLES = 3, 240


def settings(**changed) -> dict:
    """Resolved settings of a run; nested keys are replaced whole."""
    return {
        "dataset": "digits",
        "model": "digits-cnn",
        "partition": {
            "scheme": "iid",
            "clients": CLIENTS,
            "validation_fraction": 0.1,
        },
        "mechanism": {"estimator": "dpsgd"},
        "optimizer": {"algorithm": "adam", "rate_key": "lr", "rate": 0.01, "settings": {}},
        "clipping": {"rule": "fixed", "clip_norm": 1.0},
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


def write_data(folder: Path) -> Path:
    """Write separable 8x8 pictures of ten classes."""
    rng = np.random.default_rng(0)
    targets = rng.integers(0, 10, EXAMPLES)
    inputs = rng.integers(0, 4, (EXAMPLES, 1, 8, 8))
    inputs[np.arange(EXAMPLES), 0, targets % 8, targets // 8] = 16
    arrays = data.Arrays(
        inputs.astype(np.uint8), targets, inputs[:50].astype(np.uint8), targets[:50]
    )
    path = folder / "digits.safetensors"
    data.write(path, arrays, 16.0, [0.5], [0.5])
    return path


def inputs_of(settings: dict, folder: Path, path: Path | None = None) -> Inputs:
    """Write what a run reads, a data set of our own unless there is one at `path`."""
    path = path or write_data(folder)
    key = streams.pairing_key(settings)
    assignment = assign(
        data.load_train_targets(path),
        owners=data.load_train_clients(path),
        rng=streams.rng(*key, "partition"),
        **settings["partition"],
    )
    np.save(folder / "assignment.npy", assignment)
    if settings["epsilon"] == "inf":
        return Inputs(path, folder / "assignment.npy", None, "sources")
    steps = ("rounds", "clients_per_round", "batch_size", "local_epochs", "local_steps")
    asked = {
        "epsilon": settings["epsilon"],
        "delta": settings["delta"],
        "accountant": settings["accountant"],
        "unit": settings["unit"],
        "budget": settings["budget"],
        "federation": {k: settings["federation"][k] for k in steps},
        "participation_key": [*key, "participation"],
    }
    write_json(folder / "calibration.json", calibrate(Settings.read(asked), assignment))
    return Inputs(path, folder / "assignment.npy", folder / "calibration.json", "sources")


def trained(folder: Path, **changed) -> run.Result:
    """Train the run of changed settings in a folder, which is made if it is not there."""
    folder.mkdir(exist_ok=True)
    asked = settings(**changed)
    return run.train(asked, inputs_of(asked, folder), folder / "run", lambda line: None)


def weights(result: run.Result) -> torch.Tensor:
    """Return the final weights of a run [D]."""
    return torch.cat([p.detach().flatten() for p in result.model.parameters()])

"""What a run trains with, of its settings: examples, sources of secrets, model, optimizer."""

import os
from collections.abc import Callable

import numpy as np
import torch

from dpfl import data, models, plugins, statistics
from dpfl.base.errors import UserError
from dpfl.base.files import read_array
from dpfl.clients.assignment import clients_of, public_of, validation_of
from dpfl.contracts.affine import Affine
from dpfl.draws import streams
from dpfl.draws.noise import SOURCES
from dpfl.gradients.example_wise import require_example_wise
from dpfl.gradients.flat import FlatModel
from dpfl.models.parts.standardised import Standardised
from dpfl.training.inputs import Inputs
from dpfl.training.statistics import Releases, measured
from dpfl.training.steps import Ledger, Sources
from dpfl.training.trainers import Examples, Parts

Records = dict[int | str, dict]


def examples(settings: dict, inputs: Inputs) -> Examples:
    """Read the data set and who holds it; UserError if this machine lacks the device."""
    dataset = data.load(inputs.data).to(_available(settings["device"]))
    assignment = read_array(inputs.assignment)
    return Examples(
        dataset,
        clients_of(assignment),
        torch.from_numpy(public_of(assignment)),
        torch.from_numpy(validation_of(assignment)),
        _spread(np.flatnonzero(assignment >= 0), settings["evaluation_examples"]),
    )


def parts(settings: dict, given: Examples, ledger: Ledger, records: Records, secret: str) -> Parts:
    """Build what a trainer is built from; statistics, if the method asks for some, are released.

    UserError for a model that does not fit the data set, or mixes the examples of a batch.
    """
    sources = _sources(settings, secret)
    standardised = _standardised(settings, given, ledger, records, sources)
    flat = FlatModel(_model(settings, given.dataset, standardised))
    optimizer = _optimizer(settings["optimizer"], flat)
    return Parts(settings, given, flat, optimizer, ledger, records, sources)


def _sources(settings: dict, secret: str) -> Sources:
    """Return where secrets come from: batches pair over the runs of a seed, noise never does.

    A secure run has a secret of its own, which lasts as long as its checkpoint: a round that
    was killed is repeated with the same draws, so that it releases nothing twice.
    """
    noise = settings["noise"]
    key = (secret,) if noise == "secure" else streams.pairing_key(settings)
    own = streams.noise_key(settings)
    return Sources(SOURCES[noise], (*key, "batch"), (*key, "noise", own))


def _standardised(
    settings: dict, given: Examples, ledger: Ledger, records: Records, sources: Sources
) -> Affine | None:
    """Release the statistics of all clients that take part, if the method asks for some."""
    if "statistics" not in settings:
        return None
    planned = dict(statistics.releases_of(settings)) if records else {}
    members = {
        number: torch.from_numpy(held)
        for number, held in enumerate(given.members)
        if not records or records[number]["rounds"]
    }
    released = Releases(given.dataset.train_inputs, members, planned, ledger, sources)
    return measured(settings["statistics"], released)


def _model(settings: dict, dataset: data.Dataset, standardised: Affine | None) -> torch.nn.Module:
    generator = streams.generator(*streams.pairing_key(settings), "weights")
    example = dataset.test_inputs[:1]
    shape, classes = tuple(example.shape[1:]), dataset.classes
    model = models.build(settings["model"], generator, shape, classes)
    model = Standardised(standardised, model) if standardised else model
    model = model.to(settings["device"])
    name, source = settings["model"], settings["dataset"]
    try:
        found = tuple(model(example).shape)
    except RuntimeError as error:
        names = f"{name} does not take inputs of {source}"
        raise UserError(f"{names}, shape {shape}: {error}") from error
    if found != (1, classes):
        raise UserError(f"{name} gives outputs {found[1:]} for the {classes} classes of {source}")
    require_example_wise(model, dataset.test_inputs[:4], name)
    return model


def _optimizer(settings: dict, flat: FlatModel) -> Callable[[], torch.optim.Optimizer]:
    """Return what builds a new optimizer of the flat weights."""
    build = plugins.load("optimizers", settings["algorithm"]).build
    hyperparameters = {**settings["settings"], settings["rate_key"]: settings["rate"]}
    return lambda: build([flat.flat], **hyperparameters)


def _available(device: str) -> str:
    """Return the device, a GPU in full precision and with the same bits twice; UserError if none.

    Clipping compares norms with sums: both in full float32.
    """
    if device == "cuda":
        if not torch.cuda.is_available():
            raise UserError("device = cuda, but torch finds no GPU here; expected cpu")
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # asked for by the next line
        torch.use_deterministic_algorithms(True)
    return device


def _spread(members: np.ndarray, wanted: int) -> torch.Tensor:
    """Return at most this many of the members, evenly spread."""
    picked = np.linspace(0, len(members) - 1, min(wanted, len(members))).astype(int)
    return torch.from_numpy(members[picked])

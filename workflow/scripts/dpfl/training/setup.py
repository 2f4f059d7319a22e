"""What a run trains with, of its settings: examples, accounts, secrets, model, optimizer."""

import os
from collections.abc import Callable
from functools import partial

import numpy as np
import torch

from dpfl import data, models, plugins, statistics
from dpfl.base.errors import UserError
from dpfl.base.files import read_array, read_json
from dpfl.clients.assignment import clients_of, public_of, training_of, validation_of
from dpfl.contracts.affine import Affine
from dpfl.draws import streams
from dpfl.draws.noise import SOURCES
from dpfl.gradients import require_true_gradients
from dpfl.gradients.flat import FlatModel
from dpfl.models.parts.standardised import Standardised
from dpfl.privacy import calibration_settings
from dpfl.privacy.conditions.example_wise import require_example_wise
from dpfl.privacy.filter import Filter
from dpfl.privacy.ledger import Ledger
from dpfl.statistics.parts.releases import Releases, measured
from dpfl.training import steps
from dpfl.training.federated import Unlimited
from dpfl.training.job import Inputs
from dpfl.training.steps import Sources
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
        _spread(training_of(assignment), settings["evaluation_examples"]),
    )


def accounts(settings: dict, inputs: Inputs) -> tuple[steps.Ledger, Records]:
    """Return the ledger, and the calibration of everyone who adds noise (none at "inf").

    UserError for a finite epsilon without a calibration. Also where its budget, unit, batch, number
    of steps or clients are others.
    """
    if inputs.calibration is None:
        if settings["epsilon"] != "inf":
            raise UserError(f"epsilon = {settings['epsilon']}, but there is no calibration")
        return Unlimited(), {}
    content = read_json(inputs.calibration)
    _require_calibrated_for(settings, content, inputs)
    filtered = any("filter" in record for record in content["clients"])
    ledger = Filter(content) if filtered else Ledger(content)
    return ledger, {record["client"]: record for record in content["clients"]}


def _require_calibrated_for(settings: dict, content: dict, inputs: Inputs) -> None:
    """Raise UserError, naming the first difference, for a calibration of anything else."""
    wanted, found = calibration_settings.of_run(settings), content.get("settings", {})
    differ = (key for key in {**found, **wanted} if wanted.get(key) != found.get(key))
    if (key := next(differ, None)) is not None:
        raise UserError(f"{key} = {wanted.get(key)}, but the calibration is for {found.get(key)}")
    held = list(map(len, clients_of(read_array(inputs.assignment))))
    planned = [record["examples"] for record in content["clients"]]
    if None not in planned and planned != held:
        raise UserError(f"clients hold {held} examples, but the calibration is for {planned}")


def parts(
    settings: dict, given: Examples, ledger: steps.Ledger, records: Records, secret: str
) -> Parts:
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

    A secure run has a secret of its own, which lasts as long as its checkpoint. A round that was
    killed is repeated with the same draws, so it releases nothing twice.
    """
    noise = settings["noise"]
    key = (secret,) if noise == "secure" else streams.pairing_key(settings)
    own = streams.noise_key(settings)
    return Sources(SOURCES[noise], (*key, "batch"), (*key, "noise", own))


def _standardised(
    settings: dict, given: Examples, ledger: steps.Ledger, records: Records, sources: Sources
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
    draws = partial(sources.draws, *sources.noise_key)
    inputs = given.dataset.train_inputs
    released = Releases(inputs, members, planned, ledger.charge_release, draws)
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
    except (IndexError, RuntimeError) as error:  # such as a token that the network does not know
        names = f"{name} does not take inputs of {source}"
        raise UserError(f"{names}, shape {shape}: {error}") from error
    if found != (1, classes):
        raise UserError(f"{name} gives outputs {found[1:]} for the {classes} classes of {source}")
    require_example_wise(model, dataset.test_inputs[:4], name)
    if settings["unit"] == "example":
        tried = (dataset.test_inputs[:8], dataset.test_targets[:8])
        require_true_gradients(model, steps.cross_entropy, *tried)
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
    steps.require_full_precision(torch.device(device))
    return device


def _spread(members: np.ndarray, wanted: int) -> torch.Tensor:
    """Return at most this many of the members, evenly spread."""
    picked = np.linspace(0, len(members) - 1, min(wanted, len(members))).astype(int)
    return torch.from_numpy(members[picked])

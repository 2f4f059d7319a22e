"""What the server and the clients of a run over a wire build alike, from the files of the run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpfl import federations, plugins
from dpfl.base.errors import UserError
from dpfl.base.files import read_json
from dpfl.federations.parts.states import STATES
from dpfl.training import setup, trainers
from dpfl.training.federated import Trainer
from dpfl.training.job import Inputs
from dpfl.training.trainers import Parts

Settings = dict[str, Any]


def read(path: Path | str) -> tuple[Settings, Inputs]:
    """Read the JSON file of a run: its settings, and the paths of data, assignment, calibration.

    A run without privacy has no calibration. UserError if another one is missing. Also for a
    private run with `noise: seeded`, unless `trial` is true: the server could draw such noise too.
    """
    found = read_json(path)
    for key in ("settings", "data", "assignment"):
        if key not in found:
            raise UserError(f"{path}: no {key!r}, expected settings, data and assignment")
    calibration = Path(found["calibration"]) if "calibration" in found else None
    if calibration and found["settings"]["noise"] == "seeded" and not found.get("trial"):
        raise UserError(f"{path}: noise is seeded, which the server can draw too; expected secure")
    inputs = Inputs(Path(found["data"]), Path(found["assignment"]), calibration, "")
    return found["settings"], inputs


def build(settings: Settings, inputs: Inputs, secret: str) -> tuple[Parts, Trainer]:
    """Return what one side is built from, and a trainer that does its part of the rounds.

    UserError as in the simulation, and for what is not for a wire. Nobody looks at canaries here,
    so there are none.
    """
    for misfit in _misfits(settings):
        raise UserError(f"{misfit} over a wire")
    settings = settings | {"audit": settings["audit"] | {"canaries": 0}}
    given = setup.examples(settings, inputs)
    ledger, records = setup.accounts(settings, inputs)
    parts = setup.parts(settings, given, ledger, records, secret)
    trainer = trainers.build(parts)
    if not trainer.rule.splits:
        rule = federations.rule_of(settings)
        raise UserError(f"federation uses {rule}, whose server and clients share a state")
    return parts, trainer


def _misfits(settings: Settings) -> Iterator[str]:
    if (unit := settings["unit"]) != "example":
        yield f"unit is {unit}, expected example"
    if STATES[state := settings["federation"]["state"]].shared:
        apart = " or ".join(name for name, kind in STATES.items() if not kind.shared)
        yield f"federation has state {state}, expected {apart}"
    if "statistics" in settings:
        yield "statistics are of the examples of all clients, expected none"
    estimator = settings["mechanism"]["estimator"]
    if plugins.constant("mechanisms", estimator, "SHARED_NOISE"):
        yield f"mechanism is {estimator}, expected one whose clients draw noise of their own"

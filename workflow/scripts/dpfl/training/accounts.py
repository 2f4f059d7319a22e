"""Who pays for the steps of a run: its ledger, and the calibration of everyone who adds noise."""

from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.files import read_array, read_json
from dpfl.clients.assignment import clients_of
from dpfl.privacy import calibration_settings
from dpfl.privacy.filter import Filter
from dpfl.privacy.ledger import Ledger
from dpfl.training import steps
from dpfl.training.federated import Unlimited
from dpfl.training.inputs import Inputs


def accounts(settings: dict, inputs: Inputs) -> tuple[steps.Ledger, dict[int | str, dict]]:
    """Return the ledger, and the calibration of everyone who adds noise (none at "inf").

    UserError for a finite epsilon without a calibration, or with one of another budget, unit,
    batch or number of steps, or of other clients.
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


def _require_calibrated_for(settings: dict, content: dict[str, Any], inputs: Inputs) -> None:
    """Raise UserError, naming the first difference, for a calibration of anything else."""
    wanted, found = calibration_settings.of_run(settings), content.get("settings", {})
    differ = (key for key in wanted if wanted[key] != found.get(key))
    if (key := next(differ, None)) is not None:
        raise UserError(f"{key} = {wanted[key]}, but the calibration is for {found.get(key)}")
    held = list(map(len, clients_of(read_array(inputs.assignment))))
    planned = [record["examples"] for record in content["clients"]]
    if None not in planned and planned != held:
        raise UserError(f"clients hold {held} examples, but the calibration is for {planned}")

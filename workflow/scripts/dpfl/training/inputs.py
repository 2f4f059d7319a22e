"""The files a run reads, and what they amount to: its accounts and its fingerprint."""

import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dpfl.assignment import clients_of
from dpfl.errors import UserError
from dpfl.files import read_array, read_json
from dpfl.planning import calibration_settings
from dpfl.privacy.filter import Filter
from dpfl.privacy.ledger import Ledger
from dpfl.training.federated import Unlimited


@dataclass(frozen=True)
class Inputs:
    """Paths of the arrays, of the client of every example, and of the noise.

    There is no calibration for a non-private run.
    """

    data: Path
    assignment: Path
    calibration: Path | None

    def accounts(self, settings: dict) -> tuple[Any, dict[int | str, dict]]:
        """Return the ledger, and the calibration of everyone who adds noise (none at "inf").

        UserError for a finite epsilon without a calibration, or with one of another budget, unit,
        batch or number of steps, or of other clients.
        """
        if self.calibration is None:
            if settings["epsilon"] != "inf":
                raise UserError(f"epsilon = {settings['epsilon']}, but there is no calibration")
            return Unlimited(), {}
        content = read_json(self.calibration)
        self._require_calibrated_for(settings, content)
        filtered = any("filter" in record for record in content["clients"])
        ledger = Filter(content) if filtered else Ledger(content)
        return ledger, {record["client"]: record for record in content["clients"]}

    def _require_calibrated_for(self, settings: dict, content: dict[str, Any]) -> None:
        """Raise UserError, naming the first difference, for a calibration of anything else."""
        wanted, found = calibration_settings.of_run(settings), content.get("settings", {})
        differ = (key for key in wanted if wanted[key] != found.get(key))
        if (key := next(differ, None)) is not None:
            raise UserError(f"{key} = {wanted[key]}, but the calibration is for {found.get(key)}")
        held = list(map(len, clients_of(read_array(self.assignment))))
        planned = [record["examples"] for record in content["clients"]]
        if None not in planned and planned != held:
            raise UserError(f"clients hold {held} examples, but the calibration is for {planned}")

    def fingerprint(self, settings: dict) -> str:
        """Digest all that a run's bits depend on: settings, input files, our source, torch."""
        digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
        for path in (self.data, self.assignment, self.calibration, *_sources()):
            if path is not None:
                digest.update(path.read_bytes())
        digest.update(torch.__version__.encode())
        return digest.hexdigest()


def _sources() -> list[Path]:
    """Return the files of the modules of ours that are loaded."""
    ours = (m for name, m in sys.modules.items() if name.split(".")[0] == "dpfl")
    return sorted(Path(m.__file__) for m in ours if getattr(m, "__file__", None))

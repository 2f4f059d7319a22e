"""Checkpoints of a run: one each round, from which a killed run continues to the same bits.

A checkpoint is a manifest that names its files: the run's own (weights, history, ledger) and one
for every optimizer state. Each round rewrites only what it changed, under a new name, and renames
the manifest last, so that a kill at any moment leaves the round before whole.
"""

import json
import shutil
from pathlib import Path
from typing import Any

import torch

from dpfl.files import atomic, write_json

RUN = "run"


class Checkpoints:
    """The checkpoint folder of one run.

    `fingerprint` stands for everything the run depends on (settings, inputs, source files); a
    checkpoint with another fingerprint is discarded rather than continued.
    """

    def __init__(self, folder: Path, fingerprint: str):
        self._folder = folder
        self._manifest = folder / "manifest.json"
        self._fingerprint = fingerprint
        self._files: dict[str, str] = {}

    def load(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return (run, optimizer states by name) of the last whole round, or None."""
        try:
            manifest = json.loads(self._manifest.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            manifest = {}
        if manifest.get("fingerprint") != self._fingerprint:
            self.discard()
            return None
        self._files = manifest["files"]
        self._prune()
        contents = {name: _read(self._folder / file) for name, file in self._files.items()}
        return contents.pop(RUN), contents

    def save(self, round_number: int, run: dict[str, Any], changed: dict[str, Any]) -> None:
        """Write a round: the run's own part and the optimizer states that the round changed.

        The folder is the user's alone: a secure run's secret lies in it.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name, content in {**changed, RUN: run}.items():
            file = f"{name}.{round_number}.pt"
            with atomic(self._folder / file) as temporary:
                torch.save(content, temporary)
            self._files[name] = file
        write_json(
            self._manifest,
            {"fingerprint": self._fingerprint, "round": round_number, "files": self._files},
        )
        self._prune()

    def discard(self) -> None:
        """Remove the checkpoint of a run that is finished, or that is not this run's."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _prune(self) -> None:
        """Remove the files of older rounds, and those that a kill left half-written."""
        keep = {*self._files.values(), self._manifest.name}
        for path in self._folder.iterdir():
            if path.name not in keep:
                path.unlink()


def _read(path: Path) -> Any:
    return torch.load(path, weights_only=True)

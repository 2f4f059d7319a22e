"""Checkpoints of a run: one each round, from which a killed run continues to the same bits.

A checkpoint is a manifest that names its files with their digests. They are the run's own (weights,
history, ledger) and one for every optimizer state. Each round rewrites only what it changed, under
a new name, and replaces the manifest last. So a kill at any moment leaves the round before whole.
The manifest of the round before and its files are kept. If the last round is damaged, the run
continues after the one before.
"""

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from dpfl.base.errors import UserError
from dpfl.base.files import atomic, remove

RUN = "run"
States = tuple[dict[str, Any], dict[str, Any]]


class Checkpoints:
    """The checkpoint folder of one run.

    `fingerprint` stands for everything the run depends on (settings, inputs, source files). A
    checkpoint with another fingerprint is discarded rather than continued.
    """

    def __init__(self, folder: Path, fingerprint: str):
        self._folder = folder
        self._manifest, self._previous = folder / "manifest.json", folder / "previous.json"
        self._fingerprint = fingerprint
        self._files: dict[str, dict[str, str]] = {}
        self._last: bytes | None = None

    def load(self, report: Callable[[str], None]) -> States | None:
        """Return (run, optimizer states by name) of the last whole round, or None.

        `report` gets a line for a file that is not whole.
        """
        damaged = None
        for manifest in (self._manifest, self._previous):
            try:
                found = self._read(manifest)
            except UserError as error:
                damaged = damaged or error
                continue
            if found is not None:
                if damaged:
                    report(f"{damaged}: not whole; the run goes back to the round before")
                self._keep({manifest.name, *self._names()})
                return found
        if damaged:
            report(f"{damaged}: not whole; the run starts again")
        self.discard()
        return None

    def save(
        self, round_number: int, run: dict[str, Any], changed: dict[str, Any], shown: dict[str, Any]
    ) -> None:
        """Write a round: the run's own part and the optimizer states that the round changed.

        `shown` stands in the manifest for whoever watches. The folder is the user's alone: a secure
        run's secret lies in it.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        kept = self._names()
        for name, content in {**changed, RUN: run}.items():
            file, whole = f"{name}.{round_number}.pt", packed(content)
            _write(self._folder / file, whole)
            self._files[name] = {"file": file, "sha256": hashlib.sha256(whole).hexdigest()}
        if self._last is not None:
            self._previous.write_bytes(self._last)
        about = {"fingerprint": self._fingerprint, "round": round_number, **shown}
        self._last = json.dumps({**about, "files": self._files}).encode()
        _write(self._manifest, self._last)
        self._keep({self._manifest.name, self._previous.name, *kept, *self._names()})

    def discard(self) -> None:
        """Remove the checkpoint of a run that is finished, or that is not this run's."""
        self._files, self._last = {}, None
        remove(self._folder)

    def _read(self, manifest: Path) -> States | None:
        """Read the round of a manifest; None if there is none of this run.

        UserError with the path of a file that is not whole.
        """
        try:
            written = manifest.read_bytes()
            known = json.loads(written)
            if known["fingerprint"] != self._fingerprint:
                return None
            files = {name: (f["file"], f["sha256"]) for name, f in known["files"].items()}
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise UserError(str(manifest)) from error
        contents = {name: self._content(*file) for name, file in files.items()}
        self._files, self._last = known["files"], written
        return contents.pop(RUN), contents

    def _content(self, file: str, digest: str) -> Any:
        """Read one file; UserError with its path if it is missing or has another digest."""
        path = self._folder / file
        try:
            whole = path.read_bytes()
        except OSError as error:
            raise UserError(str(path)) from error
        if hashlib.sha256(whole).hexdigest() != digest:
            raise UserError(str(path))
        return unpacked(whole)

    def _names(self) -> set[str]:
        return {entry["file"] for entry in self._files.values()}

    def _keep(self, names: set[str]) -> None:
        """Remove all other files: of older rounds, half-written, damaged or not ours."""
        for path in self._folder.iterdir():
            if path.name not in names:
                remove(path)


def _write(path: Path, content: bytes | memoryview) -> None:
    """Write a file whole or not at all; what a power cut tears is known by its digest."""
    with atomic(path, flush=False) as temporary:
        temporary.write_bytes(content)


def packed(content: Any) -> memoryview:
    """Return states (tensors, numbers, texts) as the bytes of a file."""
    file = io.BytesIO()
    torch.save(content, file)
    return file.getbuffer()


def unpacked(whole: bytes) -> Any:
    """Return the states that `packed` made bytes of; no code in them runs."""
    return torch.load(io.BytesIO(whole), weights_only=True)

"""Reads the file that Snakemake's events are appended to (see snakemake_logger_plugin_dpfl)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Events:
    """The events of a file that grows, each once."""

    def __init__(self, path: Path) -> None:
        """Begin at the start of a file, which may not exist yet."""
        self._path, self._read = path, 0

    def new(self) -> Iterator[dict[str, Any]]:
        """Yield what was written since the last call; a line that is not whole waits."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                written = file.read()
        except FileNotFoundError:
            return
        whole = written[: written.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            yield json.loads(line)

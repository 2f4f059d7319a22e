"""Writes Snakemake's events as lines of JSON, for those who follow it from outside.

    snakemake --logger dpfl --logger-dpfl-events FILE

Snakemake finds the plug-in by the name of this package, on the path of its interpreter.
"""

import json
from dataclasses import dataclass, field
from logging import LogRecord
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase

KEPT = ("jobid", "job_id", "rule_name", "wildcards", "log", "stats", "job_error_info")
"""What is kept of an event; Snakemake's own log holds all of it."""


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Where to write."""

    events: str = field(default="", metadata={"help": "file to append events to", "required": True})


class LogHandler(LogHandlerBase):
    """One line for every event, written at once."""

    writes_to_stream = False
    writes_to_file = False  # of Snakemake's text: its default handlers still write that
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Open the file, which `close` closes."""
        self._file = Path(self.settings.events).open("a", encoding="utf-8")  # noqa: SIM115

    def emit(self, record: LogRecord) -> None:
        """Write one event; messages that are none are left to the log."""
        event = getattr(record, "event", None)
        if event is not None:
            kept = {key: record.__dict__[key] for key in KEPT if key in record.__dict__}
            line = {"event": str(event), "time": record.created, **kept}
            print(json.dumps(line, default=str), file=self._file, flush=True)

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        super().close()

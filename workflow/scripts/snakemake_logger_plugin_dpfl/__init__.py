"""Tells Snakemake's progress: a line for every finished run, for stages and for failures.

    snakemake --logger dpfl [--logger-dpfl-terminal DESCRIPTOR]

Snakemake finds the plug-in by the name of this package, on the path of its interpreter: it imports
it in every call. So the library is imported only where the plug-in is used.
"""

import os
import signal
from dataclasses import dataclass, field
from logging import LogRecord

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.settings import LogHandlerSettingsBase


@dataclass
class LogHandlerSettings(LogHandlerSettingsBase):
    """Where to write."""

    terminal: int = field(default=1, metadata={"help": "descriptor to write to", "type": int})


class LogHandler(LogHandlerBase):
    """Hands records on until the user interrupts: jobs that were ended did not fail."""

    writes_to_stream = False  # of Snakemake's text: its default handlers still write that
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def __post_init__(self) -> None:
        """Begin; from the main thread, as signals need it."""
        from dpfl.terminal.progress import Progress

        self._progress: Progress | None = Progress(self._tell)
        signal.signal(signal.SIGINT, self._interrupted)

    def emit(self, record: LogRecord) -> None:
        """Tell what is new; a mistake of ours goes to Snakemake's log, and stops nothing."""
        try:
            if self._progress:
                self._progress.hear(record)
        except Exception:
            self.handleError(record)

    def _tell(self, line: str) -> None:
        """Write a line; where nobody can be told any more, nothing goes on unseen."""
        try:
            os.write(self.settings.terminal, f"{line}\n".encode())
        except OSError:
            os.killpg(0, signal.SIGINT)

    def _interrupted(self, *signal_and_frame: object) -> None:
        self._progress = None
        signal.default_int_handler(*signal_and_frame)

"""What the computation of features tells while it lasts, and the one thread it uses."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

REPORT_EVERY = 5000


class Progress:
    """Tells a line to stderr whenever another 5,000 pictures are done."""

    def __init__(self, what: str, total: int, part: str):
        self._what, self._total, self._part = what, total, part
        self._done, self._started = 0, time.monotonic()

    def add(self, pictures: int) -> None:
        """Take note of some more pictures."""
        before, self._done = self._done, self._done + pictures
        if self._done // REPORT_EVERY > before // REPORT_EVERY:
            seconds = time.monotonic() - self._started
            print(
                f"{self._what}: {self._done} of {self._total} {self._part} pictures, "
                f"{seconds:.0f} s",
                file=sys.stderr,
                flush=True,
            )


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread meanwhile: a job has one core."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

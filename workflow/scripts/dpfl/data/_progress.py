"""Features of all pictures of a data set, on one thread; what it tells while it lasts."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from dpfl.data import Arrays

Transform = Callable[[np.ndarray], Tensor]
"""Maps uint8 pictures [n, C, H, W] to their features [n, ...], each picture by itself."""

REPORT_EVERY = 5000


def of_all(what: str, arrays: Arrays, transform: Transform, chunk: int) -> Arrays:
    """Return float16 features in the place of pictures, all else as it is, `chunk` at a time.

    With a line to stderr whenever another 5,000 pictures are done.
    """
    inputs = {
        f"{part}_inputs": _of_part(what, part, getattr(arrays, f"{part}_inputs"), transform, chunk)
        for part in ("train", "test")
    }
    return replace(arrays, **inputs)


def _of_part(
    what: str, part: str, pictures: np.ndarray, transform: Transform, chunk: int
) -> np.ndarray:
    total, started = len(pictures), time.monotonic()
    with torch.inference_mode():
        found = np.empty((total, *transform(pictures[:1]).shape[1:]), np.float16)
        for first in range(0, total, chunk):
            done = min(first + chunk, total)
            found[first:done] = transform(pictures[first:done]).numpy()
            if done // REPORT_EVERY > first // REPORT_EVERY:
                seconds = time.monotonic() - started
                told = f"{what}: {done} of {total} {part} pictures, {seconds:.0f} s"
                print(told, file=sys.stderr, flush=True)
    return found


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread meanwhile: a job has one core."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

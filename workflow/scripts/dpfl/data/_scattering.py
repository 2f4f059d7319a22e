"""Scattering features: what two layers of fixed wavelets make of each picture alone.

Nothing is learned; pictures are first normalised by the constants of their data set, which count
as public here as everywhere. So the features cost no privacy budget (Bruna and Mallat 2013, arXiv
1203.1513, computed by Kymatio; as inputs of private training: Tramer and Boneh 2021, arXiv
2011.11660).
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from dpfl.data import Arrays

OCTAVES = 2
ANGLES = 8
# A picture, or one colour of it, becomes a mean, L first-order averages for each of the J octaves
# and L^2 second-order ones for each pair of them.
CHANNELS = 1 + OCTAVES * ANGLES + OCTAVES * (OCTAVES - 1) // 2 * ANGLES**2
PLANES_PER_CHUNK = 300
REPORT_EVERY = 5000


def features(arrays: "Arrays", base: ModuleType) -> "Arrays":
    """Return float16 features [N, 81 C, H / 4, W / 4] of pictures [N, C, H, W], all else as it is.

    `base` is the data set of the pictures, which are normalised by its SCALE, MEAN and STD as for
    a network; the 81 channels of a colour are next to one another. Computed on one thread, with a
    line to stderr every 5,000 pictures.
    """
    inputs = {
        f"{part}_inputs": _transformed(part, getattr(arrays, f"{part}_inputs"), base)
        for part in ("train", "test")
    }
    return replace(arrays, **inputs)


def _transformed(part: str, pictures: "np.ndarray", base: ModuleType) -> "np.ndarray":
    import numpy as np
    import torch

    # By its full path: kymatio.torch also imports the 3-D transform, which scipy 1.17 broke.
    from kymatio.scattering2d.frontend.torch_frontend import ScatteringTorch2D

    total, colours, *size = pictures.shape
    transform = ScatteringTorch2D(OCTAVES, tuple(size), ANGLES)
    found = np.empty((total, CHANNELS * colours, *(n // 2**OCTAVES for n in size)), np.float16)
    mean, std = (torch.tensor(value).view(-1, 1, 1) for value in (base.MEAN, base.STD))
    chunk, started = PLANES_PER_CHUNK // colours, time.monotonic()
    with torch.inference_mode(), _one_thread(torch):
        for first in range(0, total, chunk):
            planes = torch.tensor(pictures[first : first + chunk], dtype=torch.float32)
            planes.div_(base.SCALE).sub_(mean).div_(std)
            found[first : first + chunk] = transform(planes).flatten(1, 2).numpy()
            done = first + len(planes)
            if done // REPORT_EVERY > first // REPORT_EVERY:
                seconds = time.monotonic() - started
                print(
                    f"scattering: {done} of {total} {part} pictures, {seconds:.0f} s",
                    file=sys.stderr,
                    flush=True,
                )
    return found


@contextmanager
def _one_thread(torch) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)

"""Orthonormal directions H [k, D] that cost no privacy: nothing private enters them.

They are the best k directions of other examples' gradients at the current weights. The weights are
public, as everything that was released. In GEP (Yu et al. 2021, arXiv 2102.12677) the other
examples are public.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from dpfl.base.errors import UserError
from dpfl.decomposition.factors import gram
from dpfl.gradients import PerExampleGradients
from dpfl.gradients.step import Step


def noise_images(step: Step, rank: int, examples: int) -> Tensor:
    """Return the best directions of the gradients of images of pure noise with random labels.

    UserError for inputs that are whole numbers, such as tokens: which there are is not public.
    """
    if not step.inputs.is_floating_point():
        raise UserError(f"basis: noise-images need real inputs, found {step.inputs.dtype}")
    rng = step.public_rng()
    images = rng.standard_normal((examples, *step.inputs.shape[1:]), np.float32)
    inputs = torch.from_numpy(images).to(step.inputs)
    with torch.no_grad():
        classes = step.model(inputs[:1]).shape[1]
    targets = torch.from_numpy(rng.integers(classes, size=examples)).to(step.targets)
    return _best(step.gradients_of(inputs, targets)[0], rank)


def public(step: Step, rank: int, examples: int) -> Tensor:
    """Return the best directions of the gradients of the public examples, all of them."""
    return _best(step.public_gradients()[0], rank)


def random(step: Step, rank: int, examples: int) -> Tensor:
    """Return directions that are drawn at random: not all D, or nothing would be left beside them.

    Gradients cannot fill the space: those of the last layer's biases add up to 0.
    """
    rows = min(rank, step.size - 1)
    drawn = step.public_rng().standard_normal((rows, step.size), np.float32)
    return _orthonormal(torch.from_numpy(drawn).to(next(step.model.parameters()).detach()))


def _best(gradients: PerExampleGradients, rank: int) -> Tensor:
    return _orthonormal(gradients.combinations(gram(gradients.gram(), rank).mix))


def _orthonormal(rows: Tensor) -> Tensor:
    """Return an orthonormal basis of the rows' span.

    In float64: clipping relies on H H^T = I, which float32 misses by up to 1e-4 of long rows.
    """
    return torch.linalg.qr(rows.t().double()).Q.t().to(rows.dtype).contiguous()


SOURCES: dict[str, Callable[..., Tensor]] = {
    "noise-images": noise_images,
    "public": public,
    "random": random,
}

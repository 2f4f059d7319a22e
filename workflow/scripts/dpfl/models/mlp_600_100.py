"""Two hidden layers without biases on inputs of any shape: 600 D + 60,000 + 100 C parameters.

784-600-100-10 with ReLU on MNIST, 531,400 weights in 3 tensors, as in the published code of Geyer
et al. 2017 (arXiv 1712.07557): mnist_inference.py, line 234, at commit 915c2fa. The first weights
are uniform here, with a third of the variance.
"""

import math

from torch import nn

from dpfl.models._rows import Rows

SECONDS = {"inputs": 1.7e-7}
PARAMETERS = {"constant": 61_000, "inputs": 600}  # of ten classes

_WIDTHS = (600, 100)


def build(shape: tuple[int, ...], classes: int) -> nn.Sequential:
    """Return the network, inputs [L, *shape] to logits [L, classes]."""
    wide, narrow = _WIDTHS
    return nn.Sequential(
        Rows(),
        nn.Linear(math.prod(shape), wide, bias=False),
        nn.ReLU(),
        nn.Linear(wide, narrow, bias=False),
        nn.ReLU(),
        nn.Linear(narrow, classes, bias=False),
    )

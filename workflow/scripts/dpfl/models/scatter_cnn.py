"""A small CNN on scattering features (Tramer and Boneh 2021, arXiv 2011.11660, for CIFAR-10).

187,210 parameters for CIFAR-10, 89,418 for MNIST.
"""

from torch import nn

from dpfl.base.errors import UserError
from dpfl.models.parts.feature_norm import FeatureNorm

SECONDS = {"inputs": 2.7e-8}
PARAMETERS = {"constant": 37_002, "channels": 576, "pixels": 160}
INPUTS = ((None, None, None),)

_WIDTH = 64


def build(shape: tuple[int, ...], classes: int = 10) -> nn.Sequential:
    """Return the network, features [L, *shape], at least 2 x 2, to logits [L, classes].

    UserError for features of another rank.
    """
    if len(shape) != 3:
        raise UserError(f"scatter-cnn takes features C x H x W, found shape {shape}")
    channels, height, width = shape
    return nn.Sequential(
        FeatureNorm(channels),
        nn.Conv2d(channels, _WIDTH, 3, padding=1),
        nn.Tanh(),
        nn.MaxPool2d(2),
        nn.Conv2d(_WIDTH, _WIDTH, 3, padding=1),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(_WIDTH * (height // 2) * (width // 2), classes),
    )

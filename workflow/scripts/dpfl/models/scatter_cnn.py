"""A small CNN on scattering features (Tramer and Boneh 2021, arXiv 2011.11660, for CIFAR-10).

187,210 parameters for CIFAR-10, 89,418 for MNIST.
"""

from torch import nn

from dpfl.models._scattering import FeatureNorm

WIDTH = 64


def build(shape: tuple[int, int, int]) -> nn.Sequential:
    """Return the network, features [L, *shape], at least 2 x 2, to logits [L, 10]."""
    channels, height, width = shape
    return nn.Sequential(
        FeatureNorm(channels),
        nn.Conv2d(channels, WIDTH, 3, padding=1),
        nn.Tanh(),
        nn.MaxPool2d(2),
        nn.Conv2d(WIDTH, WIDTH, 3, padding=1),
        nn.Tanh(),
        nn.Flatten(),
        nn.Linear(WIDTH * (height // 2) * (width // 2), 10),
    )

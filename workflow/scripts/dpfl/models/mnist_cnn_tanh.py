"""The CNN of the MNIST tables with bounded activations (Papernot et al. 2020, arXiv 2007.14191)."""

from torch import nn

from dpfl.models import mnist_cnn

SECONDS = 5.0e-5
PARAMETERS = 26_010
INPUTS = ((1, 28, 28),)


def build(classes: int = 10) -> nn.Sequential:
    """Return the network, inputs [L, 1, 28, 28] to logits [L, classes]."""
    return mnist_cnn.build(classes, nn.Tanh)

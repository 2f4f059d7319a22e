"""The CNN of the MNIST tables with bounded activations (Papernot et al. 2020, arXiv 2007.14191)."""

from torch import nn

from dpfl.models import mnist_cnn


def build() -> nn.Sequential:
    """Return the network, inputs [L, 1, 28, 28] to logits [L, 10]."""
    return mnist_cnn.build(nn.Tanh)

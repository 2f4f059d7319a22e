"""The CNN of the CIFAR-10 tables with unbounded activations."""

from torch import nn

from dpfl.models import cifar10_cnn

SECONDS = 2.2e-3
PARAMETERS = 550_570
INPUTS = ((3, 32, 32),)


def build(classes: int = 10) -> nn.Sequential:
    """Return the network, inputs [L, 3, 32, 32] to logits [L, classes]."""
    return cifar10_cnn.build(classes, nn.ReLU)

"""The CNN of the MNIST tables: 1 x 28 x 28 inputs, 26,010 parameters."""

from torch import nn

SECONDS = 5.0e-5
PARAMETERS = 26_010
INPUTS = ((1, 28, 28),)


def build(classes: int = 10, activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Return the network, inputs [L, 1, 28, 28] to logits [L, classes]."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 8, stride=2, padding=3),
        activation(),
        nn.MaxPool2d(2, stride=1),
        nn.Conv2d(16, 32, 4, stride=2),
        activation(),
        nn.MaxPool2d(2, stride=1),
        nn.Flatten(),
        nn.Linear(512, 32),
        activation(),
        nn.Linear(32, classes),
    )

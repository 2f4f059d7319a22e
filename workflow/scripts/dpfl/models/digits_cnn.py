"""A CNN for the 8 x 8 digits that scikit-learn ships: 21,546 parameters."""

from torch import nn

SECONDS = 2.0e-5
PARAMETERS = 21_546
INPUTS = ((1, 8, 8),)


def build(classes: int = 10) -> nn.Sequential:
    """Return the network, inputs [L, 1, 8, 8] to logits [L, classes]."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(512, 32),
        nn.ReLU(),
        nn.Linear(32, classes),
    )

"""The CNN of the CIFAR-10 tables (Papernot et al. 2020, arXiv 2007.14191): 550,570 parameters."""

from torch import nn

SECONDS = 2.2e-3
PARAMETERS = 550_570
INPUTS = ((3, 32, 32),)


def build(classes: int = 10, activation: type[nn.Module] = nn.Tanh) -> nn.Sequential:
    """Return the network, inputs [L, 3, 32, 32] to logits [L, classes]."""
    return nn.Sequential(
        *_stage(3, 32, activation),
        *_stage(32, 64, activation),
        *_stage(64, 128, activation),
        nn.Flatten(),
        nn.Linear(2048, 128),
        activation(),
        nn.Linear(128, classes),
    )


def _stage(channels: int, width: int, activation: type[nn.Module]) -> list[nn.Module]:
    """Two convolutions, then half the height and width."""
    return [
        nn.Conv2d(channels, width, 3, padding=1),
        activation(),
        nn.Conv2d(width, width, 3, padding=1),
        activation(),
        nn.AvgPool2d(2),
    ]

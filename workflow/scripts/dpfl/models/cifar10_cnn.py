"""The CNN of the CIFAR-10 tables (Papernot et al. 2020, arXiv 2007.14191): 550,570 parameters."""

from torch import nn


def build() -> nn.Sequential:
    """Return the network, inputs [L, 3, 32, 32] to logits [L, 10] (methods, section 7)."""
    return nn.Sequential(
        *_stage(3, 32),
        *_stage(32, 64),
        *_stage(64, 128),
        nn.Flatten(),
        nn.Linear(2048, 128),
        nn.Tanh(),
        nn.Linear(128, 10),
    )


def _stage(channels: int, width: int) -> list[nn.Module]:
    """Two convolutions, then half the height and width."""
    return [
        nn.Conv2d(channels, width, 3, padding=1),
        nn.Tanh(),
        nn.Conv2d(width, width, 3, padding=1),
        nn.Tanh(),
        nn.AvgPool2d(2),
    ]

"""A WRN-16-4 without batch statistics (De et al. 2022, arXiv 2204.13650): 2,751,146 parameters.

Groups of channels are normalised in place of the batch, and the weights of convolutions are
standardised. The order within a block, norm, activation, convolution, is that of wide residual
networks (Zagoruyko and Komodakis 2016, arXiv 1605.07146).
"""

from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

SECONDS = 5.0e-2
PARAMETERS = {"constant": 2_750_714, "channels": 144}
INPUTS = ((None, None, None),)

_GROUPS = 16
_WIDTHS = (64, 128, 256)
_BLOCKS = 2  # of two convolutions each, for every width


class StandardisedConv2d(nn.Conv2d):
    """A convolution by weights of mean 0 and variance 1 / fan-in for each output channel."""

    def forward(self, x: Tensor) -> Tensor:
        """Return the outputs, shaped like those of Conv2d."""
        variance, mean = torch.var_mean(self.weight, (1, 2, 3), correction=0, keepdim=True)
        scale = (variance * self.weight[0].numel()).clamp(min=1e-4).rsqrt()
        return self._conv_forward(x, (self.weight - mean) * scale, self.bias)


class Block(nn.Module):
    """Two convolutions beside a connection that skips them."""

    def __init__(self, channels: int, width: int, stride: int):
        super().__init__()
        self.first = _normalised(channels, width, stride)
        self.second = _normalised(width, width, 1)
        widens = channels != width
        self.skip = StandardisedConv2d(channels, width, 1, stride) if widens else nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        """Return the sum of both ways."""
        return self.skip(x) + self.second(self.first(x))


def _normalised(channels: int, width: int, stride: int) -> nn.Sequential:
    return nn.Sequential(
        nn.GroupNorm(_GROUPS, channels),
        nn.ReLU(),
        StandardisedConv2d(channels, width, 3, stride, padding=1),
    )


class Network(nn.Module):
    """The blocks, the mean over all places, and logits."""

    def __init__(self, channels: int, classes: int):
        super().__init__()
        self.first = StandardisedConv2d(channels, 16, 3, padding=1)
        self.blocks = nn.Sequential(*_blocks())
        self.norm = nn.GroupNorm(_GROUPS, _WIDTHS[-1])
        self.last = nn.Linear(_WIDTHS[-1], classes)

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits [L, classes] of pictures [L, C, H, W]."""
        return self.last(relu(self.norm(self.blocks(self.first(x)))).mean((2, 3)))


def _blocks() -> Iterator[Block]:
    """Yield the blocks; all widths but the first begin with half the height and width."""
    channels = 16
    for width in _WIDTHS:
        for number in range(_BLOCKS):
            yield Block(channels, width, 2 if number == 0 and width != _WIDTHS[0] else 1)
            channels = width


def build(shape: tuple[int, ...], classes: int = 10) -> Network:
    """Return the network, inputs [L, *shape] to logits [L, classes]."""
    return Network(shape[0], classes)

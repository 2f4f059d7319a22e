"""How the per-example gradients of a layer's parameters are held: one route for each shape.

A layer with outputs at T positions has the gradient G_i = B_i^T A_i. A_i [T, K] is the part of its
input that each position sees. B_i [T, O] is the gradient of the loss for its output. The route is a
fixed function of the layer's shape, so two runs give the same bits:

    Linear, T = 1      the two factors: |G_i| = |a_i| |b_i|
    K O >= 16 T^2      no G_i at all: |G_i|^2 = sum (A_i A_i^T) * (B_i B_i^T), and the weighted sum
                       is one ordinary weight gradient (Bu et al. 2022, arXiv 2205.10683)
    K O T >= 800,000   G_i written out, by a convolution with one group per example (CPU only;
                       Rochette et al. 2019, arXiv 1912.06015)
    else               G_i written out, as a product of the copied windows A_i with B_i

The two thresholds were measured on one core of a 2025 server processor.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from dpfl.gradients.convolution import chunk_size, grouped_rows, split, window_rows
from dpfl.gradients.parameter_gradients import Chunks, Factors, Gram, Piece, Rows

GRAM_FROM = 16  # entries of G_i for each squared position
GROUPS_FROM = 800_000  # multiply-adds per example
EXAMPLES_PER_GROUPED_CALL = 8


def linear(layer: nn.Linear, x: Tensor, b: Tensor) -> list[Piece]:
    """Return the pieces of weight and bias, from x [L, ..., K] and b [L, ..., O]."""
    if x.dim() == 2:
        weight, bias = Factors(x, b), b
    else:
        x, b = x.flatten(1, -2), b.flatten(1, -2)
        weight, bias = Rows(torch.bmm(b.transpose(1, 2), x)), b.sum(1)
    return [weight] if layer.bias is None else [weight, Rows(bias)]


def conv2d(conv: nn.Conv2d, x: Tensor, b: Tensor) -> list[Piece]:
    """Return the pieces of weight and bias, from x [L, C, H, W] and b [L, O, H', W']."""
    entries, positions = conv.weight.numel(), b[0, 0].numel()
    if entries >= GRAM_FROM * positions**2:
        weight: Piece = Gram(conv, x, b)
    else:
        if entries * positions >= GROUPS_FROM and x.device.type == "cpu":
            rows, size = grouped_rows, EXAMPLES_PER_GROUPED_CALL
        else:
            rows, size = window_rows, chunk_size(x, positions * conv.weight[0].numel())
        weight = Chunks([Rows(rows(conv, *pair)) for pair in split(x, b, size)])
    return [weight] if conv.bias is None else [weight, Rows(b.sum((2, 3)))]


ROUTES: dict[type[nn.Module], Callable[..., list[Piece]]] = {nn.Linear: linear, nn.Conv2d: conv2d}

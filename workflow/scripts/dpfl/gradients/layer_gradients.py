"""How the per-example gradients of Linear and Conv2d are held: one way for each shape.

A layer with outputs at T positions has the gradient G_i = B_i^T A_i. A_i [T, K] is the part of its
input that each position sees. B_i [T, O] is the gradient of the loss for its output. The way is a
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
from dpfl.gradients.tokens import embedding

GRAM_FROM = 16  # entries of G_i for each squared position
GROUPS_FROM = 800_000  # multiply-adds per example
EXAMPLES_PER_GROUPED_CALL = 8


def linear(layer: nn.Linear, x: Tensor, b: Tensor) -> list[Piece]:
    """Return the pieces of what is trained, from x [L, ..., K] and b [L, ..., O]."""
    if x.dim() > 2:
        x, b = x.flatten(1, -2), b.flatten(1, -2)
    pieces: list[Piece] = []
    if layer.weight.requires_grad:
        flat = x.dim() == 2
        pieces.append(Factors(x, b) if flat else Rows(torch.bmm(b.transpose(1, 2), x)))
    if _has_trained_bias(layer):
        pieces.append(Rows(b if b.dim() == 2 else b.sum(1)))
    return pieces


def conv2d(conv: nn.Conv2d, x: Tensor, b: Tensor) -> list[Piece]:
    """Return the pieces of what is trained, from x [L, C, H, W] and b [L, O, H', W']."""
    pieces = [_conv2d_weight(conv, x, b)] if conv.weight.requires_grad else []
    return [*pieces, Rows(b.sum((2, 3)))] if _has_trained_bias(conv) else pieces


def _has_trained_bias(layer: nn.Linear | nn.Conv2d) -> bool:
    return layer.bias is not None and layer.bias.requires_grad


def _conv2d_weight(conv: nn.Conv2d, x: Tensor, b: Tensor) -> Piece:
    entries, positions = conv.weight.numel(), b[0, 0].numel()
    if entries >= GRAM_FROM * positions**2:
        return Gram(conv, x, b)
    if entries * positions >= GROUPS_FROM and x.device.type == "cpu":
        rows, size = grouped_rows, EXAMPLES_PER_GROUPED_CALL
    else:
        rows, size = window_rows, chunk_size(x, positions * conv.weight[0].numel())
    return Chunks([Rows(rows(conv, *pair)) for pair in split(x, b, size)])


Formula = Callable[..., list[Piece]]
FORMULAS: dict[type[nn.Module], tuple[Formula, set[str], dict]] = {
    nn.Linear: (linear, {"weight", "bias"}, {}),
    nn.Conv2d: (
        conv2d,
        {"weight", "bias"},
        {"dilation": (1, 1), "groups": 1, "padding_mode": "zeros"},
    ),
    nn.Embedding: (embedding, {"weight"}, {"max_norm": None, "scale_grad_by_freq": False}),
}
"""Kinds of layers, each with its parameters and the settings for which the formula holds."""


def formula(layer: nn.Module) -> Formula | None:
    """Return what makes the pieces of a layer from its input and its output's gradient, or None."""
    made, parameters, settings = FORMULAS.get(type(layer), (None, set(), {}))
    if made is None or set(layer._parameters) != parameters:
        return None
    if getattr(layer, "padding", None) == "same" and not all(n % 2 for n in layer.kernel_size):
        return None
    return made if all(getattr(layer, k) == v for k, v in settings.items()) else None

"""How the per-example gradients of a layer's parameters are held: one route for each shape.

A layer with outputs at T positions has the gradient G_i = B_i^T A_i, with A_i [T, K] the part of
its input that each position sees and B_i [T, O] the gradient of the loss for its output.
The route is a fixed function of the layer's shape, so that two runs give the same bits:

    Linear, T = 1      the two factors: |G_i| = |a_i| |b_i|
    K O >= 16 T^2      no G_i at all: |G_i|^2 = sum (A_i A_i^T) * (B_i B_i^T), and the weighted sum
                       is one ordinary weight gradient (Bu et al. 2022, arXiv 2205.10683)
    K O T >= 800,000   G_i written out, by a convolution with one group per example (CPU only;
                       Rochette et al. 2019, arXiv 1912.06015)
    else               G_i written out, as a product of the copied windows A_i with B_i

The two thresholds were measured on one core of a 2025 server processor.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.grad import conv2d_weight

Pair = tuple[int, int]

CANCELLED_BELOW = 2e-3  # of |A|^2 |B|^2: with less, float32 may have lost the digits of |G|^2
GRAM_FROM = 16  # entries of G_i for each squared position
GROUPS_FROM = 800_000  # multiply-adds per example
EXAMPLES_PER_GROUPED_CALL = 8
NUMBERS_PER_CHUNK = {"cpu": 2**20, "cuda": 2**26}


class Piece(Protocol):
    """The gradients of one parameter, for L examples."""

    def norms(self) -> Tensor: ...  # [L]
    def weighted_sum(self, weights: Tensor) -> Tensor: ...  # shaped like the parameter


@dataclass(frozen=True)
class Zero:
    """The gradients of a parameter that the loss does not depend on."""

    parameter: nn.Parameter
    zeros: Tensor

    def norms(self) -> Tensor:
        return self.zeros

    def weighted_sum(self, weights: Tensor) -> Tensor:
        return torch.zeros_like(self.parameter)


@dataclass(frozen=True)
class Factors:
    """G_i = b_i a_i^T, from a [L, K] and b [L, O]."""

    a: Tensor
    b: Tensor

    def norms(self) -> Tensor:
        return torch.linalg.vector_norm(self.a, dim=1) * torch.linalg.vector_norm(self.b, dim=1)

    def weighted_sum(self, weights: Tensor) -> Tensor:
        return (self.b * weights.unsqueeze(1)).t() @ self.a


@dataclass(frozen=True)
class Rows:
    """G_i written out: rows [L, ...], each shaped like the parameter."""

    rows: Tensor

    def norms(self) -> Tensor:
        return torch.linalg.vector_norm(self.rows.flatten(1), dim=1)

    def weighted_sum(self, weights: Tensor) -> Tensor:
        return (weights @ self.rows.flatten(1)).view(self.rows.shape[1:])


@dataclass(frozen=True)
class Chunks:
    """G_i of a convolution written out in chunks, rows [l, O, kh, kw, C] each."""

    chunks: list[Rows]

    def norms(self) -> Tensor:
        return torch.cat([chunk.norms() for chunk in self.chunks])

    def weighted_sum(self, weights: Tensor) -> Tensor:
        parts = weights.split([len(chunk.rows) for chunk in self.chunks])
        pairs = zip(self.chunks, parts, strict=True)
        first, *rest = (chunk.weighted_sum(part) for chunk, part in pairs)
        return sum(rest, start=first).permute(0, 3, 1, 2)


@dataclass(frozen=True)
class Gram:
    """G_i never written out, for a convolution of few positions and many weights."""

    conv: nn.Conv2d
    x: Tensor
    b: Tensor

    def norms(self) -> Tensor:
        size = _chunk_size(self.x, self.x[0, 0].numel() ** 2)
        return torch.cat([_gram_norms(self.conv, *pair) for pair in _split(self.x, self.b, size)])

    def weighted_sum(self, weights: Tensor) -> Tensor:
        b = self.b * weights.view(-1, 1, 1, 1)
        shape, padding = self.conv.weight.shape, _padding(self.conv)
        return conv2d_weight(self.x, shape, b, self.conv.stride, padding)


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
            rows, size = _grouped_rows, EXAMPLES_PER_GROUPED_CALL
        else:
            rows, size = _window_rows, _chunk_size(x, positions * conv.weight[0].numel())
        weight = Chunks([Rows(rows(conv, *pair)) for pair in _split(x, b, size)])
    return [weight] if conv.bias is None else [weight, Rows(b.sum((2, 3)))]


ROUTES: dict[type[nn.Module], Callable[..., list[Piece]]] = {nn.Linear: linear, nn.Conv2d: conv2d}


def _window_rows(conv: nn.Conv2d, x: Tensor, b: Tensor) -> Tensor:
    """Copy the window that each position sees, then one matrix product per example."""
    x = _padded(conv, x)
    index = _window_index(x.shape[1:3], conv.kernel_size, conv.stride, x.device)
    windows = x.flatten(1, 2).index_select(1, index).view(len(x), b[0, 0].numel(), -1)
    shape = (*b.shape[:2], *conv.kernel_size, x.shape[3])
    return torch.bmm(b.flatten(2), windows).view(shape)


@cache
def _window_index(image: torch.Size, kernel: Pair, stride: Pair, device: torch.device) -> Tensor:
    """Number the pixels of an image, window by window [T kh kw]."""
    pixels = torch.arange(image.numel(), device=device).view(image)
    return pixels.unfold(0, kernel[0], stride[0]).unfold(1, kernel[1], stride[1]).flatten()


def _grouped_rows(conv: nn.Conv2d, x: Tensor, b: Tensor) -> Tensor:
    """Take the weight gradient of one convolution in which every example is a group."""
    groups, channels, out = len(x), x.shape[1], b.shape[1]
    shape = (groups * out, channels, *conv.kernel_size)
    x, b = (t.permute(2, 3, 0, 1).flatten(2)[None].permute(0, 3, 1, 2) for t in (x, b))
    rows = conv2d_weight(x, shape, b, conv.stride, _padding(conv), groups=groups)
    return rows.permute(0, 2, 3, 1).unflatten(0, (groups, out))


def _gram_norms(conv: nn.Conv2d, x: Tensor, b: Tensor) -> Tensor:
    """Return |G_i|, written out after all where the terms of the Gram product cancel.

    There rounding could leave a small norm to a large gradient, which would pass the clipping.
    """
    norms, cancelled = _gram_products(conv, x, b)
    if cancelled.any():
        norms[cancelled] = Rows(_window_rows(conv, x[cancelled], b[cancelled])).norms()
    return norms


def _gram_products(conv: nn.Conv2d, x: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return the root of sum (A A^T) * (B B^T), and where it is far below its largest value.

    A A^T is the inner products of pixels, summed over the window.
    """
    x = _padded(conv, x)
    width, (sh, sw), (kh, kw) = x.shape[2], conv.stride, conv.kernel_size
    pixels = x.flatten(1, 2)
    products = torch.bmm(pixels, pixels.transpose(1, 2))
    n, p, q = products.stride()
    shape = (len(x), *b.shape[2:], *b.shape[2:])
    strides = (n, sh * width * p, sw * p, sh * width * q, sw * q)
    shifts = [(i * width + j) * (p + q) for i in range(kh) for j in range(kw)]
    first, *rest = (products.as_strided(shape, strides, shift) for shift in shifts)
    total = first.clone()
    for shifted in rest:
        total += shifted
    b = b.flatten(2)
    gram, other = total.flatten(3).flatten(1, 2), torch.bmm(b.transpose(1, 2), b)
    squares = torch.linalg.vecdot(gram.flatten(1), other.flatten(1))
    most = gram.diagonal(dim1=1, dim2=2).sum(1) * other.diagonal(dim1=1, dim2=2).sum(1)
    return squares.clamp_(min=0).sqrt_(), ~(squares >= CANCELLED_BELOW * most)


def _padded(conv: nn.Conv2d, x: Tensor) -> Tensor:
    """Return x stored as [L, H, W, C], with the zeros around it that the layer adds."""
    height, width = _padding(conv)
    x = x.permute(0, 2, 3, 1)
    if height or width:
        x = functional.pad(x, (0, 0, width, width, height, height))
    return x.contiguous()


def _padding(conv: nn.Conv2d) -> tuple[int, int]:
    named = {"valid": (0, 0), "same": tuple(size // 2 for size in conv.kernel_size)}
    return named.get(conv.padding, conv.padding)


def _split(x: Tensor, b: Tensor, size: int) -> list[tuple[Tensor, Tensor]]:
    if len(x) <= size:
        return [(x, b)]
    return list(zip(x.split(size), b.split(size), strict=True))


def _chunk_size(x: Tensor, numbers_per_example: int) -> int:
    return max(1, NUMBERS_PER_CHUNK.get(x.device.type, 2**20) // numbers_per_example)

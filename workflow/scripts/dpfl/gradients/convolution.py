"""The per-example gradients of a convolution's weight, written out or only their norms."""

from collections.abc import Iterator
from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.grad import conv2d_weight

Pair = tuple[int, int]

CANCELLED_BELOW = 2e-3  # of |A|^2 |B|^2: with less, float32 may have lost the digits of |G|^2
SHORT = 1e-15  # a norm whose numbers have squares that may underflow in float32
ROUNDINGS = 3  # of an example's own sum, of products with its rows, of others' terms beside it
NUMBERS_PER_CHUNK = {"cpu": 2**20, "cuda": 2**26}
CHUNKS_PER_BLOCK = 4


def window_rows(conv: nn.Conv2d, x: Tensor, b: Tensor) -> Tensor:
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


def grouped_rows(conv: nn.Conv2d, x: Tensor, b: Tensor) -> Tensor:
    """Take the weight gradient of one convolution in which every example is a group."""
    groups, channels, out = len(x), x.shape[1], b.shape[1]
    shape = (groups * out, channels, *conv.kernel_size)
    x, b = (t.permute(2, 3, 0, 1).flatten(2)[None].permute(0, 3, 1, 2) for t in (x, b))
    rows = conv2d_weight(x, shape, b, conv.stride, padding(conv), groups=groups)
    return rows.permute(0, 2, 3, 1).unflatten(0, (groups, out))


def channel_rows(conv: nn.Conv2d, x: Tensor, b: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Write a few input channels of all gradients at a time: which ones, rows [L, O, kh, kw, c].

    Blocks of output channels would copy every window once a block, these copy it once. They are
    larger than other chunks, or they would be a few channels wide: 2/3 of the time.
    """
    weights, positions = conv.weight[0, 0].numel(), b[0, 0].numel()
    size = CHUNKS_PER_BLOCK * chunk_size(x, len(x) * weights * max(b.shape[1], positions))
    for start in range(0, x.shape[1], size):
        channels = slice(start, start + size)
        yield channels, window_rows(conv, x[:, channels], b)


def gram_norms(conv: nn.Conv2d, x: Tensor, b: Tensor) -> Tensor:
    """Return |G_i|, and what rounding may add to it where the terms of its positions cancel.

    There a Gram product in float32 could leave a small norm to a large gradient. That would pass
    the clipping, so the product is taken in float64. But a weighted sum adds the terms up in the
    precision of x. There T positions may leave T u |A| |B| of what cancels in exact arithmetic; u
    is the unit roundoff. This is Higham 2002, section 3.1, with Cauchy and Schwarz. The norm
    includes that, so that what is summed is not longer than the norm says. Where no terms cancel,
    it is below 1e-3 of the norm, for up to 700 positions, and left out. Where squares may underflow
    it is float64 as well.
    """
    squares, most = _gram_products(conv, x, b)
    norms = squares.clamp(min=0).sqrt_()
    cancelled = ~(squares >= CANCELLED_BELOW * most)
    lengths = (torch.linalg.vector_norm(own, dim=(1, 2, 3)) for own in (x, b))
    short = (torch.stack(list(lengths)).amin(0) < SHORT) | (most < SHORT**2)
    if short.any():  # of zeros nothing is lost
        cancelled |= short & x.flatten(1).any(1) & b.flatten(1).any(1)
    if cancelled.any():
        squares, most = _gram_products(conv, x[cancelled].double(), b[cancelled].double())
        rounding = b[0, 0].numel() * torch.finfo(x.dtype).eps / 2 * most.sqrt()
        exact = squares.clamp_(min=0).sqrt_()
        norms[cancelled] = (exact + ROUNDINGS * rounding).to(norms.dtype)
    return norms


def _gram_products(conv: nn.Conv2d, x: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Return |G_i|^2 = sum (A A^T) * (B B^T) and |A|^2 |B|^2, the largest that it can be.

    A A^T is the inner products of pixels, summed over the window.
    """
    (height, width), (sh, sw), (kh, kw) = padding(conv), conv.stride, conv.kernel_size
    pixels = x.permute(0, 2, 3, 1).flatten(1, 2)
    products = torch.bmm(pixels, pixels.transpose(1, 2)).view(len(x), *x.shape[2:], *x.shape[2:])
    products = functional.pad(products, (width, width, height, height) * 2)
    row, pixel, other_row, other_pixel = products.stride()[1:]
    shape = (len(x), *b.shape[2:], *b.shape[2:])
    strides = (products.stride(0), sh * row, sw * pixel, sh * other_row, sw * other_pixel)
    shifts = [
        i * (row + other_row) + j * (pixel + other_pixel) for i in range(kh) for j in range(kw)
    ]
    first, *rest = (products.as_strided(shape, strides, shift) for shift in shifts)
    total = first.clone()
    for shifted in rest:
        total += shifted
    b = b.flatten(2)
    gram, other = total.flatten(3).flatten(1, 2), torch.bmm(b.transpose(1, 2), b)
    squares = torch.linalg.vecdot(gram.flatten(1), other.flatten(1))
    most = gram.diagonal(dim1=1, dim2=2).sum(1) * other.diagonal(dim1=1, dim2=2).sum(1)
    return squares, most


def _padded(conv: nn.Conv2d, x: Tensor) -> Tensor:
    """Return x stored as [L, H, W, C], with the zeros around it that the layer adds."""
    height, width = padding(conv)
    x = x.permute(0, 2, 3, 1)
    if height or width:
        x = functional.pad(x, (0, 0, width, width, height, height))
    return x.contiguous()


def padding(conv: nn.Conv2d) -> Pair:
    """Return the rows and columns of zeros that the layer adds on each side."""
    named = {"valid": (0, 0), "same": tuple(size // 2 for size in conv.kernel_size)}
    return named.get(conv.padding, conv.padding)


def split(x: Tensor, b: Tensor, size: int) -> list[tuple[Tensor, Tensor]]:
    """Return x and b in chunks of `size` examples."""
    return list(zip(x.split(size), b.split(size), strict=True))


def chunk_size(x: Tensor, numbers: int) -> int:
    """Return how many items of `numbers` numbers each are worked on at a time, at least one."""
    return max(1, NUMBERS_PER_CHUNK.get(x.device.type, 2**20) // numbers)

"""What the per-example gradients of one parameter are held as, and what is computed from that."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn.grad import conv2d_weight

from dpfl.gradients.convolution import (
    SHORT,
    channel_rows,
    chunk_size,
    gram_norms,
    padding,
    split,
)

ROWS_OF_GRAM = 64  # computed at a time, from their diagonal on: 3/4 of the time for 250 examples


class Piece(Protocol):
    """The gradients of one parameter, for L examples."""

    def norms(self) -> Tensor: ...  # [L]
    def weighted_sum(self, weights: Tensor) -> Tensor: ...  # shaped like the parameter
    def combinations(self, weights: Tensor) -> Tensor: ...  # [k, *shape], from weights [k, L]
    def gram(self) -> Tensor: ...  # [L, L]
    def inner(self, vectors: Tensor) -> Tensor: ...  # [L, k], from [k, *shape of the parameter]
    def written(self) -> Tensor: ...  # [L, *shape of the parameter]


@dataclass(frozen=True)
class Zero:
    """The gradients of a parameter that the loss does not depend on."""

    shape: torch.Size
    zeros: Tensor

    def norms(self) -> Tensor:
        return self.zeros

    def weighted_sum(self, weights: Tensor) -> Tensor:
        return self.zeros.new_zeros(self.shape)

    def combinations(self, weights: Tensor) -> Tensor:
        return self.zeros.new_zeros(len(weights), *self.shape)

    def gram(self) -> Tensor:
        return self.zeros.new_zeros(len(self.zeros), len(self.zeros))

    def inner(self, vectors: Tensor) -> Tensor:
        return self.zeros.new_zeros(len(self.zeros), len(vectors))

    def written(self) -> Tensor:
        return self.zeros.new_zeros(len(self.zeros), *self.shape)


@dataclass(frozen=True)
class Factors:
    """G_i = b_i a_i^T, from a [L, K] and b [L, O]."""

    a: Tensor
    b: Tensor

    def norms(self) -> Tensor:
        """In float64 where a factor is so short that squares of its numbers underflow."""
        a, b = (torch.linalg.vector_norm(own, dim=1) for own in (self.a, self.b))
        norms, short = a * b, (a < SHORT) | (b < SHORT)
        if short.any():
            rows = (own[short].double() for own in (self.a, self.b))
            exact = math.prod(torch.linalg.vector_norm(own, dim=1) for own in rows)
            norms[short] = exact.to(norms.dtype)
        return norms

    def weighted_sum(self, weights: Tensor) -> Tensor:
        return (self.b * weights.unsqueeze(1)).t() @ self.a

    def combinations(self, weights: Tensor) -> Tensor:
        """A few at a time: the weighted b has L O numbers for each."""
        parts = weights.split(chunk_size(self.a, self.b.numel()))
        return torch.cat([self._combinations(part) for part in parts])

    def _combinations(self, weights: Tensor) -> Tensor:
        weighted = (weights.unsqueeze(1) * self.b.t()).flatten(0, 1)
        return (weighted @ self.a).unflatten(0, (len(weights), self.b.shape[1]))

    def gram(self) -> Tensor:
        return gram_of([self.a]).mul_(gram_of([self.b]))

    def inner(self, vectors: Tensor) -> Tensor:
        """b_i^T H a_i, for a few vectors H [O, K] at a time: H a_i has L O numbers for each."""
        parts = vectors.split(chunk_size(self.a, self.b.numel()))
        return torch.cat([self._inner(part) for part in parts], dim=1)

    def _inner(self, vectors: Tensor) -> Tensor:
        seen = (self.a @ vectors.flatten(0, 1).t()).unflatten(1, vectors.shape[:2])
        return torch.bmm(seen, self.b.unsqueeze(2)).squeeze(2)

    def written(self) -> Tensor:
        return self.b.unsqueeze(2) * self.a.unsqueeze(1)


@dataclass(frozen=True)
class Rows:
    """G_i written out: rows [L, ...], each shaped like the parameter."""

    rows: Tensor

    def norms(self) -> Tensor:
        return torch.linalg.vector_norm(as_matrix(self.rows), dim=1)

    def weighted_sum(self, weights: Tensor) -> Tensor:
        return (weights @ as_matrix(self.rows)).view(self.rows.shape[1:])

    def combinations(self, weights: Tensor) -> Tensor:
        return (weights @ as_matrix(self.rows)).view(len(weights), *self.rows.shape[1:])

    def gram(self) -> Tensor:
        return gram_of([self.rows])

    def inner(self, vectors: Tensor) -> Tensor:
        return as_matrix(self.rows) @ as_matrix(vectors).t()

    def written(self) -> Tensor:
        return self.rows


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

    def combinations(self, weights: Tensor) -> Tensor:
        parts = weights.split([len(chunk.rows) for chunk in self.chunks], dim=1)
        first, *rest = zip(self.chunks, parts, strict=True)
        total = first[0].combinations(first[1])
        for chunk, part in rest:
            total += chunk.combinations(part)
        return _as_weights(total)

    def gram(self) -> Tensor:
        """From a few output channels at a time, of all chunks: the chunks' examples meet there."""
        first = self.chunks[0].rows
        length = sum(len(chunk.rows) for chunk in self.chunks)
        size = chunk_size(first, length * first[0, 0].numel())
        blocks = zip(*(chunk.rows.split(size, dim=1) for chunk in self.chunks), strict=True)
        return gram_of(torch.cat(block) for block in blocks)

    def inner(self, vectors: Tensor) -> Tensor:
        vectors = _as_rows(vectors).contiguous()
        return torch.cat([chunk.inner(vectors) for chunk in self.chunks])

    def written(self) -> Tensor:
        return _as_weights(torch.cat([chunk.rows for chunk in self.chunks]))


@dataclass(frozen=True)
class Gram:
    """G_i never written out as a whole, for a convolution of few positions and many weights."""

    conv: nn.Conv2d
    x: Tensor
    b: Tensor

    def norms(self) -> Tensor:
        size = chunk_size(self.x, self.x[0, 0].numel() ** 2)
        return torch.cat([gram_norms(self.conv, *pair) for pair in split(self.x, self.b, size)])

    def weighted_sum(self, weights: Tensor) -> Tensor:
        b = self.b * weights.view(-1, 1, 1, 1)
        shape = self.conv.weight.shape
        return conv2d_weight(self.x, shape, b, self.conv.stride, padding(self.conv))

    def combinations(self, weights: Tensor) -> Tensor:
        blocks = (Rows(rows) for _, rows in channel_rows(self.conv, self.x, self.b))
        return torch.cat([_as_weights(block.combinations(weights)) for block in blocks], dim=2)

    def gram(self) -> Tensor:
        return gram_of(rows for _, rows in channel_rows(self.conv, self.x, self.b))

    def inner(self, vectors: Tensor) -> Tensor:
        total = vectors.new_zeros(len(self.x), len(vectors))
        for channels, rows in channel_rows(self.conv, self.x, self.b):
            total.addmm_(rows.flatten(1), _as_rows(vectors[:, :, channels]).flatten(1).t())
        return total

    def written(self) -> Tensor:
        blocks = [_as_weights(rows) for _, rows in channel_rows(self.conv, self.x, self.b)]
        return torch.cat(blocks, dim=2)


def gram_of(blocks: Iterable[Tensor]) -> Tensor:
    """Return the sum of R R^T over blocks R [L, ...] of columns, symmetric to the bit."""
    total = None
    for block in blocks:
        rows = as_matrix(block)
        total = rows.new_zeros(len(rows), len(rows)) if total is None else total
        for start in range(0, len(rows), ROWS_OF_GRAM):
            some = slice(start, start + ROWS_OF_GRAM)
            total[some, start:].addmm_(rows[some], rows[start:].t())
    return total.triu_().add_(total.triu(1).t())


def as_matrix(rows: Tensor) -> Tensor:
    """Return rows [L, ...] as [L, n]; a row may be one number."""
    return rows.flatten(1) if rows.dim() > 1 else rows.unsqueeze(1)


def _as_rows(weights: Tensor) -> Tensor:
    """Return weights [k, O, C, kh, kw] as rows of a convolution [k, O, kh, kw, C]."""
    return weights.permute(0, 1, 3, 4, 2)


def _as_weights(rows: Tensor) -> Tensor:
    """Return rows of a convolution [L, O, kh, kw, C] as weights [L, O, C, kh, kw]."""
    return rows.permute(0, 1, 4, 2, 3)

"""The per-example gradients of a table of vectors: an example has rows for its own tokens alone."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from dpfl.gradients.convolution import chunk_size
from dpfl.gradients.parameter_gradients import Piece, gram_of


@dataclass(frozen=True)
class Tokens:
    """G_i [V, d] as its rows that are not 0, each token of an example once.

    Row u [d] is that of token `token[u]` in example `example[u]`.
    """

    rows: Tensor
    example: Tensor
    token: Tensor
    length: int
    vocabulary: int

    def norms(self) -> Tensor:
        squares = self.rows.square().sum(1)
        return self._by_example(squares).sqrt_()

    def weighted_sum(self, weights: Tensor) -> Tensor:
        weighted = self.rows * weights[self.example].unsqueeze(1)
        return self._table().index_add_(0, self.token, weighted)

    def combinations(self, weights: Tensor) -> Tensor:
        return torch.stack([self.weighted_sum(each) for each in weights])

    def gram(self) -> Tensor:
        """From a few tokens at a time."""
        blocks = list(self._blocks())
        return gram_of(blocks) if blocks else self.rows.new_zeros(self.length, self.length)

    def inner(self, vectors: Tensor) -> Tensor:
        products = [(self.rows * each[self.token]).sum(1) for each in vectors]
        return torch.stack([self._by_example(each) for each in products], dim=1)

    def written(self) -> Tensor:
        table = self.rows.new_zeros(self.length, self.vocabulary, self.rows.shape[1])
        return table.index_put_((self.example, self.token), self.rows)

    def _by_example(self, values: Tensor) -> Tensor:
        return values.new_zeros(self.length).index_add_(0, self.example, values)

    def _table(self) -> Tensor:
        return self.rows.new_zeros(self.vocabulary, self.rows.shape[1])

    def _blocks(self) -> Iterator[Tensor]:
        """Yield the rows [L, n, d] of n of the tokens that are there, for all examples."""
        there, place = self.token.unique(return_inverse=True)
        size = chunk_size(self.rows, self.length * self.rows.shape[1])
        for start in range(0, len(there), size):
            some = (place >= start) & (place < start + size)
            block = self.rows.new_zeros(self.length, size, self.rows.shape[1])
            yield block.index_put_((self.example[some], place[some] - start), self.rows[some])


def embedding(layer: nn.Embedding, x: Tensor, b: Tensor) -> list[Piece]:
    """Return the piece of the table, from token ids x [L, ...] and b [L, ..., d]."""
    length, vocabulary = len(x), layer.num_embeddings
    examples = torch.arange(length, device=x.device).unsqueeze(1)
    pairs = examples * vocabulary + x.reshape(length, -1)
    known, place = pairs.unique(return_inverse=True)
    b = b.reshape(-1, layer.embedding_dim)
    rows = b.new_zeros(len(known), b.shape[1]).index_add_(0, place.flatten(), b)
    token = known % vocabulary
    if layer.padding_idx is not None:
        rows[token == layer.padding_idx] = 0
    return [Tokens(rows, known // vocabulary, token, length, vocabulary)]

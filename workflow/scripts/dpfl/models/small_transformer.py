"""One block of attention over a sequence of tokens (Vaswani et al. 2017, arXiv 1706.03762).

The norms come first in each half of the block, as in Xiong et al. 2020, arXiv 2002.04745.
"""

import math

import torch
from torch import Tensor, nn

SECONDS = 1.5e-4
PARAMETERS = {"constant": 10_986, "inputs": 32}  # of ten classes
INPUTS = ((None,),)

_VOCABULARY = 64
_WIDTH = 32
_HEADS = 2


class Attention(nn.Module):
    """Each place takes a mean over the places that matter to it, in each head."""

    def __init__(self):
        super().__init__()
        self.asked = nn.Linear(_WIDTH, 3 * _WIDTH)
        self.joined = nn.Linear(_WIDTH, _WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """Return what each place gets [L, T, width]."""
        parts = self.asked(x).unflatten(2, (3, _HEADS, -1))
        queries, keys, values = parts.permute(2, 0, 3, 1, 4).unbind()
        scores = queries @ keys.transpose(2, 3) / math.sqrt(queries.shape[3])
        return self.joined((scores.softmax(3) @ values).transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    """Maps token ids [L, T], all below 64, to logits [L, classes]."""

    def __init__(self, length: int, classes: int):
        super().__init__()
        self.vectors = nn.Embedding(_VOCABULARY, _WIDTH)
        self.places = nn.Embedding(length, _WIDTH)
        self.attention = nn.Sequential(nn.LayerNorm(_WIDTH), Attention())
        self.each = nn.Sequential(
            nn.LayerNorm(_WIDTH),
            nn.Linear(_WIDTH, 2 * _WIDTH),
            nn.ReLU(),
            nn.Linear(2 * _WIDTH, _WIDTH),
        )
        self.last = nn.Sequential(nn.LayerNorm(_WIDTH), nn.Linear(_WIDTH, classes))

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the logits of the mean over all places."""
        tokens = tokens.flatten(1)
        places = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
        x = self.vectors(tokens) + self.places(places)
        x = x + self.attention(x)
        return self.last((x + self.each(x)).mean(1))


def build(shape: tuple[int, ...], classes: int = 10) -> Transformer:
    """Return the network, token ids [L, *shape] to logits [L, classes]."""
    return Transformer(math.prod(shape), classes)

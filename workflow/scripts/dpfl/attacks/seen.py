"""What a server sees of clients' updates, and the network in which it looks for their pictures."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Seen:
    """U updates [U, D], each the gradient estimate of one step on b pictures of a shape [C, H, W].

    `model` holds the weights that the server sent, `labels` [U, b] what it knows or inferred. `low`
    and `high` [C, 1, 1] are the ends of a pixel as the network sees it.
    """

    model: nn.Module
    updates: Tensor
    labels: Tensor
    low: Tensor
    high: Tensor
    shape: tuple[int, ...]

    def boxed(self, pictures: Tensor) -> Tensor:
        """Return pictures [..., C, H, W] with every pixel moved between the ends."""
        return torch.minimum(torch.maximum(pictures, self.low), self.high)


def labels_of(updates: Tensor, classes: int) -> Tensor:
    """Return the label [U] of each update [U, D] on one picture: iDLG (arXiv 2001.02610).

    The gradient of cross-entropy for the last bias is p - onehot, negative at the true class alone.
    With noise its least entry is the best guess. The last `classes` parameters are that bias.
    """
    return updates[:, -classes:].argmin(1)

"""Examples that somebody gives, tensors or a Dataset, as batches on the device of their network."""

from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset, default_collate

from dpfl.base.errors import UserError

Given = tuple[Tensor, Tensor] | Dataset
"""Inputs [n, ...] and targets [n, ...], or a Dataset of such pairs, one for each example."""


class Tensors:
    """Inputs and targets as batches on a device."""

    def __init__(self, inputs: Tensor, targets: Tensor, device: torch.device):
        self._inputs, self._targets, self._device = inputs, targets, device

    def __len__(self) -> int:
        return len(self._targets)

    def __getitem__(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        parts = self._inputs, self._targets
        rows = (part.index_select(0, chosen.to(part.device)) for part in parts)
        inputs, targets = (part.to(self._device) for part in rows)
        return inputs, targets


class Fetched:
    """A Dataset as batches on a device, each example fetched anew."""

    def __init__(self, dataset: Dataset, device: torch.device):
        self._dataset, self._device = dataset, device

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        numbers = chosen.tolist() or [0]  # for the shapes of an empty batch
        inputs, targets = default_collate([self._dataset[number] for number in numbers])
        size = len(chosen)
        return inputs[:size].to(self._device), targets[:size].to(self._device)


def batches(given: Given, device: torch.device, name: str) -> Tensors | Fetched:
    """Return the examples as batches on a device.

    UserError, which says `name`, for what are no pairs, and for fewer than two of them.
    """
    made = _tensors(given, device, name)
    made = _fetched(given, device, name) if made is None else made
    if len(made) < 2:
        raise UserError(f"{name}: found {len(made)}, expected at least 2")
    try:
        made[torch.arange(1)]
    except (AttributeError, TypeError, ValueError) as error:
        raise UserError(f"{name}: the first is no pair of an input and a target") from error
    return made


def _tensors(given: Any, device: torch.device, name: str) -> Tensors | None:
    """Return tensors as batches, None for what is something else."""
    if not (isinstance(given, tuple | list) and given):
        return None
    if not all(isinstance(part, Tensor) for part in given):
        return None
    if len(given) != 2:
        raise UserError(f"{name}: found {len(given)} tensors, expected inputs and targets")
    if len(given[0]) != len(given[1]):
        raise UserError(f"{name}: {len(given[0])} inputs, but {len(given[1])} targets")
    return Tensors(*given, device)


def _fetched(given: Any, device: torch.device, name: str) -> Fetched:
    """Return a Dataset, or a list of pairs, as batches."""
    offers = hasattr(given, "__len__") and hasattr(given, "__getitem__")
    if isinstance(given, tuple | dict) or not offers:
        parts = given if isinstance(given, tuple) else [given]
        raise UserError(
            f"{name}: found {', '.join(type(part).__name__ for part in parts)}; expected two "
            "tensors, inputs and targets, or a Dataset of pairs with a length (no loader: batches "
            "are drawn here)"
        )
    return Fetched(given, device)

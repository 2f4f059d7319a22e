"""Examples that somebody gives, tensors or a Dataset, as batches on the device of their network."""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset, Subset, TensorDataset, default_collate

from dpfl.api.fitness import first_line
from dpfl.base.errors import UserError
from dpfl.gradients.example_wise import spread
from dpfl.gradients.facts import contents, value_digest

Given = tuple[Tensor, Tensor] | Dataset
"""Inputs [n, ...] and targets [n, ...], or a Dataset of such pairs, one for each example."""

ITEMS, ROWS = 32, 1024  # that are looked at, evenly spread: of a Dataset, and of tensors


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

    @property
    def seen(self) -> tuple[Tensor, Tensor]:
        """Return inputs of some examples, evenly spread, and the targets of all."""
        inputs, _ = self[spread(len(self), ROWS)]
        return inputs, self._targets.to(self._device)

    def compared(self) -> Tensor:
        """Return the inputs that can be compared with others: all."""
        return self._inputs

    def held(self) -> list:
        """Return what tells these examples from others."""
        return [value_digest(self._inputs), value_digest(self._targets)]


class Fetched:
    """A Dataset as batches on a device, each example fetched anew."""

    def __init__(self, dataset: Dataset, device: torch.device, name: str):
        self._dataset, self._device, self._name = dataset, device, name

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        numbers = chosen.tolist() or [0]  # for the shapes of an empty batch
        pairs = [self._fetch(number) for number in numbers]
        try:
            inputs, targets = default_collate(pairs)
        except (AttributeError, RuntimeError, TypeError, ValueError) as error:
            raise UserError(
                f"{self._name}: one of the examples {_listed(numbers)} is no pair of an input and "
                f"a target, or unlike the others: {first_line(error)}"
            ) from error
        size = len(chosen)
        return inputs[:size].to(self._device), targets[:size].to(self._device)

    def _fetch(self, number: int) -> Any:
        try:
            return self._dataset[number]
        except Exception as error:  # whatever somebody's files, or network, may raise
            kind = type(error).__name__
            told = f"{self._name}: example {number} raised {kind}: {first_line(error)}"
            raise UserError(told) from error

    @cached_property
    def seen(self) -> tuple[Tensor, Tensor]:
        """Return inputs and targets of some examples, evenly spread."""
        return self[spread(len(self), ITEMS)]

    def compared(self) -> Tensor:
        """Return the inputs that can be compared with others: some."""
        return self.seen[0]

    def held(self) -> list:
        """Return what tells these examples from others: their number, what the Dataset holds."""
        return [len(self), repr(contents(self._dataset, ""))]


def batches(given: Given, device: torch.device, name: str) -> Tensors | Fetched:
    """Return the examples as batches on a device.

    UserError, which says `name`, for what are no pairs, and for fewer than two of them.
    """
    made = _tensors(given, device, name)
    made = _fetched(given, device, name) if made is None else made
    if len(made) < 2:
        raise UserError(f"{name}: found {len(made)}, expected at least 2")
    return made


def require_apart(public: Tensor, private: Tensor) -> None:
    """Raise UserError for a public input that is one of the private ones too."""
    if public.shape[1:] != private.shape[1:]:
        return
    known = {row: number for number, row in enumerate(_rows(public))}
    for start in range(0, len(private) if known else 0, ROWS):
        for row in _rows(private[start : start + ROWS]):
            if row in known:
                raise UserError(
                    f"public: example {known[row]} equals a private one; expected inputs that need "
                    "no protection"
                )


def _rows(inputs: Tensor) -> list[bytes]:
    """Return every row as bytes, equal for equal numbers of whatever type."""
    wide = inputs.detach().cpu().double().flatten(1) + 0.0  # of -0.0 as of 0.0
    return [row.tobytes() for row in wide.numpy()]


def _listed(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers[:5])) + (" ..." if len(numbers) > 5 else "")


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


def _fetched(given: Any, device: torch.device, name: str) -> Tensors | Fetched:
    """Return a Dataset, or a list of pairs, as batches; as tensors where all of it is in memory."""
    offers = hasattr(given, "__len__") and hasattr(given, "__getitem__")
    if isinstance(given, tuple | dict) or not offers:
        parts = given if isinstance(given, tuple) else [given]
        raise UserError(
            f"{name}: found {', '.join(type(part).__name__ for part in parts)}; expected two "
            "tensors, inputs and targets, or a Dataset of pairs with a length (no loader: batches "
            "are drawn here)"
        )
    made = Fetched(given, device, name)
    if not (_in_memory(given) and len(made)):
        return made
    return Tensors(*Fetched(given, torch.device("cpu"), name)[torch.arange(len(made))], device)


def _in_memory(given: Any) -> bool:
    """Tell whether examples are tensors, or a list of pairs, or some of such."""
    inner = given.dataset if type(given) is Subset else given
    return _in_memory(inner) if inner is not given else type(given) in (list, TensorDataset)

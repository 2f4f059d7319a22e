"""Examples that somebody gives, tensors or a Dataset, as batches on the device of their network."""

from functools import cached_property
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import Dataset, Subset, TensorDataset, default_collate

from dpfl.base.errors import UserError
from dpfl.gradients.facts import contents, value_digest
from dpfl.gradients.step import Public
from dpfl.privacy.conditions.example_wise import spread
from dpfl.privacy.conditions.own import first_line, one_line

Given = tuple[Tensor, Tensor] | Dataset
"""Inputs [n, ...] and targets [n, ...], or a Dataset of such pairs, one for each example."""

ITEMS, ROWS = 32, 1024  # that are looked at, evenly spread: of a Dataset, and of tensors


class Tensors:
    """Inputs and targets as batches on a device; `inputs` are compared with others."""

    def __init__(self, inputs: Tensor, targets: Tensor, device: torch.device):
        self.inputs, self._targets, self._device = inputs, targets, device

    def __len__(self) -> int:
        return len(self._targets)

    def __getitem__(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        parts = self.inputs, self._targets
        rows = (part.index_select(0, chosen.to(part.device)) for part in parts)
        inputs, targets = (part.to(self._device) for part in rows)
        return inputs, targets

    @property
    def seen(self) -> tuple[Tensor, Tensor]:
        """Return inputs of some examples, evenly spread, and the targets of all."""
        return self[spread(len(self), ROWS)][0], self._targets.to(self._device)

    def held(self) -> list:
        """Return what tells these examples from others."""
        return [value_digest(self.inputs), value_digest(self._targets)]


class Fetched:
    """A Dataset as batches on a device, each example fetched anew."""

    def __init__(self, dataset: Dataset, device: torch.device, name: str):
        self._dataset, self._device, self._name = dataset, device, name

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        numbers, size = chosen.tolist() or [0], len(chosen)  # one, for the shapes of an empty batch
        pairs = [self._fetch(number) for number in numbers]
        listed = ", ".join(map(str, numbers[:5])) + (" ..." if len(numbers) > 5 else "")
        with one_line(
            f"{self._name}: one of the examples {listed} is no pair of an input and a target, or "
            "unlike the others"
        ):
            inputs, targets = default_collate(pairs)
        return inputs[:size].to(self._device), targets[:size].to(self._device)

    def _fetch(self, number: int) -> Any:
        try:
            return self._dataset[number]
        except Exception as error:  # whatever somebody's files, or network, may raise
            found = f"example {number} raised {type(error).__name__}: {first_line(error)}"
            raise UserError(f"{self._name}: {found}") from error

    @cached_property
    def seen(self) -> tuple[Tensor, Tensor]:
        """Return inputs and targets of some examples, evenly spread."""
        return self[spread(len(self), ITEMS)]

    @property
    def inputs(self) -> Tensor:
        """Return the inputs that can be compared with others: some."""
        return self.seen[0]

    def held(self) -> list:
        """Return what tells these examples from others: their number, what the Dataset holds."""
        return [len(self), repr(contents(self._dataset, ""))]


Examples = Tensors | Fetched


def batches(given: Given, device: torch.device, name: str) -> Examples:
    """Return the examples as batches on a device; as tensors where all of them are in memory.

    UserError, which says `name`, for what are no pairs, and for fewer than two of them.
    """
    parts = list(given) if isinstance(given, tuple | list) else []
    if parts and all(isinstance(part, Tensor) for part in parts):
        if len(parts) != 2:
            raise UserError(f"{name}: found {len(parts)} tensors, expected inputs and targets")
        if len(parts[0]) != len(parts[1]):
            raise UserError(f"{name}: {len(parts[0])} inputs, but {len(parts[1])} targets")
        made = Tensors(*parts, device)
    elif isinstance(given, tuple | dict) or not _has_items(given):
        kinds = ", ".join(type(part).__name__ for part in parts or [given])
        raise UserError(
            f"{name}: found {kinds}; expected two tensors, inputs and targets, or a Dataset of "
            "pairs with a length (no loader: batches are drawn here)"
        )
    else:
        made = Fetched(given, device, name)
    if len(made) < 2:
        raise UserError(f"{name}: found {len(made)}, expected at least 2")
    if isinstance(made, Tensors) or not _in_memory(given):
        return made
    return Tensors(*Fetched(given, torch.device("cpu"), name)[torch.arange(len(made))], device)


def public_examples(public: Given | None, private: Examples, device: torch.device) -> Public:
    """Return all of the public examples; none of the private ones if there are none.

    UserError for a public input that is one of the private ones too.
    """
    if public is None:
        return Public(*private[torch.arange(0)])
    made = batches(public, device, "public")
    found = Public(*made[torch.arange(len(made))])
    known = {row: number for number, row in enumerate(_rows(found.inputs))}
    alike = found.inputs.shape[1:] == private.inputs.shape[1:]
    for part in private.inputs.split(ROWS) if alike else ():
        if shared := known.keys() & _rows(part):
            number = min(known[row] for row in shared)
            raise UserError(
                f"public: example {number} equals a private one; expected inputs that need no "
                "protection"
            )
    return found


def _rows(inputs: Tensor) -> list[bytes]:
    """Return every row as bytes, equal for equal numbers of whatever type."""
    wide = inputs.detach().cpu().double().flatten(1) + 0.0  # of -0.0 as of 0.0
    return [row.tobytes() for row in wide.numpy()]


def _has_items(given: Any) -> bool:
    return all(hasattr(given, name) for name in ("__len__", "__getitem__"))


def _in_memory(given: Any) -> bool:
    """Tell whether examples are tensors, or a list of pairs, or some of such."""
    inner = given.dataset if type(given) is Subset else given
    return _in_memory(inner) if inner is not given else type(given) in (list, TensorDataset)

"""Accuracy and loss of a run's network, or of the networks that its clients keep for themselves."""

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch.nn import functional

from dpfl.contracts.federation import Federation, Visit
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.layout import channels_last
from dpfl.training.trainers import Examples

BATCH = 1000
PARTS = ("train", "test", "validation")
MEASURES = ("accuracy", "loss")
Score = tuple[float | None, float | None]
"""Accuracy, and mean cross-entropy in nats; None on no examples."""


@torch.no_grad()
def score(model: torch.nn.Module, inputs: torch.Tensor, targets: torch.Tensor) -> Score:
    """Return accuracy and mean cross-entropy, in nats, on inputs [N, ...] and targets [N]."""
    if not len(targets):
        return None, None
    correct, loss = 0, 0.0
    for x, y in zip(inputs.split(BATCH), targets.split(BATCH), strict=True):
        outputs = model(channels_last(x))
        correct += int((outputs.argmax(1) == y).sum())
        loss += float(functional.cross_entropy(outputs, y, reduction="sum"))
    return correct / len(targets), loss / len(targets)


@torch.no_grad()
def by_class(
    model: torch.nn.Module, inputs: torch.Tensor, targets: torch.Tensor, classes: int
) -> torch.Tensor:
    """Return mean accuracy and loss on each class [2, classes], 0 where it has no example."""
    sums, counts = torch.zeros(2, classes), targets.bincount(minlength=classes).clamp(min=1)
    for x, y in zip(inputs.split(BATCH), targets.split(BATCH), strict=True):
        outputs = model(channels_last(x))
        losses = functional.cross_entropy(outputs, y, reduction="none")
        found = torch.stack([(outputs.argmax(1) == y).float(), losses])
        sums.index_add_(1, y.cpu(), found.cpu())
    return sums / counts.cpu()


@dataclass(frozen=True)
class Evaluation:
    """Scores the server's network, or with `personal` those of clients, on PARTS.

    A client's own network is scored as if classes were as frequent there as among its examples;
    their mean counts a client by its examples.
    """

    given: Examples
    flat: FlatModel
    rule: Federation
    personal: bool

    def scores(self) -> dict[str, float | None]:
        """Return accuracy and loss on each of PARTS, by the names of a run's metrics."""
        found = self._of_clients() if self.personal else self._of_server()
        return {
            f"{part}_{measure}": value
            for part, own in zip(PARTS, found, strict=True)
            for measure, value in zip(MEASURES, own, strict=True)
        }

    def _of_server(self) -> Iterator[Score]:
        return (score(self.flat.model, *examples) for examples in self._parts())

    def _of_clients(self) -> list[Score]:
        server, dataset = self.flat.get(), self.given.dataset
        total, examples = torch.zeros(len(PARTS), 2), sum(map(len, self.given.members))
        for number, held in enumerate(self.given.members):
            self.flat.set(self.rule.start(Visit(0, number, server)))
            _, labels = dataset.of_training(torch.from_numpy(held))
            shares = labels.bincount(minlength=dataset.classes).float().cpu() / examples
            for at, (x, y) in enumerate(self._parts()):
                total[at] += by_class(self.flat.model, x, y, dataset.classes) @ shares
        self.flat.set(server)
        there = [len(y) > 0 for _, y in self._parts()]
        return [
            tuple(row.tolist()) if own else (None, None)
            for row, own in zip(total, there, strict=True)
        ]

    def _parts(self) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        """Yield the inputs and targets of each of PARTS."""
        dataset = self.given.dataset
        yield dataset.of_training(self.given.seen)
        yield dataset.test_inputs, dataset.test_targets
        yield dataset.of_training(self.given.validation)

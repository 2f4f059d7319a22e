"""What a run begins with: network and loss are tried on drawn examples, never on those given.

Everything is tried on copies, so that nothing that a network keeps of its first inputs is of the
examples. Of these only shapes, types, ranges of some inputs and values of targets are looked at.
What a check finds is told to nobody but the user: go on, or the one line why not.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from dpfl.api import fitness
from dpfl.gradients import require_true_gradients
from dpfl.gradients.example_wise import (
    copied,
    require_enough_digits,
    require_own_outputs,
    spread,
)
from dpfl.gradients.layout import channels_last
from dpfl.gradients.routing import redrawn

LEAST = 64  # examples that are drawn
MOST = 1024  # of them are differentiated
TAME = 3.0  # within which half of them lie, where the given ones reach

Loss = Callable[[Tensor, Tensor], Tensor]
Seen = tuple[Tensor, Tensor]


def require_own(model: nn.Module, loss_fn: Loss, seen: Seen, expected: float) -> Seen:
    """Raise UserError unless outputs, losses and gradients of examples are those of each alone.

    Tried are twice the `expected` examples of a batch, drawn like those `seen`, in training and in
    evaluation, with the weights that are there and with drawn ones. Refused is also a target that
    the loss does not take. Returns what was differentiated.
    """
    name, rows = type(model).__name__, int(max(LEAST, 2 * expected))
    generator = torch.Generator().manual_seed(0)
    inputs = drawn_within(seen[0], rows, generator)
    require_enough_digits(model, name)
    with fitness.told_of(f"model {name} on inputs {fitness.kind(inputs)}"):
        for network in (model, redrawn(model)):
            for training in (not model.training, model.training):
                copy = copied(network).train(training)
                outputs = require_own_outputs(copy, channels_last(inputs), name)
    count = fitness.classes(loss_fn, outputs, seen[1])
    targets = _targets_like(seen[1], count, rows, generator)
    fitness.require_own_losses(loss_fn, outputs, targets)
    with fitness.told_of(f"model {name} on inputs {fitness.kind(inputs)}"):
        some = spread(rows, MOST).to(inputs.device)
        require_true_gradients(model, loss_fn, inputs[some], targets[some])
    return inputs[some], targets[some]


def drawn_within(given: Tensor, rows: int, generator: torch.Generator) -> Tensor:
    """Return inputs drawn between the least and the largest number that each coordinate has.

    A coordinate of whole numbers stays whole, as for token ids. Half of the others come from within
    [-3, 3] where the given ones reach into it: an outlier makes no check blind.
    """
    wide = given.detach().cpu().double().nan_to_num(0.0, 0.0, 0.0)
    low, high = wide.amin(0), wide.amax(0)
    whole = (wide == wide.round()).all(0)
    if given.is_floating_point() and bool((low == high).all()):
        low, high, whole = low - TAME, high + TAME, torch.zeros_like(whole)
    near = (low < TAME) & (high > -TAME) & ~whole
    tame = [torch.where(near, end.clamp(-TAME, TAME), end) for end in (low, high)]
    drawn = []
    for (least, most), size in (((low, high), rows - rows // 2), (tame, rows // 2)):
        parts = torch.rand((size, *low.shape), generator=generator, dtype=torch.float64)
        drawn.append(least + (most - least) * parts)
    found = torch.cat(drawn)
    return torch.where(whole, found.round(), found).to(given)


def _targets_like(
    given: Tensor, classes: int | None, rows: int, generator: torch.Generator
) -> Tensor:
    """Return drawn targets: of all classes, of the values that there are, or like the inputs."""
    if given.is_floating_point() or given.is_complex():
        return drawn_within(given, rows, generator)
    values = given.unique() if classes is None else torch.arange(classes).to(given)
    shape = (rows, *given.shape[1:])
    return values[torch.randint(len(values), shape, generator=generator).to(values.device)]

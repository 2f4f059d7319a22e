"""Whether outputs, losses and gradients are those of each example alone, tried on drawn examples.

Nothing that a network keeps of its first inputs is then of the examples. Of these only shapes,
types, ranges of some inputs and values of targets are looked at. What a check finds is told to
nobody but the user: go on, or the one line why not.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy

import torch
from torch import Tensor, nn

from dpfl.base.errors import UserError
from dpfl.gradients import require_true_gradients
from dpfl.gradients.drawn import copied
from dpfl.gradients.facts import changed, digest, facts
from dpfl.gradients.flat import joined
from dpfl.gradients.layout import channels_last
from dpfl.gradients.losses import LossFunction
from dpfl.gradients.routing import TOLERANCE, Routes, redrawn
from dpfl.privacy.conditions import example_wise

LEAST = 64  # examples that are drawn
MOST = 1024  # of them are differentiated at most
HELD = 2**28  # numbers of their gradients, or so many as LEAST examples have
PARTS = 4  # of what is differentiated, if not all agrees
GROUPS = 8  # of them, and as many single examples, are differentiated without the others
TAME = 3.0  # within which half of them lie, where the given ones reach
_ALONE = 64  # examples whose loss is taken alone
_VALUES = 100  # targets that are no class are tried
_RAISED = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)

Examples = tuple[Tensor, Tensor]


@contextmanager
def one_line(what: str) -> Iterator[None]:
    """Raise errors of a network, a loss or examples as UserError: `what` is tried, and one line."""
    try:
        yield
    except UserError:
        raise
    except _RAISED as error:
        raise UserError(f"{what}: {first_line(error)}") from error


def first_line(error: BaseException) -> str:
    """Return the first line of what an error says."""
    return next(iter(str(error).splitlines()), type(error).__name__)


def require_own(model: nn.Module, loss_fn: LossFunction, seen: Examples, batch: float) -> Examples:
    """Raise UserError unless outputs, losses and gradients of examples are those of each alone.

    Tried are twice the expected examples of a `batch`, drawn like those `seen`, in training and in
    evaluation, with the weights that are there and with drawn ones. Refused is also a target that
    the loss does not take. Returns what was differentiated.
    """
    name, rows = type(model).__name__, int(max(LEAST, 2 * batch))
    generator = torch.Generator().manual_seed(0)
    inputs = drawn_within(seen[0], rows, generator)
    tried = f"model {name} on inputs {_kind(inputs)}"
    example_wise.require_enough_digits(model, name)
    with one_line(tried):
        for network in (model, redrawn(model)):
            for training in (not model.training, model.training):
                copy = copied(network).train(training)
                outputs = example_wise.require_own_outputs(copy, channels_last(inputs), name)
    count = _classes(loss_fn, outputs, seen[1])
    targets = _targets_like(seen[1], count, rows, generator)
    _require_own_losses(loss_fn, outputs, targets)
    size = sum(p.numel() for p in model.parameters() if p.requires_grad)
    most = min(MOST, max(LEAST, HELD // max(size, 1)))
    some = example_wise.spread(rows, most).to(inputs.device)
    with one_line(tried):
        routes = _true_routes(model, loss_fn, inputs[some], targets[some])
        _require_own_gradients(routes, redrawn(model), loss_fn, inputs[some], targets[some])
    return inputs[some], targets[some]


def _true_routes(
    model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
) -> Routes:
    """Return routes that are true on all examples, or on all PARTS of them but one; UserError else.

    Rounding may put a unit of an example on either side of a kink, where both gradients are right.
    """
    try:
        return require_true_gradients(model, loss_fn, inputs, targets)
    except UserError:
        found = []
        for part in zip(inputs.chunk(PARTS), targets.chunk(PARTS), strict=True):
            with suppress(UserError):
                found.append(require_true_gradients(model, loss_fn, *part))
        if len(found) < PARTS - 1:
            raise
        return found[-1]


def _require_own_gradients(
    routes: Routes, model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
) -> None:
    """Raise UserError if gradients of some examples are others in the batch than without the rest.

    A backward pass may depend on the batch where outputs do not. A quarter may differ, at kinks.
    """
    whole = routes.pieces(model, loss_fn, inputs, targets)
    every = torch.arange(len(inputs), device=inputs.device)
    for groups in (every.chunk(GROUPS), every[:: len(every) // GROUPS].split(1)):
        differ = 0
        for group in groups:
            alone = routes.pieces(model, loss_fn, inputs[group], targets[group])
            weights = torch.isin(every, group).to(next(model.parameters()))
            own = joined(alone[name].weighted_sum(weights[group]) for name in alone)
            there = joined(whole[name].weighted_sum(weights) for name in alone)
            apart = float((own - there).abs().max())
            differ += apart > TOLERANCE.get(own.dtype, 1e-4) * float(own.abs().max())  # nan is not
        if differ > len(groups) / 4:
            raise UserError(
                f"model {type(model).__name__}: the gradient of an example depends on the others "
                "of the batch; expected that of each alone"
            )


def _kind(tensor: Tensor) -> str:
    """Return the shape of one of a batch and its type, in words."""
    return f"{tuple(tensor.shape[1:])} each, of {tensor.dtype}"


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
    ends = [(low, high)] * (rows - rows // 2) + [tame] * (rows // 2)
    least, most = (torch.stack(end) for end in zip(*ends, strict=True))
    parts = torch.rand(least.shape, generator=generator, dtype=torch.float64)
    found = least + (most - least) * parts
    return torch.where(whole, found.round(), found).to(given)


def _targets_like(given: Tensor, classes: int | None, rows: int, rng: torch.Generator) -> Tensor:
    """Return drawn targets: of all classes, of the values that there are, or like the inputs."""
    if given.is_floating_point() or given.is_complex():
        return drawn_within(given, rows, rng)
    values = given.unique() if classes is None else torch.arange(classes).to(given)
    chosen = torch.randint(len(values), (rows, *given.shape[1:]), generator=rng)
    return values[chosen.to(values.device)]


def _classes(loss_fn: LossFunction, outputs: Tensor, targets: Tensor) -> int | None:
    """Return how many classes targets are numbers of, as outputs [L, k, ...] and the loss tell.

    None where the loss takes other targets. UserError for one of `targets` [n, ...] that is no
    class and that the loss does not take. Tried on the CPU: a GPU would not go on afterwards.
    """
    if targets.is_floating_point() or targets.is_complex() or outputs.dim() < 2:
        return None
    loss = deepcopy(loss_fn).cpu() if isinstance(loss_fn, nn.Module) else loss_fn
    output, like, count = outputs[:1].cpu(), targets[:1].cpu(), outputs.shape[1]

    def taken(value: int) -> bool:
        try:
            loss(output, torch.full_like(like, value))
        except (IndexError, RuntimeError, TypeError, ValueError):
            return False
        return True

    if not taken(count - 1) or taken(count):
        return None
    others = [value for value in targets.unique().tolist() if not 0 <= value < count]
    for value in others[:_VALUES]:
        if not taken(value):
            words = "0 or 1" if count == 2 else f"0 to {count - 1}"
            raise UserError(f"targets: found {value}, expected {words}")
    return count


def _require_own_losses(loss_fn: LossFunction, outputs: Tensor, targets: Tensor) -> None:
    """Raise UserError unless each of the losses [L] is that of its own example alone.

    Clipping bounds what one example moves only then. Tried on these outputs [L, ...] and on random
    ones in [0, 1), which may be probabilities. A scalar passes: it is taken of every example alone.
    A loss that keeps anything of a batch is refused.
    """
    random = torch.rand(outputs.shape, generator=torch.Generator().manual_seed(0)).to(outputs)
    before = facts(loss_fn, "", digest)
    with one_line(f"loss_fn on outputs {_kind(outputs)} and targets {_kind(targets)}"):
        for tried in (outputs, random):
            losses = loss_fn(tried, targets)
            if losses.dim() and losses.shape != tried.shape[:1]:
                raise UserError(
                    f"loss_fn: it returns {tuple(losses.shape)} for {len(tried)} examples; "
                    f"expected ({len(tried)},) or a scalar"
                )
            if losses.dim() and not _same_alone(loss_fn, losses, tried, targets):
                raise UserError(
                    "loss_fn: the loss of an example depends on the others of the batch; expected "
                    "that of each alone (reduction='none', nothing divided by the size of the "
                    "batch)"
                )
    if (name := changed(before, facts(loss_fn, "", digest))) is not None:
        raise UserError(f"loss_fn: a call changes {name!r}, expected a loss that keeps nothing")


def _same_alone(loss_fn: LossFunction, losses: Tensor, outputs: Tensor, targets: Tensor) -> bool:
    """Tell whether some of the losses are the same in two halves, and one by one."""
    some = example_wise.spread(len(outputs), _ALONE).to(outputs.device)
    parts = [
        torch.cat([loss_fn(*pair) for pair in zip(*batch, strict=True)])
        for size in (len(some) // 2, 1)
        for batch in [(outputs[some].split(size), targets[some].split(size))]
    ]
    return all(example_wise.alike(losses[some], found) for found in parts)

"""By which route the per-example gradient of each parameter is computed, and that it is right.

There are three. Linear, Conv2d and Embedding have formulas of their own. Any other layer that maps
one tensor to one tensor is differentiated alone, from its input and the gradient of its output.
What remains is differentiated through the whole network, one example at a time: weights that are
shared, called twice or used outside of their layer, and attention.

What a network does with its weights is not known from its layers. So a first batch is compared with
autograd, and a layer whose gradient is wrong takes the last route. The routes of a network are
decided once, and again where it has other layers or trains other parameters.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase

from dpfl.base.errors import UserError
from dpfl.gradients import general, losses
from dpfl.gradients.drawn import copied, drawn_like
from dpfl.gradients.layer_capture import MisfitError, capture, named
from dpfl.gradients.layer_gradients import Formula, formula
from dpfl.gradients.layout import channels_last
from dpfl.gradients.losses import LossFunction
from dpfl.gradients.parameter_gradients import Piece

TOLERANCE = {torch.float32: 1e-4, torch.float64: 1e-9}
BESIDE = 0.1  # of the network's largest entry: a parameter with less is compared with that
TRIED = 8  # examples
LEAST_TRIED = 4


@dataclass(frozen=True)
class Layer:
    """How the gradients of a layer are made of its input and its output's, and of what.

    `number` is its place among _modules(model), where it is found faster than by its path.
    """

    number: int
    formula: Formula
    names: tuple[str, ...]

    @property
    def told(self) -> str:
        """Return the route in words."""
        alone = self.formula is general.of_layer
        return "its layer, differentiated alone" if alone else "a formula of its layer"


@dataclass(frozen=True)
class Routes:
    """The routes of a network's trained parameters: layers by path, and all shapes by name."""

    layers: dict[str, Layer]
    shapes: dict[str, torch.Size]

    @cached_property
    def rest(self) -> tuple[str, ...]:
        """Return the parameters that the whole network is differentiated for."""
        own = {name for layer in self.layers.values() for name in layer.names}
        return tuple(name for name in self.shapes if name not in own)

    def without(self, paths: Iterable[str]) -> "Routes":
        """Return the same where these layers have no route of their own."""
        left = {path: layer for path, layer in self.layers.items() if path not in set(paths)}
        return Routes(left, self.shapes)

    def told(self) -> dict[str, str]:
        """Return the route of every parameter in words."""
        words = dict.fromkeys(self.shapes, "the whole network, one example at a time")
        for layer in self.layers.values():
            words.update(dict.fromkeys(layer.names, layer.told))
        return words

    def pieces(
        self, model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
    ) -> dict[str, Piece]:
        """Return what the gradients are held as, by parameter; none for those that are 0.

        MisfitError for a layer that does not fit its route.
        """
        pieces: dict[str, Piece] = {}
        modules = _modules(model)
        layers = {path: modules[layer.number] for path, layer in self.layers.items()}
        found = capture(model, layers, loss_fn, inputs, targets) if layers else {}
        for path, layer in self.layers.items():
            if path in found:
                try:
                    made = layer.formula(layers[path], *found.pop(path))
                except general.FuncError as error:
                    raise MisfitError(model, path, str(error)) from error
                pieces.update(zip(layer.names, made, strict=True))
        if rest := self.rest:
            try:
                pieces |= general.of_network(model, rest, loss_fn, inputs, targets)
            except general.FuncError as error:
                raise MisfitError(model, None, str(error)) from error
        return pieces


_DECIDED: WeakKeyDictionary[nn.Module, tuple[tuple, Routes]] = WeakKeyDictionary()


def routes(model: nn.Module) -> dict[str, str]:
    """Return the route of every trained parameter in words, as decided at the start of a run.

    UserError names a layer that has none.
    """
    return (_known(model) or _candidates(model)).told()


def decided(model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor) -> Routes:
    """Return the routes of a network: those that are known, or else tried on inputs like these.

    UserError names a layer whose gradient no route gives. Without an example nothing is tried.
    """
    if (known := _known(model)) is not None:
        return known
    if not len(inputs):
        return _candidates(model)
    repeats = -(-LEAST_TRIED // len(inputs))
    targets = torch.cat([targets[:TRIED]] * repeats)[:TRIED]
    drawn = drawn_like(inputs, len(targets), torch.Generator().manual_seed(0))
    return require_true_gradients(model, loss_fn, drawn, targets)


def require_true_gradients(
    model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
) -> Routes:
    """Decide the routes anew, so that sums of per-example gradients are those of autograd.

    The examples, at least two, are tried with weights that are drawn, then with those that are
    there: all together and in two halves, each example with another weight. UserError names a layer
    whose gradient no route gives, and what mixes the examples of a batch.
    """
    found = _candidates(model)
    on_gpu = [inputs.device] if inputs.is_cuda else []
    with torch.random.fork_rng(on_gpu):
        for network in (redrawn(model), model):
            found = _true(network, found, loss_fn, inputs, targets)
    _DECIDED[model] = (_signature(model), found)
    return found


def redrawn(model: nn.Module) -> nn.Module:
    """Return a copy whose parameters are drawn anew, at the size that usual first weights have.

    With the first weights, what a weight does may be hidden behind one that is 0.
    """
    copy, generator = copied(model), torch.Generator().manual_seed(0)
    with torch.no_grad():
        for p in copy.parameters():
            inputs = p[0].numel() if p.dim() > 1 else p.numel()
            p.copy_(torch.randn(p.shape, generator=generator) / max(inputs, 1) ** 0.5)
    return copy


def _known(model: nn.Module) -> Routes | None:
    signature, found = _DECIDED.get(model, (None, None))
    return found if found is not None and signature == _signature(model) else None


def _modules(model: nn.Module) -> list[nn.Module]:
    """Return a network and all modules in it, faster than modules() by not naming them."""
    found = [model]
    for module in found:
        found.extend(inner for inner in module._modules.values() if inner is not None)
    return found


def _signature(model: nn.Module) -> tuple:
    """Return what the routes depend on, which a layer or a frozen parameter changes."""
    found: list[Any] = []
    for layer in _modules(model):
        found.append(id(layer))
        found += [(id(p), p.requires_grad) for p in layer._parameters.values() if p is not None]
    return tuple(found)


def _candidates(model: nn.Module) -> Routes:
    """Return the routes as far as the kinds of layers tell; UserError for one that has none."""
    owners: dict[int, list[str]] = {}
    layers: dict[str, Layer] = {}
    numbers = {id(layer): number for number, layer in enumerate(_modules(model))}
    for path, layer in model.named_modules():
        _require_alone(model, path, layer)
        own = [(n, p) for n, p in layer._parameters.items() if p is not None and p.requires_grad]
        for _, p in own:
            owners.setdefault(id(p), []).append(path)
        below = any(len(child._parameters) for child in layer.modules() if child is not layer)
        if own and not below:
            names = tuple(f"{path}.{name}".lstrip(".") for name, _ in own)
            layers[path] = Layer(numbers[id(layer)], formula(layer) or general.of_layer, names)
    shared = {path for paths in owners.values() if len(paths) > 1 for path in paths}
    shapes = {name: p.shape for name, p in model.named_parameters() if p.requires_grad}
    if not shapes:
        raise UserError("model: it has no parameter that is trained (requires_grad)")
    return Routes(layers, shapes).without(shared)


def _require_alone(model: nn.Module, path: str, layer: nn.Module) -> None:
    keeps = isinstance(layer, _NormBase) and layer.track_running_stats
    if keeps or isinstance(layer, _BatchNorm):
        raise UserError(f"layer {named(model, path)} mixes the examples of a batch")
    if isinstance(layer, nn.RNNBase) and any(p.requires_grad for p in layer.parameters()):
        raise UserError(
            f"no per-example gradient known for layer {named(model, path)}: torch.func.vmap does "
            "not run it; a cell of Linear layers does"
        )


def _true(
    model: nn.Module, found: Routes, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
) -> Routes:
    """Return the routes, without those layers that autograd or their own pass contradict."""
    while True:
        try:
            wrong, why = _wrong(model, found, loss_fn, inputs, targets), "it is not autograd's"
        except MisfitError as misfit:
            fits = misfit.path is None
            wrong, why = set(found.rest if fits else found.layers[misfit.path].names), misfit.why
        if not wrong:
            return found
        paths = [path for path, layer in found.layers.items() if wrong & set(layer.names)]
        if not paths:
            raise _refused(model, min(wrong), why)
        found = found.without(paths)


def _wrong(
    model: nn.Module, found: Routes, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
) -> set[str]:
    """Return the parameters whose weighted sum of gradients is not autograd's."""
    half = len(inputs) // 2
    wrong = set()
    for some in (slice(None), slice(half), slice(half, None)):
        x, y = inputs[some], targets[some]
        dtype = next(model.parameters()).dtype
        weights = torch.linspace(0.5, 1.5, len(x), dtype=dtype, device=x.device)
        expected = _by_autograd(model, found.shapes, loss_fn, x, y, weights)
        torch.manual_seed(0)
        made = found.pieces(model, loss_fn, x, y)
        largest = max(float(g.abs().max()) for g in expected.values() if g.numel())
        if not math.isfinite(largest):
            continue  # nothing can be told from these examples
        for name, gradient in expected.items():
            own = made[name].weighted_sum(weights) if name in made else torch.zeros_like(gradient)
            scale = max(float(gradient.abs().max()), BESIDE * largest)
            if not float((own - gradient).abs().max()) <= TOLERANCE.get(dtype, 1e-4) * scale:
                wrong.add(name)
    return wrong


def _by_autograd(
    model: nn.Module,
    names: Iterable[str],
    loss_fn: LossFunction,
    inputs: Tensor,
    targets: Tensor,
    weights: Tensor,
) -> dict[str, Tensor]:
    torch.manual_seed(0)
    known = dict(model.named_parameters())
    own = [known[name] for name in names]
    with torch.enable_grad():
        each = losses.of_examples(loss_fn, model(channels_last(inputs)), targets)
        total = (each * weights).sum()
    grads = torch.autograd.grad(total, own, allow_unused=True, materialize_grads=True)
    dense = (g.to_dense() if g.is_sparse else g for g in grads)
    return dict(zip(names, dense, strict=True))


def _refused(model: nn.Module, name: str, why: str) -> UserError:
    path = name.rpartition(".")[0]
    hint = ""
    if getattr(model.get_submodule(path), "affine", False):
        hint = "; with affine=False it has no parameters, and passes"
    return UserError(f"no per-example gradient known for layer {named(model, path)}: {why}{hint}")

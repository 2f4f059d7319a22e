"""Per-example gradients without a second backward pass.

One forward, one autograd.grad with respect to the layer outputs; each layer then holds what its
per-example gradients are made of, and gives their norms and any weighted sum of them.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.grad import conv2d_weight
from torch.nn.modules.batchnorm import _BatchNorm

from dpfl.errors import UserError

LossFunction = Callable[[Tensor, Tensor], Tensor]


def clipped_sum(
    model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor, clip_norm: float
) -> tuple[list[Tensor], Tensor]:
    """Return sum_i g_i min(1, C/|g_i|), shaped like model.parameters(), and the norms |g_i| [L].

    An example whose gradient is not finite adds nothing, so that the sum always moves by at most
    `clip_norm` when one example is added or removed (Abadi et al. 2016, algorithm 1).
    """
    gradients = PerExampleGradients(model, loss_fn, inputs, targets)
    norms = gradients.norms()
    finite = norms.isfinite()
    if not finite.all():
        total, _ = clipped_sum(model, loss_fn, inputs[finite], targets[finite], clip_norm)
        return total, norms
    return gradients.weighted_sum((clip_norm / norms).clamp_(max=1)), norms


class PerExampleGradients:
    """The gradients g_i [L, D] of a batch, never written out as one matrix.

    `loss_fn(outputs, targets)` gives one loss per example [L], or a scalar, which is then applied
    to every example alone. UserError names a layer whose per-example gradient is unknown.
    """

    def __init__(
        self, model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
    ) -> None:
        self._model = model
        self._layers = _capture(model, loss_fn, inputs, targets) if len(inputs) else []
        self._no_norms = inputs.new_zeros(len(inputs))

    def norms(self) -> Tensor:
        """Return |g_i| [L], over all parameters together."""
        rows = [norms for layer in self._layers for norms in layer.norms()]
        return torch.linalg.vector_norm(torch.stack(rows), dim=0) if rows else self._no_norms

    def weighted_sum(self, weights: Tensor) -> list[Tensor]:
        """Return sum_i w_i g_i for weights [L], shaped like model.parameters()."""
        sums = {p: s for layer in self._layers for p, s in layer.weighted_sum(weights)}
        return [sums[p] if p in sums else torch.zeros_like(p) for p in self._model.parameters()]


class _RankOne:
    """G_i = b_i a_i^T: a Linear layer that sees one vector per example."""

    def __init__(self, layer: nn.Linear, a: Tensor, b: Tensor) -> None:
        self._layer, self._a, self._b = layer, a, b

    def norms(self):
        a, b = (torch.linalg.vector_norm(t, dim=1) for t in (self._a, self._b))
        return [a * b] if self._layer.bias is None else [a * b, b]

    def weighted_sum(self, weights):
        weighted = self._b * weights.unsqueeze(1)
        yield self._layer.weight, weighted.t() @ self._a
        if self._layer.bias is not None:
            yield self._layer.bias, weighted.sum(0)


class _Blocks:
    """G_i written out, in chunks of rows [l, P] that each fit the cache."""

    def __init__(self, layer: nn.Module, chunks: list[Tensor], bias: Tensor, fold) -> None:
        self._layer, self._chunks, self._bias, self._fold = layer, chunks, bias, fold

    def norms(self):
        norms = torch.cat([torch.linalg.vector_norm(c, dim=1) for c in self._chunks])
        bias = self._layer.bias
        return [norms] if bias is None else [norms, torch.linalg.vector_norm(self._bias, dim=1)]

    def weighted_sum(self, weights):
        parts = weights.split([len(c) for c in self._chunks])
        row = sum(w @ chunk for w, chunk in zip(parts, self._chunks, strict=True))
        yield self._layer.weight, self._fold(row)
        if self._layer.bias is not None:
            yield self._layer.bias, weights @ self._bias


class _Gram:
    def __init__(self, conv, x, b):
        self._layer, self._x, self._b = conv, x, b
        self._bias = b.sum((2, 3))

    def norms(self):
        L, c, h, w = self._x.shape
        size = max(1, 2**20 // (h*w)**2)
        out = torch.cat([_gram_norms(self._layer, x, b) for x, b in zip(self._x.split(size), self._b.split(size))])
        return [out] if self._layer.bias is None else [out, torch.linalg.vector_norm(self._bias, dim=1)]

    def weighted_sum(self, weights):
        l = self._layer
        yield l.weight, conv2d_weight(self._x, l.weight.shape, self._b * weights.view(-1,1,1,1), l.stride, _pad2(l))
        if l.bias is not None:
            yield l.bias, weights @ self._bias

def _pad2(l):
    return l.padding

def _gram_norms(conv, x, b):
    (kh, kw), (sh, sw) = conv.kernel_size, conv.stride
    x = functional.pad(x.permute(0, 2, 3, 1), (0, 0, *_padding(conv)))
    l, h, w, c = x.shape; oh, ow = b.shape[2:]
    x = x.reshape(l, h*w, c)
    M = torch.bmm(x, x.transpose(1,2))
    n = h*w
    def v(d): return M.as_strided((l,oh,ow,oh,ow),(n*n, sh*w*n, sw*n, sh*w, sw), d*(n+1))
    K = v(0).clone()
    for i in range(kh):
        for j in range(kw):
            if i or j: K += v(i*w+j)
    b = b.flatten(2)
    B = torch.bmm(b.transpose(1,2), b)
    return torch.linalg.vecdot(K.view(l,-1), B.view(l,-1)).clamp_(min=0).sqrt_()


def _grouped(conv, x, b):
    l, c, h, w = x.shape; o, oh, ow = b.shape[1:]
    xx = x.permute(2,3,0,1).reshape(1,h,w,l*c).permute(0,3,1,2)
    bb = b.permute(2,3,0,1).reshape(1,oh,ow,l*o).permute(0,3,1,2)
    return conv2d_weight(xx, (l*o, c, *conv.kernel_size), bb, conv.stride, _pad2(conv), 1, l).permute(0,2,3,1).reshape(l, -1)

def _columns(conv, x, b):
    (kh, kw), (sh, sw) = conv.kernel_size, conv.stride
    x = functional.pad(x.permute(0, 2, 3, 1), (0, 0, *_padding(conv))).contiguous()
    length, _, _, channels = x.shape
    (oh, ow), (n, h, w, c) = b.shape[2:], x.stride()
    shape = (length, oh, ow, kh, kw, channels)
    windows = x.as_strided(shape, (n, h * sh, w * sw, h, w, c))
    columns = windows.reshape(length, oh * ow, -1)
    return torch.bmm(b.flatten(2), columns).flatten(1)

def _linear(layer: nn.Linear, a: Tensor, b: Tensor):
    if a.dim() == 2:
        return _RankOne(layer, a, b)
    a, b = a.flatten(1, -2), b.flatten(1, -2)
    return _Blocks(layer, [torch.bmm(b.transpose(1, 2), a).flatten(1)], b.sum(1), lambda row: row.view_as(layer.weight))

import os
def _conv2d(conv: nn.Conv2d, x: Tensor, b: Tensor):
    o, c, kh, kw = conv.weight.shape
    positions = b[0,0].numel()
    P = conv.weight.numel()
    if P >= 16 * positions**2:
        return _Gram(conv, x, b)
    if P * positions > 800_000:
        size, f = 8, _grouped
    else:
        size, f = max(1, 2**20 // (positions*c*kh*kw)), _columns
    fold = lambda row: row.view(o, kh, kw, c).permute(0, 3, 1, 2)
    chunks = [f(conv, xx, bb) for xx, bb in zip(x.split(size), b.split(size))]
    return _Blocks(conv, chunks, b.sum((2,3)), fold)


_LAYERS = {nn.Linear: _linear, nn.Conv2d: _conv2d}


def _padding(conv: nn.Conv2d) -> tuple[int, int, int, int]:
    """Left, right, top, bottom."""
    if conv.padding == "valid":
        return 0, 0, 0, 0
    kh, kw = conv.kernel_size
    if conv.padding == "same":
        return (kw - 1) // 2, kw // 2, (kh - 1) // 2, kh // 2
    ph, pw = conv.padding
    return pw, pw, ph, ph


def _capture(
    model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
) -> list:
    """Run the model once forward and once backward, keeping every layer's input and gradient."""
    calls: dict[nn.Module, tuple] = {}
    names = {module: path for path, module in model.named_modules()}

    def keep(module: nn.Module, args: tuple[Tensor], output: Tensor) -> Tensor:
        if module in calls:
            raise UserError(f"layer {names[module]!r} is called twice in one forward pass")
        if not output.requires_grad:
            output = output.detach().requires_grad_().view_as(output)
        calls[module] = args[0].detach(), torch.autograd.graph.get_gradient_edge(output)
        return output

    hooks = [layer.register_forward_hook(keep) for layer in _layers_of(model)]
    try:
        with torch.enable_grad():
            outputs = model(_channels_last(inputs))
            total = _losses(loss_fn, outputs, targets).sum()
    finally:
        for hook in hooks:
            hook.remove()
    edges = [edge for _, edge in calls.values()]
    grads = torch.autograd.grad(total, edges, allow_unused=True)
    return [
        _LAYERS[type(module)](module, activations, grad)
        for (module, (activations, _)), grad in zip(calls.items(), grads, strict=True)
        if grad is not None
    ]


def _channels_last(inputs: Tensor) -> Tensor:
    if inputs.dim() != 4:
        return inputs
    n, c, h, w = inputs.shape
    nhwc = inputs.permute(0, 2, 3, 1).contiguous()
    return nhwc.as_strided((n, c, h, w), (h * w * c, 1, w * c, c))  # also where c is 1


def _losses(loss_fn: LossFunction, outputs: Tensor, targets: Tensor) -> Tensor:
    losses = loss_fn(outputs, targets)
    if losses.dim() == 0:
        pairs = zip(outputs.split(1), targets.split(1), strict=True)
        return torch.stack([loss_fn(output, target) for output, target in pairs])
    if losses.shape != outputs.shape[:1]:
        found = tuple(losses.shape)
        raise UserError(f"the loss has shape {found}, expected ({len(outputs)},) or a scalar")
    return losses


def _layers_of(model: nn.Module) -> list[nn.Module]:
    """Return the layers with parameters; UserError names the first that is not supported."""
    layers, seen = [], {}
    for path, module in model.named_modules():
        parameters = list(module.parameters(recurse=False))
        if isinstance(module, _BatchNorm) or getattr(module, "track_running_stats", False):
            raise UserError(f"layer {path!r} ({type(module).__name__}) mixes the batch's examples")
        if not parameters:
            continue
        _require_support(path, module)
        for parameter in parameters:
            if id(parameter) in seen:
                raise UserError(f"layers {seen[id(parameter)]!r} and {path!r} share a parameter")
            seen[id(parameter)] = path
        layers.append(module)
    return layers


def _require_support(path: str, module: nn.Module) -> None:
    name = type(module).__name__
    if type(module) not in _LAYERS:
        raise UserError(f"no per-example gradient known for layer {path!r} ({name})")
    if isinstance(module, nn.Conv2d):
        wanted = {"dilation": (1, 1), "groups": 1, "padding_mode": "zeros"}
        for key, value in wanted.items():
            if (found := getattr(module, key)) != value:
                raise UserError(f"layer {path!r} ({name}): {key} is {found}, supported is {value}")

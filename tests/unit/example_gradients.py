"""Per-example gradients, one example at a time, and what the engine finds beside them."""

from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import partial
from unittest import mock

import torch
from torch.nn.functional import cross_entropy

from dpfl import models
from dpfl.gradients import (
    PerExampleGradients,
    convolution,
    finite,
    layer_gradients,
    parameter_gradients,
)

SHAPES = {
    "mnist-cnn": (1, 28, 28),
    "mnist-cnn-tanh": (1, 28, 28),
    "digits-cnn": (1, 8, 8),
    "cifar10-cnn": (3, 32, 32),
}
TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-10}
each_cross_entropy = partial(cross_entropy, reduction="none")


def each_square(outputs, targets):
    return outputs.flatten(1).square().sum(1)


def shipped(name, length, dtype=torch.float64):
    generator = torch.Generator().manual_seed(length)
    model = models.build(name, generator).to(dtype)
    inputs = torch.randn(length, *SHAPES[name], dtype=dtype, generator=generator)
    return model, inputs, torch.randint(10, (length,), generator=generator)


def flat(tensors):
    return torch.cat([t.detach().flatten() for t in tensors])


def naive(model, inputs, targets, loss_fn=cross_entropy):
    """Rows g_i [L, D] in float64, by one forward and one backward pass per example."""
    model, inputs = deepcopy(model).double(), inputs.double()
    parameters, rows = list(model.parameters()), []
    for x, y in zip(inputs.split(1), targets.split(1), strict=True):
        loss = loss_fn(model(x), y).sum()
        rows.append(
            flat(torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True))
        )
    return torch.stack(rows)


def assert_equal(found, expected, tolerance):
    """Equal relative to the largest entry and to the norm."""
    difference = found.double() - expected
    assert difference.abs().max() <= tolerance * expected.abs().max()
    assert difference.norm() <= tolerance * expected.norm()


def clipped_sum(model, loss_fn, inputs, targets, clip_norm):
    """The sum over the examples whose gradient is finite, as mechanisms take it, and all norms."""
    norms = PerExampleGradients(model, loss_fn, inputs, targets).norms()
    return finite(model, loss_fn, inputs, targets)[0].clipped_sum(clip_norm), norms


def check(model, inputs, targets, loss_fn=each_cross_entropy, oracle_loss=cross_entropy):
    """Norms, the clipped sum and all else that the engine gives against the naive rows."""
    tolerance = TOLERANCE[inputs.dtype]
    rows = naive(model, inputs, targets, oracle_loss)
    norms = rows.norm(dim=1)
    clip_norm = norms.median().item()
    total, found = clipped_sum(model, loss_fn, inputs, targets, clip_norm)
    assert [t.shape for t in total] == [p.shape for p in model.parameters()]
    assert {t.dtype for t in total} == {inputs.dtype}
    assert_equal(found, norms, tolerance)
    assert_equal(flat(total), (clip_norm / norms).clamp(max=1) @ rows, tolerance)
    weights = torch.linspace(-1, 2, len(inputs), dtype=inputs.dtype, device=inputs.device)
    gradients = PerExampleGradients(model, loss_fn, inputs, targets)
    assert_equal(flat(gradients.weighted_sum(weights)), weights.double() @ rows, tolerance)
    weights = torch.stack([weights, weights.square()])
    assert_equal(gradients.combinations(weights), weights.double() @ rows, tolerance)
    check_by_parameter(gradients, rows, tolerance)
    found = gradients.gram()
    assert_equal(found, rows @ rows.t(), tolerance)
    assert torch.equal(found, found.t())
    assert_equal(gradients.rows(), rows, tolerance)
    generator = torch.Generator().manual_seed(3)
    vectors = torch.randn(3, rows.shape[1], dtype=inputs.dtype, generator=generator).to(inputs)
    expected = rows @ vectors.double().t()
    difference = gradients.inner(vectors).double() - expected  # random vectors: the terms cancel
    assert difference.norm() <= tolerance * rows.norm() * vectors.norm()
    assert difference.abs().max() <= tolerance * norms.max() * vectors.norm(dim=1).max()


def check_by_parameter(gradients, rows, tolerance):
    """Norms by parameter and a sum with one bound for each, against the naive rows' columns."""
    sums = gradients.weighted_sum(gradients.norms().new_zeros(len(rows)))
    parts = rows.split([total.numel() for total in sums], dim=1)
    expected = torch.stack([part.norm(dim=1) for part in parts])
    found = gradients.parameter_norms()
    assert found is gradients.parameter_norms() and gradients.parameter_count == len(parts)
    above = (found.double() - expected) / expected.max()
    assert above.min() >= -tolerance and above.max() <= 10 * tolerance  # with what rounding may add
    assert torch.equal(torch.linalg.vector_norm(found, dim=0), gradients.norms())
    bounds = [float(norms.median()) + 1e-3 * float(expected.max()) for norms in expected]
    sums = gradients.clipped_sum_by_parameter(bounds)
    for total, part, norms, c in zip(sums, parts, found.double(), bounds, strict=True):
        clipped = (c / norms).clamp(max=1) @ part
        assert (total.flatten().double() - clipped).norm() <= tolerance * len(rows) * c


NEVER = 10**18
SMALL = {"NUMBERS_PER_CHUNK": {"cpu": 500}, "CHUNKS_PER_BLOCK": 1, "ROWS_OF_GRAM": 2}
ROUTES = {
    "as shipped": {},
    "gram": {"GRAM_FROM": 0},
    "gram in blocks": {"GRAM_FROM": 0, **SMALL},
    "groups": {"GRAM_FROM": NEVER, "GROUPS_FROM": 0, "EXAMPLES_PER_GROUPED_CALL": 2},
    "windows": {"GRAM_FROM": NEVER, "GROUPS_FROM": NEVER, **SMALL},
}


@contextmanager
def patched(constants):
    """Set constants of whichever module of the engine reads them."""
    with ExitStack() as stack:
        for module in (layer_gradients, parameter_gradients, convolution):
            known = {name: value for name, value in constants.items() if name in vars(module)}
            stack.enter_context(mock.patch.dict(vars(module), known))
        yield

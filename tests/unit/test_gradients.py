"""The per-example gradient engine against autograd run on every example alone, and Opacus."""

from contextlib import ExitStack, contextmanager
from copy import deepcopy
from functools import partial
from unittest import mock

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.nn.utils import prune
from torch.utils._python_dispatch import TorchDispatchMode

from dpfl import models
from dpfl.errors import UserError
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


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("length", [1, 2, 7, 33])
@pytest.mark.parametrize("name", SHAPES)
def test_every_network_equals_one_example_at_a_time(name, length, dtype):
    check(*shipped(name, length, dtype))


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


convolutions = st.fixed_dictionaries(
    {
        "in_channels": st.integers(1, 4),
        "out_channels": st.integers(1, 5),
        "kernel_size": st.tuples(st.integers(1, 4), st.integers(1, 4)),
        "stride": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "padding": st.tuples(st.integers(0, 3), st.integers(0, 3)),
        "bias": st.booleans(),
    }
)


@pytest.mark.parametrize("route", ROUTES)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    conv=convolutions,
    height=st.integers(4, 12),
    width=st.integers(4, 12),
    length=st.sampled_from([1, 3, 9]),
    dtype=st.sampled_from(list(TOLERANCE)),
)
def test_odd_convolutions_by_every_route(route, conv, height, width, length, dtype):
    torch.manual_seed(0)
    first = nn.Conv2d(**conv)
    second = nn.Conv2d(conv["out_channels"], 3, 2, padding=1, bias=not conv["bias"])
    model = nn.Sequential(first, nn.Tanh(), second).to(dtype)
    inputs = torch.randn(length, conv["in_channels"], height, width, dtype=dtype)
    with patched(ROUTES[route]):
        check(model, inputs, torch.zeros(length), each_square, each_square)


def test_the_shipped_networks_use_every_route():
    found = set()
    for name in SHAPES:
        model, inputs, targets = shipped(name, 2)
        gradients = PerExampleGradients(model, each_cross_entropy, inputs, targets)
        found |= {type(piece) for piece in gradients._pieces}
    assert found == {
        parameter_gradients.Factors,
        parameter_gradients.Rows,
        parameter_gradients.Chunks,
        parameter_gradients.Gram,
    }


@pytest.mark.parametrize("padding", ["same", "valid"])
def test_padding_by_name(padding):
    torch.manual_seed(0)
    model = nn.Conv2d(2, 3, (5, 3), padding=padding).double()
    inputs = torch.randn(3, 2, 6, 7, dtype=torch.float64)
    check(model, inputs, torch.zeros(3), each_square, each_square)


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    shape=st.lists(st.integers(1, 5), min_size=0, max_size=2),
    width=st.integers(1, 6),
    bias=st.booleans(),
    length=st.sampled_from([1, 4]),
    constants=st.sampled_from([{}, SMALL, {"NUMBERS_PER_CHUNK": {"cpu": 1}}]),
)
def test_linear_layers_over_sequences(shape, width, bias, length, constants):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(width, 4, bias=bias), nn.ReLU(), nn.Linear(4, 2)).double()
    inputs = torch.randn(length, *shape, width, dtype=torch.float64)
    with patched(constants):
        check(model, inputs, torch.zeros(length), each_square, each_square)


class Branches(nn.Module):
    """Not a Sequential: a skip connection, in-place activations, a head that is never called."""

    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Conv2d(2, 4, 3, padding=1), nn.Conv2d(2, 4, 1, bias=False)
        self.unused, self.act = nn.Linear(3, 3), nn.ReLU(inplace=True)
        self.out = nn.Linear(4, 10)

    def forward(self, x):
        return self.out((self.act(self.left(x)) + self.right(x)).mean((2, 3)))


def test_a_general_module():
    torch.manual_seed(0)
    inputs = torch.randn(5, 2, 6, 6, dtype=torch.float64)
    check(Branches().double(), inputs, torch.arange(5))


def test_hooks_of_the_user_are_part_of_the_network():
    model, inputs, targets = shipped("digits-cnn", 3)
    handle = model[3].register_forward_hook(lambda module, args, output: 3 * output)
    copied = deepcopy(model)
    check(model, inputs, targets)
    assert list(model[3]._forward_hooks) == [handle.id]
    handle.remove()
    assert not torch.equal(model(inputs), copied(inputs))


def test_parameters_need_not_require_gradients():
    model, inputs, targets = shipped("digits-cnn", 3)
    expected = clipped_sum(model, each_cross_entropy, inputs, targets, 0.1)
    found = clipped_sum(model.requires_grad_(False), each_cross_entropy, inputs, targets, 0.1)
    assert torch.equal(flat(found[0]), flat(expected[0]))
    assert torch.equal(found[1], expected[1])


@pytest.mark.parametrize("name", SHAPES)
def test_an_empty_batch_gives_zeros(name):
    model, inputs, targets = shipped(name, 0)
    total, norms = clipped_sum(model, each_cross_entropy, inputs, targets, 1.0)
    assert norms.shape == (0,)
    assert [t.shape for t in total] == [p.shape for p in model.parameters()]
    assert not flat(total).any()
    gradients, norms = finite(model, each_cross_entropy, inputs, targets)
    layers = len(total)
    assert gradients.parameter_norms().shape == (layers, 0)
    assert not flat(gradients.clipped_sum_by_parameter([1.0] * layers)).any()
    size = flat(total).numel()
    assert gradients.gram().shape == (0, 0)
    assert gradients.inner(torch.ones(2, size, dtype=inputs.dtype)).shape == (0, 2)
    assert gradients.rows().shape == (0, size)
    combined = gradients.combinations(inputs.new_zeros(2, 0))
    assert combined.shape == (2, size) and not combined.any()
    assert norms.shape == (0,)


def test_zero_gradients_are_safe():
    model, inputs, targets = shipped("digits-cnn", 3)
    zero = lambda outputs, _: 0 * outputs.sum(1)  # noqa: E731
    total, norms = clipped_sum(model, zero, inputs, targets, 1.0)
    assert not norms.any()
    assert not flat(total).any()


@pytest.mark.parametrize("loss_fn", [cross_entropy, partial(cross_entropy, reduction="sum")])
def test_a_scalar_loss_is_applied_to_every_example_alone(loss_fn):
    check(*shipped("digits-cnn", 5), loss_fn=loss_fn)


def test_a_loss_of_another_shape_is_refused():
    model, inputs, targets = shipped("digits-cnn", 3)
    with pytest.raises(UserError, match=r"\(3, 10\).*\(3,\)"):
        clipped_sum(model, lambda outputs, _: outputs, inputs, targets, 1.0)


@pytest.mark.filterwarnings("ignore:Full backward hook")
@pytest.mark.parametrize("mode", ["functorch", "hooks"])
@pytest.mark.parametrize("name", SHAPES)
def test_equal_to_opacus(name, mode):
    """In NCHW: the hooks of Opacus 1.6 are wrong, without a word, for channels-last inputs."""
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    model, inputs, targets = shipped(name, 6)
    clip_norm = 0.5
    found, _ = clipped_sum(model, each_cross_entropy, inputs, targets, clip_norm)
    peer = GradSampleModule(
        deepcopy(model), force_functorch=mode == "functorch", loss_reduction="sum"
    )
    sgd = torch.optim.SGD(peer.parameters(), lr=0.1)
    optimizer = DPOptimizer(
        sgd, noise_multiplier=0.0, max_grad_norm=clip_norm, expected_batch_size=1
    )
    cross_entropy(peer(inputs), targets, reduction="sum").backward()
    optimizer.clip_and_accumulate()
    expected = flat([p.summed_grad for p in peer.parameters()])
    assert_equal(flat(found), expected, 1e-5)  # Opacus adds 1e-6 to every norm


@settings(max_examples=30, deadline=None, derandomize=True)
@given(
    clip_norm=st.floats(1e-3, 1e3),
    scale=st.floats(1e-3, 1e4),
    removed=st.integers(0, 5),
    name=st.sampled_from(["mnist-cnn", "digits-cnn"]),
)
def test_one_example_moves_the_sum_by_at_most_the_clip_norm(clip_norm, scale, removed, name):
    model, inputs, targets = shipped(name, 6)
    inputs[removed] *= scale
    kept = [i for i in range(6) if i != removed]
    total, norms = clipped_sum(model, each_cross_entropy, inputs, targets, clip_norm)
    without, _ = clipped_sum(model, each_cross_entropy, inputs[kept], targets[kept], clip_norm)
    moved = (flat(total) - flat(without)).norm().item()
    assert moved <= clip_norm * (1 + 1e-9)
    assert moved == pytest.approx(min(clip_norm, norms[removed].item()), rel=1e-6)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e300])
def test_an_example_without_a_finite_gradient_adds_nothing(bad):
    model, inputs, targets = shipped("mnist-cnn", 4)
    expected, _ = clipped_sum(model, each_cross_entropy, inputs[1:], targets[1:], 0.5)
    inputs[0] = bad
    total, norms = clipped_sum(model, each_cross_entropy, inputs, targets, 0.5)
    assert norms.isfinite().tolist() == [False, True, True, True]
    assert torch.equal(flat(total), flat(expected))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e300])
def test_finite_leaves_out_the_examples_without_a_finite_gradient(bad):
    model, inputs, targets = shipped("mnist-cnn", 4)
    expected = naive(model, inputs[[0, 2, 3]], targets[[0, 2, 3]])
    inputs[1] = bad
    gradients, norms = finite(model, each_cross_entropy, inputs, targets)
    assert_equal(norms, expected.norm(dim=1), 1e-10)
    assert_equal(gradients.gram(), expected @ expected.t(), 1e-10)
    assert torch.equal(gradients.norms(), norms)


def test_finite_leaves_out_a_norm_whose_square_overflows():
    torch.manual_seed(0)
    model, inputs = nn.Linear(4, 2, bias=False), torch.randn(3, 4)
    inputs[2], scales = 1e15, torch.tensor([1.0, 2.0, 1e15])
    loss_fn = lambda outputs, targets: targets * outputs.sum(1)  # noqa: E731
    assert PerExampleGradients(model, loss_fn, inputs, scales).norms()[2].isfinite()
    gradients, norms = finite(model, loss_fn, inputs, scales)
    assert torch.equal(norms, PerExampleGradients(model, loss_fn, inputs, scales).norms()[:2])
    assert gradients.gram().isfinite().all()


class Largest(TorchDispatchMode):
    """Remembers the numbers in the largest tensor that any operation returned."""

    numbers = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.numbers = max(self.numbers, result.numel())
        return result


BY_PIECE = {
    "Factors": (lambda: nn.Linear(8, 512), (8,), NEVER),
    "Chunks": (lambda: nn.Conv2d(32, 64, 3), (32, 4, 4), NEVER),
    "Gram": (lambda: nn.Conv2d(32, 64, 3), (32, 4, 4), 0),
}


@pytest.mark.parametrize("piece", BY_PIECE)
def test_no_matrix_of_all_gradients_is_made(piece):
    torch.manual_seed(0)
    layer, shape, gram_from = BY_PIECE[piece]
    model, inputs = layer(), torch.randn(32, *shape)
    vectors = torch.randn(3, flat(model.parameters()).numel())
    with patched({**SMALL, "GRAM_FROM": gram_from}):
        gradients = PerExampleGradients(model, each_square, inputs, torch.zeros(32))
        assert type(gradients._pieces[0]) is getattr(parameter_gradients, piece)
        with Largest() as largest:
            gradients.gram()
            gradients.inner(vectors)
            gradients.combinations(vectors[:, : len(inputs)])
    assert largest.numbers < len(inputs) * vectors.shape[1] / 4


@pytest.mark.parametrize("name", SHAPES)
def test_two_calls_are_equal_to_the_bit(name):
    model, inputs, targets = shipped(name, 19, torch.float32)
    first = clipped_sum(model, each_cross_entropy, inputs, targets, 0.5)
    second = clipped_sum(model, each_cross_entropy, inputs, targets, 0.5)
    assert torch.equal(flat(first[0]), flat(second[0]))
    assert torch.equal(first[1], second[1])
    grams = [PerExampleGradients(model, each_cross_entropy, inputs, targets).gram() for _ in "ab"]
    assert torch.equal(*grams)


@pytest.mark.parametrize("shape", SHAPES.values())
def test_the_layout_of_the_inputs_does_not_matter(shape):
    name = next(name for name, found in SHAPES.items() if found == shape)
    model, inputs, targets = shipped(name, 3)
    strided = inputs.to(memory_format=torch.channels_last)
    first, _ = clipped_sum(model, each_cross_entropy, inputs, targets, 0.5)
    second, _ = clipped_sum(model, each_cross_entropy, strided, targets, 0.5)
    assert torch.equal(flat(first), flat(second))


def hooks_of(model):
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks")
    return [getattr(module, kind) for module in model.modules() for kind in kinds]


def test_the_model_is_left_as_it_was():
    model, inputs, targets = shipped("digits-cnn", 3)
    before = flat(model.parameters()).clone()
    marks = [torch.full_like(p, 5.0) for p in model.parameters()]
    for parameter, mark in zip(model.parameters(), marks, strict=True):
        parameter.grad = mark
    clipped_sum(model, each_cross_entropy, inputs, targets, 0.5)
    assert torch.equal(flat(model.parameters()), before)
    assert all(p.grad is m for p, m in zip(model.parameters(), marks, strict=True))
    assert all((m == 5).all() for m in marks)
    assert not any(hooks_of(model))


def test_no_hook_stays_behind_after_an_error():
    model, inputs, targets = shipped("digits-cnn", 3)
    with pytest.raises(RuntimeError):
        clipped_sum(model, each_cross_entropy, inputs[:, :, :3, :3], targets, 0.5)
    assert not any(hooks_of(model))


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        return self.layer(self.layer(x))


class Overwrites(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)

    def forward(self, x):
        x = x + 1
        y = self.layer(x)
        x *= 2
        return x + y


class MergesRows(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x.view(-1, 2)).view(len(x), -1)


def tied():
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    second.weight = first.weight
    return nn.Sequential(first, second)


REFUSED = {
    r"'1' \(BatchNorm1d\)": lambda: nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)),
    r"'1' \(BatchNorm1d\) ": lambda: nn.Sequential(
        nn.Linear(4, 4), nn.BatchNorm1d(4, affine=False, track_running_stats=False)
    ),
    r"'0\.0' \(LayerNorm\)": lambda: nn.Sequential(nn.Sequential(nn.LayerNorm(4))),
    r"'' \(Bilinear\)": lambda: nn.Bilinear(4, 4, 4),
    r"'0' \(Conv2d\): groups is 2": lambda: nn.Sequential(nn.Conv2d(2, 2, 3, groups=2)),
    r"'0' \(Conv2d\): dilation is": lambda: nn.Sequential(nn.Conv2d(2, 2, 3, dilation=2)),
    r"'0' \(Conv2d\): padding_mode": lambda: nn.Sequential(
        nn.Conv2d(2, 2, 3, padding=1, padding_mode="reflect")
    ),
    r"'0' \(Conv2d\): padding 'same'": lambda: nn.Sequential(
        nn.Conv2d(2, 2, (3, 4), padding="same")
    ),
    r"'0' \(Linear\) and '1' \(Linear\) share": tied,
    r"input of layer 'layer' \(Linear\) is overwritten": Overwrites,
    r"'layer' \(Linear\) is called with 6 rows for 3": MergesRows,
    r"parameters of layer '' \(Linear\)": lambda: prune.identity(nn.Linear(4, 4), "weight"),
    r"'layer' \(Linear\) is called twice": Twice,
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_layer_without_per_example_gradient_is_refused_by_name(message):
    with pytest.raises(UserError, match=message):
        clipped_sum(REFUSED[message](), each_square, torch.randn(3, 4), torch.zeros(3), 1.0)


def test_the_loss_may_read_targets_of_any_kind():
    torch.manual_seed(0)
    model, inputs, targets = nn.Linear(4, 2).double(), torch.randn(3, 4).double(), torch.randn(3, 2)
    loss_fn = lambda o, t: mse_loss(o, t.double(), reduction="none").sum(1)  # noqa: E731
    check(model, inputs, targets, loss_fn, loss_fn)


def test_cancelling_terms_do_not_hide_a_large_gradient_in_float32():
    """Inner products alone lose the norm of such a gradient to rounding, and clip it wrongly."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(16, 32, 3), nn.Flatten())
    inputs = 2e4 + torch.randn(6, 16, 6, 6)
    rows = torch.randn(32, 16)
    backward = (rows - rows.mean(1, keepdim=True)).flatten()  # sums to 0 over the positions

    def loss_fn(outputs, targets):
        return outputs @ backward.to(outputs.dtype)

    for example in inputs.split(1):
        total, norms = clipped_sum(model.float(), loss_fn, example, torch.zeros(1), 1.0)
        assert torch.cat([t.flatten() for t in total]).norm() <= 1 + 1e-3
        loss = loss_fn(model.double()(example.double()), None).sum()
        true = torch.autograd.grad(loss, list(model.parameters()))
        expected = torch.cat([g.flatten() for g in true]).norm()
        assert (1 - 1e-5) * expected <= norms[0] <= 1.3 * expected  # with what rounding may add


def cancelling(conv, size, kind, scale, examples):
    """Return the input and the gradient of the output of a convolution, example 0 a wild one.

    Its gradient is that of the same pixel at all positions, so that its terms cancel as the output
    gradients do: in pairs, to the bit, or as a whole, up to their rounding.
    """
    generator = torch.Generator().manual_seed(0)
    (kernel, _), edge = conv.kernel_size, 2 * conv.padding[0] + 1
    positions = size + edge - kernel
    x = torch.randn(examples, conv.in_channels, size, size, generator=generator)
    b = torch.randn(examples, conv.out_channels, positions, positions, generator=generator)
    x[0] = scale * torch.randn(conv.in_channels, 1, 1, generator=generator)
    weights = torch.ones(positions**2)
    weights[positions**2 // 2 :] = -1
    if kind == "as a whole":
        weights = torch.randn(positions**2, generator=generator)
        weights -= weights.mean()
    b[0] = torch.randn(conv.out_channels, 1, 1, generator=generator) * weights.view(b[0, 0].shape)
    return x, b


def of_output(b):
    return lambda outputs, _: (outputs * b[: len(outputs)]).flatten(1).sum(1)


@pytest.mark.parametrize("route", ["gram", "groups", "windows"])
@pytest.mark.parametrize("kind", ["in pairs", "as a whole"])
@pytest.mark.parametrize("scale", [1.0, 1e4, 1e6, 1e8])
@pytest.mark.parametrize(
    ("shape", "size"), [((16, 32, 3, 1, 1), 4), ((16, 32, 4), 11), ((64, 64, 1), 8)]
)
def test_what_float32_sums_of_cancelling_terms_is_clipped(route, kind, scale, shape, size):
    conv = nn.Conv2d(*shape, bias=False)
    for examples in (1, 30):
        x, b = cancelling(conv, size, kind, scale, examples)
        with patched(ROUTES[route]):
            gradients = PerExampleGradients(conv, of_output(b), x, torch.zeros(examples))
            weights = (1 / gradients.norms()).clamp(max=1)
            (total,) = gradients.weighted_sum(weights)
            weights[0] = 0
            (without,) = gradients.weighted_sum(weights)
        assert (total.double() - without.double()).norm() <= 1 + 1e-3


@pytest.mark.parametrize("name", SHAPES)
def test_norms_of_ordinary_examples_are_left_as_they_are(name):
    model, inputs, targets = shipped(name, 20, torch.float32)
    found = PerExampleGradients(model, each_cross_entropy, inputs, targets).norms()
    with patched({"ROUNDINGS": 0}):
        gradients = PerExampleGradients(model, each_cross_entropy, inputs, targets)
        assert torch.equal(found, gradients.norms())

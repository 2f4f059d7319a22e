"""The per-example gradient engine against autograd run on every example alone, and Opacus."""

from copy import deepcopy
from functools import partial

import pytest
import torch
from example_gradients import (
    NEVER,
    ROUTES,
    SHAPES,
    SMALL,
    TOLERANCE,
    assert_equal,
    check,
    clipped_sum,
    each_cross_entropy,
    each_square,
    flat,
    naive,
    patched,
    shipped,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy, mse_loss
from torch.utils._python_dispatch import TorchDispatchMode

from dpfl.base.errors import UserError
from dpfl.gradients import PerExampleGradients, finite, parameter_gradients, routes


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("length", [1, 2, 7, 33])
@pytest.mark.parametrize("name", SHAPES)
def test_every_network_equals_one_example_at_a_time(name, length, dtype):
    check(*shipped(name, length, dtype))


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


@pytest.mark.parametrize("frozen", [["0.weight"], ["3.bias", "6.weight"], ["0.weight", "0.bias"]])
def test_frozen_parameters_are_no_part_of_a_gradient(frozen):
    model, inputs, targets = shipped("digits-cnn", 3)
    rows = naive(model, inputs, targets)
    named = dict(model.named_parameters())
    sizes = [p.numel() for p in named.values()]
    kept = [part for n, part in zip(named, rows.split(sizes, 1), strict=True) if n not in frozen]
    for name in frozen:
        named[name].requires_grad_(False)
    gradients = PerExampleGradients(model, each_cross_entropy, inputs, targets)
    assert gradients.parameter_count == len(kept) == len(routes(model))
    assert_equal(gradients.rows(), torch.cat(kept, 1), 1e-12)


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
    with pytest.raises(UserError, match=r"\((\d), 10\), expected \(\1,\)"):
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
def test_an_example_without_a_finite_gradient_is_left_out(bad):
    model, inputs, targets = shipped("mnist-cnn", 4)
    some = [0, 2, 3]
    expected = naive(model, inputs[some], targets[some])
    total, _ = clipped_sum(model, each_cross_entropy, inputs[some], targets[some], 0.5)
    inputs[1] = bad
    found, norms = clipped_sum(model, each_cross_entropy, inputs, targets, 0.5)
    assert norms.isfinite().tolist() == [True, False, True, True]
    assert torch.equal(flat(found), flat(total))
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
def test_the_layout_of_the_inputs_does_not_matter(name):
    model, inputs, targets = shipped(name, 3)
    layouts = (inputs, inputs.to(memory_format=torch.channels_last))
    sums = (clipped_sum(model, each_cross_entropy, x, targets, 0.5)[0] for x in layouts)
    assert torch.equal(*map(flat, sums))


def test_the_loss_may_read_targets_of_any_kind():
    torch.manual_seed(0)
    model, inputs, targets = nn.Linear(4, 2).double(), torch.randn(3, 4).double(), torch.randn(3, 2)
    loss_fn = lambda o, t: mse_loss(o, t.double(), reduction="none").sum(1)  # noqa: E731
    check(model, inputs, targets, loss_fn, loss_fn)

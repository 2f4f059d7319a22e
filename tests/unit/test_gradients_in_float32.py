"""What rounding hides in float32 is clipped, and ordinary examples are left as they are."""

import pytest
import torch
from example_gradients import ROUTES, SHAPES, clipped_sum, each_cross_entropy, patched, shipped
from torch import nn

from dpfl.gradients import PerExampleGradients


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


@pytest.mark.parametrize("short", [1e-18, 1e-21, 1e-23, 1e-30])
@pytest.mark.parametrize("layer", [nn.Linear(9, 4, bias=False), nn.Conv2d(16, 32, 3, bias=False)])
def test_squares_that_underflow_do_not_hide_a_large_gradient(layer, short):
    """Of inputs so short, and a loss so steep, that their product is far above the clip norm."""
    torch.manual_seed(0)
    shape = (3, 9) if isinstance(layer, nn.Linear) else (3, 16, 4, 4)
    inputs = short * torch.randn(shape)
    inputs[2] = 0
    steep = min(1e3 / short, 1e18)

    def loss_fn(outputs, targets):
        return steep * outputs.flatten(1).sum(1)

    total, norms = clipped_sum(layer.float(), loss_fn, inputs, torch.zeros(3), 1e-6)
    weight = layer.weight.detach().double()
    for number in range(3):
        own = inputs[number : number + 1].double()
        outputs = layer.double()(own).flatten(1).sum()
        (true,) = torch.autograd.grad(steep * outputs, [layer.weight])
        assert float(norms[number]) == pytest.approx(float(true.norm()), rel=0.01)
        layer.float()
    assert torch.cat([one.flatten() for one in total]).norm() <= 2e-6 * (1 + 1e-3)
    assert torch.equal(layer.weight.double(), weight)


@pytest.mark.parametrize("scale", [1e-10, 2e-12, 1e-12, 1e-14])
def test_products_that_underflow_do_not_hide_a_gradient_from_a_small_clip_norm(scale):
    """Of inputs and output gradients that are each long enough, and of several parameters."""
    torch.manual_seed(0)
    for model in (nn.Sequential(nn.Conv2d(3, 4, 3), nn.Flatten()), nn.Linear(9, 4)):
        shape = (1, 9) if isinstance(model, nn.Linear) else (1, 3, 6, 6)
        inputs = scale * torch.randn(shape)

        def loss_fn(outputs, targets):
            return scale * outputs.flatten(1).sum(1)

        _, norms = clipped_sum(model.float(), loss_fn, inputs, torch.zeros(1), 1.0)
        loss = loss_fn(model.double()(inputs.double()), None).sum()
        true = torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])
        assert float(norms[0]) == pytest.approx(float(true.norm()), rel=1e-3)


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

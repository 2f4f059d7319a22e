"""Relevance propagation against plain loops, and against autograd on a network made linear."""

from copy import deepcopy

import pytest
import torch
from example_gradients import SHAPES, shipped
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refuses
from torch import nn

from dpfl.base.errors import UserError
from dpfl.relevance import layers
from dpfl.relevance.layers import FLOOR, element_relevance, layer_relevance, shares

networks = pytest.mark.parametrize("name", SHAPES)
TO_ZERO = 1e-13  # an epsilon that stands for its limit in float64


def totals(layers):
    return torch.stack([layer.flatten(1).sum(1) for layer in layers])


def by_loops(model, x, target, epsilon):
    """Relevance at the input of every Linear of a dense network, for one example."""
    weights = [(m.weight.tolist(), m.bias.tolist()) for m in model if isinstance(m, nn.Linear)]
    act = torch.relu if isinstance(model[1], nn.ReLU) else torch.tanh
    inputs, sums, a = [], [], x.tolist()
    for w, b in weights:
        inputs.append(a)
        sums.append([sum(a[j] * w[k][j] for j in range(len(a))) + b[k] for k in range(len(b))])
        a = act(torch.tensor(sums[-1], dtype=torch.float64)).tolist()
    back = [z if k == target else 0.0 for k, z in enumerate(sums[-1])]
    found = []
    for (w, _), a, z in reversed(list(zip(weights, inputs, sums, strict=True))):
        signs = [1 if s >= 0 else -1 for s in z]
        back = [
            sum(a[j] * w[k][j] / (z[k] + epsilon * signs[k]) * back[k] for k in range(len(z)))
            for j in range(len(a))
        ]
        found.insert(0, back)
    return found


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    widths=st.lists(st.integers(1, 5), min_size=2, max_size=4),
    activation=st.sampled_from([nn.ReLU, nn.Tanh]),
    epsilon=st.sampled_from([1e-9, 0.01, 0.5]),
    seed=st.integers(0, 1000),
)
def test_dense_networks_equal_plain_loops(widths, activation, epsilon, seed):
    torch.manual_seed(seed)
    layers = [nn.Linear(widths[0], 4), activation()]
    for before, after in zip([4, *widths[1:]], [*widths[1:], 3], strict=True):
        layers += [nn.Linear(before, after), activation()]
    model = nn.Sequential(*layers[:-1]).double()
    inputs, targets = torch.randn(3, widths[0], dtype=torch.float64), torch.tensor([2, 0, 1])
    found = element_relevance(model, inputs, targets, epsilon)
    assert len(found) == len(layers) // 2
    for i, (x, target) in enumerate(zip(inputs, targets.tolist(), strict=True)):
        for layer, expected in zip(found, by_loops(model, x, target, epsilon), strict=True):
            expected = torch.tensor(expected, dtype=torch.float64)
            torch.testing.assert_close(layer[i], expected, rtol=1e-6, atol=1e-9)


class Line(nn.Module):
    """An activation as a line through 0 and its value, whose slope takes no part in gradients."""

    def __init__(self, activation):
        super().__init__()
        self.activation = activation

    def forward(self, z):
        return z * (self.activation(z) / z).detach()


def by_gradients(model, inputs, targets):
    """The limit of epsilon to 0 is input times gradient of the network made linear at the input.

    Ancona et al. 2018, arXiv 1711.06104, proposition 1.
    """
    values, x = [], inputs.clone().requires_grad_()
    for layer in model:
        if isinstance(layer, nn.Linear | nn.Conv2d):
            values.append(x)
        x = (Line(layer) if isinstance(layer, nn.ReLU | nn.Tanh) else layer)(x)
    gradients = torch.autograd.grad(x.gather(1, targets[:, None]).sum(), values)
    return [(a * g).detach() for a, g in zip(values, gradients, strict=True)]


@networks
def test_every_network_equals_the_network_made_linear(name):
    model, inputs, targets = shipped(name, 5)
    found = element_relevance(model, inputs, targets, TO_ZERO)
    expected = by_gradients(model, inputs, targets)
    for layer, r, e in zip(
        [p for p in model if len([*p.parameters()])], found, expected, strict=True
    ):
        assert (r - e).abs().max() <= 1e-6 * e.abs().max(), layer
    absolute = totals([e.abs() for e in expected])
    torch.testing.assert_close(layer_relevance(model, inputs, targets), absolute, rtol=1e-4, atol=0)


@networks
def test_single_precision_suffices(name):
    model, inputs, targets = shipped(name, 5)
    expected = layer_relevance(model, inputs, targets)
    found = layer_relevance(model.float(), inputs.float(), targets)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found.double(), expected, rtol=1e-3, atol=0)


@pytest.mark.parametrize("pool", [nn.MaxPool2d, nn.AvgPool2d])
def test_epsilon_is_for_layers_with_parameters_alone(pool):
    model = nn.Sequential(nn.Conv2d(1, 1, 1), nn.ReLU(), pool(2), nn.Flatten(), nn.Linear(4, 1))
    for name, p in model.double().named_parameters():
        nn.init.constant_(p, float(name.endswith("weight")))
    inputs, targets = torch.ones(1, 1, 4, 4, dtype=torch.float64), torch.tensor([0])
    found = layer_relevance(model, inputs, targets, 0.5).squeeze(1)
    expected = torch.tensor([4 * 4 / 4.5 / 1.5, 4 * 4 / 4.5], dtype=torch.float64)
    torch.testing.assert_close(found, expected)


def test_a_single_layer_is_a_network():
    layer = nn.Linear(2, 2, bias=False)
    layer.weight.data = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    found = layer_relevance(layer, torch.tensor([[5.0, 1.0]]), torch.tensor([0]), TO_ZERO)
    assert found.tolist() == [[7.0]]  # |5| + |-2|, of the logit 3


@networks
def test_examples_do_not_mix(name, monkeypatch):
    model, inputs, targets = shipped(name, 7)
    expected = layer_relevance(model, inputs, targets)
    assert expected.shape[1] == 7
    alone = [layer_relevance(model, inputs[[i]], targets[[i]]) for i in range(7)]
    torch.testing.assert_close(torch.cat(alone, dim=1), expected, rtol=1e-5, atol=0)
    passes = []
    whole = layers.element_relevance

    def counted(model, inputs, *rest):
        passes.append(len(inputs))
        return whole(model, inputs, *rest)

    monkeypatch.setattr(layers, "EXAMPLES_PER_PASS", 3)
    monkeypatch.setattr(layers, "element_relevance", counted)
    found = layer_relevance(model, inputs, targets)
    assert passes == [3, 3, 1]
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("training", [True, False])
def test_model_and_examples_are_left_as_they_were(training):
    model, inputs, targets = shipped("mnist-cnn-tanh", 5)
    model.train(training)
    model[0].weight.grad = torch.ones_like(model[0].weight)
    model[7].weight.requires_grad_(False)
    before, kept = deepcopy(model), inputs.clone()  # the copy has no gradients
    versions = [p._version for p in model.parameters()]
    with torch.no_grad():
        found = [f(model, inputs, targets) for f in (layer_relevance, element_relevance)]
    assert not any(r.requires_grad for r in (found[0], *found[1]))
    assert torch.equal(inputs, kept) and not inputs.requires_grad
    assert [p._version for p in model.parameters()] == versions
    for module, other in zip(model.modules(), before.modules(), strict=True):
        assert module.training is training
        assert set(vars(module)) == set(vars(other))
        assert not module._forward_hooks and not module._backward_hooks
    for p, q in zip(model.parameters(), before.parameters(), strict=True):
        assert torch.equal(p, q) and p.requires_grad is q.requires_grad
    first, *others = (p.grad for p in model.parameters())
    assert (first == 1).all() and others == [None] * len(others)


def test_layers_may_be_nested_and_an_activation_shared_and_in_place():
    model, inputs, targets = shipped("digits-cnn", 5)
    expected = layer_relevance(model, inputs, targets)
    nested = nn.Sequential(model[:4], nn.Sequential(model[4:]))
    assert torch.equal(layer_relevance(nested, inputs, targets), expected)
    model[1] = model[4] = model[7] = nn.ReLU(inplace=True)
    assert torch.equal(layer_relevance(model, inputs, targets), expected)


linear = nn.Linear(2, 2)
REFUSED = {
    "unknown": (nn.Sequential(linear, nn.GELU()), r"'1' \(GELU\)"),
    "with parameters": (nn.Sequential(linear, nn.LayerNorm(2)), r"'1' \(LayerNorm\)"),
    "nested": (nn.Sequential(nn.Sequential(linear, nn.Softmax(1))), r"'0\.1' \(Softmax\)"),
    "another forward": (nn.Bilinear(2, 2, 2), r"'' \(Bilinear\)"),
    "twice": (nn.Sequential(linear, nn.ReLU(), linear), r"'0' \(Linear\) is called twice"),
    "stacked": (nn.Sequential(linear, nn.Tanh(), nn.ReLU()), r"'2' \(ReLU\) follows another"),
    "nested, stacked": (nn.Sequential(nn.Sequential(linear, nn.Tanh()), nn.Tanh()), r"'1' \(Tanh"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_networks_without_a_known_rule_are_refused(case):
    model, message = REFUSED[case]
    with pytest.raises(UserError, match=message):
        layer_relevance(model, torch.randn(3, 2), torch.zeros(3, dtype=torch.long))


@pytest.mark.parametrize("function", [layer_relevance, element_relevance])
@pytest.mark.parametrize(("examples", "classes"), [(0, 0), (3, 2), (0, 3)])
def test_examples_are_checked(function, examples, classes):
    found = rf"\[{examples}, 2\].*\[{classes}\].*at least one example"
    with pytest.raises(UserError, match=found):
        function(linear, torch.randn(examples, 2), torch.zeros(classes, dtype=torch.long))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    values=st.lists(st.floats(0, 1e30), min_size=1, max_size=9).filter(lambda v: sum(v) > 1e-30),
    factor=st.floats(1e-6, 1e6),
)
def test_shares_are_parts_of_the_number_of_layers(values, factor):
    values = torch.tensor(values, dtype=torch.float64)
    found = shares(values)
    assert (found >= FLOOR).all()
    assert 1 - 1e-12 <= found.mean() < 1 + FLOOR + 1e-12
    torch.testing.assert_close(shares(factor * values), found, rtol=1e-9, atol=0)
    above = found > FLOOR
    mean = values.sum() / len(values)
    torch.testing.assert_close(found[above] * mean, values[above], rtol=1e-9, atol=0)
    assert (values[~above] <= FLOOR * mean * (1 + 1e-9)).all()


@pytest.mark.parametrize(
    "values", [[], [0.0, 0.0], [1.0, float("nan")], [1.0, float("inf")], [3.0, -1.0], [[1.0, 2.0]]]
)
def test_relevances_that_give_no_shares(values):
    refuses(r"relevance of the layers: found .* not all 0", lambda: shares(torch.tensor(values)))

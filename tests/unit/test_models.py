"""The networks: sizes of methods section 7, weights from the caller's generator alone."""

import pytest
import torch
from refusals import refuses
from scipy.stats import ks_2samp
from torch import nn

from dpfl import models, plugins
from dpfl.models import resnet_gn
from dpfl.planning import estimate

NETWORKS = [
    ("mnist-cnn", (1, 28, 28), 26_010),
    ("mnist-cnn-tanh", (1, 28, 28), 26_010),
    ("digits-cnn", (1, 8, 8), 21_546),
    ("cifar10-cnn", (3, 32, 32), 550_570),
    ("resnet-gn", (3, 32, 32), 2_751_146),
    ("scatter-linear", (81, 7, 7), 39_700),
    ("scatter-cnn", (243, 8, 8), 187_210),
]
SHAPES = [plugins.constant("data", name, "SHAPE") for name in plugins.names("data")]


def build(name, seed=0):
    return models.build(name, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if len(shape) == 3])
@pytest.mark.parametrize("name", plugins.names("models"))
def test_the_declared_number_of_parameters_is_a_bound_from_above(name, shape):
    found = models.build(name, torch.Generator(), shape, 10)
    count = sum(p.numel() for p in found.parameters())
    assert count <= estimate.amount(name, "PARAMETERS", shape) <= 1.05 * count


@pytest.mark.parametrize(("name", "shape", "parameters"), NETWORKS)
def test_sizes(name, shape, parameters):
    model = models.build(name, torch.Generator().manual_seed(0), shape)
    assert sum(p.numel() for p in model.parameters()) == parameters
    assert model(torch.zeros(2, *shape)).shape == (2, 10)


@pytest.mark.parametrize(("name", "kind"), [("mnist-cnn", nn.ReLU), ("mnist-cnn-tanh", nn.Tanh)])
def test_activations(name, kind):
    found = {type(m) for m in build(name).modules()}
    assert kind in found
    assert len(found & {nn.ReLU, nn.Tanh}) == 1


def test_weights_come_from_the_generator_alone():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = build("mnist-cnn")
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    again, other = build("mnist-cnn"), build("mnist-cnn", seed=1)
    for p, q, r in zip(first.parameters(), again.parameters(), other.parameters(), strict=True):
        assert torch.equal(p, q)
        assert not torch.equal(p, r)


def test_the_distribution_is_the_default_of_pytorch():
    ours = build("cifar10-cnn")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        theirs = plugins.load("models", "cifar10-cnn").build()
    for (name, p), q in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        p, q = p.detach().flatten(), q.detach().flatten()
        assert ks_2samp(p, q).pvalue > 1e-3, name
        if len(p) > 1000:  # the ends of the interval
            torch.testing.assert_close(p.abs().max(), q.abs().max(), rtol=1e-2, atol=0)


def test_tables_of_tokens_and_norms_start_as_those_of_pytorch():
    found = models.build("small-transformer", torch.Generator().manual_seed(0), (12,), 2)
    vectors = found.vectors.weight.detach().flatten()
    assert ks_2samp(vectors, torch.randn(10_000, generator=torch.Generator())).pvalue > 1e-3
    norms = [m for m in found.modules() if isinstance(m, nn.LayerNorm)]
    assert len(norms) == 3 and all((m.weight == 1).all() and not m.bias.any() for m in norms)


def test_attention_sees_the_order_of_tokens_and_a_bag_does_not():
    tokens = torch.arange(12).repeat(2, 1)
    tokens[1, :2] = torch.tensor([1, 0])
    for name, alike in (("token-bag", True), ("small-transformer", False)):
        found = models.build(name, torch.Generator().manual_seed(0), (12,), 2)(tokens)
        assert torch.allclose(found[0], found[1], atol=1e-5) == alike


def test_a_standardised_convolution_has_weights_of_mean_0_and_variance_1_by_fan_in():
    layer = resnet_gn.StandardisedConv2d(3, 4, 3, bias=False).double()
    ones = torch.eye(27).double().view(27, 3, 3, 3)
    weights = layer(ones)[:, :, 0, 0].t()  # each input picks one weight
    torch.testing.assert_close(weights.mean(1), torch.zeros(4).double())
    torch.testing.assert_close(weights.var(1, correction=0), torch.full((4,), 1 / 27).double())


def test_a_layer_without_known_default_is_refused(monkeypatch):
    class Plugin:
        build = staticmethod(lambda: nn.Sequential(nn.Linear(2, 2), nn.PReLU()))

    monkeypatch.setattr(plugins, "load", lambda *_: Plugin)
    refuses(r"'1' \(PReLU\)", build, "any")


def test_a_network_may_start_from_zero():
    zero = models.build("linear-from-zero", torch.Generator().manual_seed(0), (3, 2, 2), 10)
    assert all(not p.any() for p in zero.parameters())
    usual = models.build("linear", torch.Generator().manual_seed(0), (3, 2, 2), 10)
    assert [p.shape for p in zero.parameters()] == [p.shape for p in usual.parameters()]
    assert all(p.any() for p in usual.parameters())

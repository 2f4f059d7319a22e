"""Any network that treats examples one by one has the gradients that autograd gives one example."""

import copy
import resource

import pytest
import torch
from example_gradients import assert_equal, each_cross_entropy, flat
from torch import nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional
from torch.nn.functional import cross_entropy

from dpfl import models
from dpfl.base.errors import UserError
from dpfl.gradients import PerExampleGradients, routes
from dpfl.gradients.microbatches import microbatched
from dpfl.models.resnet_gn import StandardisedConv2d

FORMULA, LAYER = "a formula of its layer", "its layer, differentiated alone"
NETWORK = "the whole network, one example at a time"
ROWS, PICTURES, TOKENS = (6, 5), (6, 4, 5, 5), (6, 7)


class Uses(nn.Module):
    """Two layers, used as a function says."""

    def __init__(self, function):
        super().__init__()
        self.a, self.b, self.function = nn.Linear(5, 5), nn.Linear(5, 3), function

    def forward(self, x):
        return self.function(self, x)


class Bare(nn.Module):
    """Parameters that no layer holds, one of them a number."""

    def __init__(self):
        super().__init__()
        self.weight, self.scale = nn.Parameter(torch.randn(5, 3)), nn.Parameter(torch.tensor(2.0))
        self.last = nn.Linear(3, 3)

    def forward(self, x):
        return self.last(self.scale * (x @ self.weight))


class Attends(nn.Module):
    """Attention over tokens; its examples are the second dimension unless they come first."""

    def __init__(self, first):
        super().__init__()
        self.vectors, self.last = nn.Embedding(11, 6), nn.Linear(6, 3)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=first)

    def forward(self, tokens):
        x = self.vectors(tokens)
        x = x if self.attention.batch_first else x.transpose(0, 1)
        found = self.attention(x, x, x)[0]
        return self.last(found.mean(1 if self.attention.batch_first else 0))


def before(layer, width, *others):
    return nn.Sequential(layer, *others, nn.Flatten(), nn.Linear(width, 3))


def tied():
    model = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 5))
    model[2].weight = model[0].weight
    return model


NETWORKS = {
    "group norm": (lambda: before(nn.Conv2d(4, 6, 3), 54, nn.GroupNorm(3, 6)), PICTURES, LAYER),
    "instance norm": (
        lambda: before(nn.Conv2d(4, 6, 3), 54, nn.InstanceNorm2d(6, affine=True)), PICTURES, LAYER
    ),
    "layer norm": (lambda: before(nn.Linear(5, 4), 4, nn.LayerNorm(4)), ROWS, LAYER),
    "conv1d": (lambda: before(nn.Conv1d(4, 3, 2), 12), (6, 4, 5), LAYER),
    "transposed": (lambda: before(nn.ConvTranspose2d(4, 3, 2), 108), PICTURES, LAYER),
    "grouped": (lambda: before(nn.Conv2d(4, 6, 3, groups=2), 54), PICTURES, LAYER),
    "dilated": (lambda: before(nn.Conv2d(4, 6, 2, dilation=2), 54), PICTURES, LAYER),
    "circular": (
        lambda: before(nn.Conv2d(4, 2, 3, padding=1, padding_mode="circular"), 50), PICTURES, LAYER
    ),
    "same": (lambda: before(nn.Conv2d(4, 2, (3, 4), padding="same"), 50), PICTURES, LAYER),
    "prelu": (lambda: before(nn.PReLU(), 5), ROWS, LAYER),
    "standardised": (lambda: before(StandardisedConv2d(4, 6, 3), 54), PICTURES, LAYER),
    "tokens": (lambda: before(nn.Embedding(11, 6), 42), TOKENS, FORMULA),
    "padded": (lambda: before(nn.Embedding(11, 6, padding_idx=3), 42), TOKENS, FORMULA),
    "bag": (lambda: before(nn.EmbeddingBag(11, 6), 6), TOKENS, LAYER),
    "attention": (lambda: Attends(True), TOKENS, NETWORK),
    "examples second": (lambda: Attends(False), TOKENS, NETWORK),
    "as many examples as tokens": (lambda: Attends(False), (7, 7), NETWORK),
    "tied": (tied, ROWS, NETWORK),
    "bare": (Bare, ROWS, NETWORK),
    "twice": (lambda: Uses(lambda s, x: s.b(s.a(torch.tanh(s.a(x))))), ROWS, NETWORK),
    "weights alone": (
        lambda: Uses(lambda s, x: s.b(torch.tanh(functional.linear(x, s.a.weight, s.a.bias)))),
        ROWS, NETWORK,
    ),
    "transposed again": (
        lambda: Uses(lambda s, x: s.b(functional.linear(torch.tanh(s.a(x)), s.a.weight.t()))),
        ROWS, NETWORK,
    ),
    "bias again": (lambda: Uses(lambda s, x: s.b(s.a(x)) * s.b.bias), ROWS, NETWORK),
    "forward": (lambda: Uses(lambda s, x: s.b.forward(torch.tanh(s.a.forward(x)))), ROWS, NETWORK),
    "merged rows": (
        lambda: Uses(lambda s, x: s.b(s.a(x.repeat(2, 1)))[: len(x)]), ROWS, NETWORK
    ),
}  # fmt: skip


def problem(name):
    torch.manual_seed(0)
    build, shape, route = NETWORKS[name]
    model = build().double()
    tables = [m for m in model.modules() if isinstance(m, nn.Embedding | nn.EmbeddingBag)]
    inputs = torch.randint(11, shape) if tables else torch.randn(shape, dtype=torch.float64)
    return model, inputs, torch.arange(len(inputs)) % 3, route


@pytest.mark.filterwarnings("ignore:There is a performance drop", "ignore:Using padding='same'")
@pytest.mark.parametrize("name", NETWORKS)
def test_every_kind_of_network_has_the_gradient_of_each_example(name):
    model, inputs, targets, route = problem(name)
    rows = torch.stack(
        [
            flat(torch.autograd.grad(cross_entropy(model(x), y), list(model.parameters())))
            for x, y in zip(inputs.split(1), targets.split(1), strict=True)
        ]
    )
    found = PerExampleGradients(model, each_cross_entropy, inputs, targets)
    assert route in routes(model).values()
    weights, vectors = torch.rand(2, len(rows)).double(), torch.randn(3, rows.shape[1]).double()
    assert_equal(found.rows(), rows, 1e-12)
    assert_equal(found.norms(), rows.norm(dim=1), 1e-12)
    assert_equal(flat(found.weighted_sum(weights[0])), weights[0] @ rows, 1e-12)
    assert_equal(found.combinations(weights), weights @ rows, 1e-12)
    assert_equal(found.gram(), rows @ rows.t(), 1e-12)
    assert_equal(found.inner(vectors), rows @ vectors.t(), 1e-12)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name", ["group norm", "layer norm", "conv1d", "tokens", "prelu", "grouped"]
)
def test_equal_to_opacus_and_to_vmap(name):
    from opacus import GradSampleModule

    model, inputs, targets, _ = problem(name)
    found = PerExampleGradients(model, each_cross_entropy, inputs, targets).rows()
    peer = GradSampleModule(copy.deepcopy(model), loss_reduction="sum")
    cross_entropy(peer(inputs), targets, reduction="sum").backward()
    samples = [p.grad_sample.flatten(1) for p in peer.parameters()]
    assert_equal(found, torch.cat(samples, 1), 1e-12)
    own = {key: p.detach() for key, p in model.named_parameters()}

    def loss(values, x, y):
        return cross_entropy(functional_call(model, values, (x[None],)), y[None])

    each = vmap(grad(loss), (None, 0, 0))(own, inputs, targets)
    assert_equal(found, torch.cat([g.flatten(1) for g in each.values()], 1), 1e-12)


@pytest.mark.parametrize("name", ["resnet-gn", "token-bag", "small-transformer"])
def test_shipped_networks_of_other_layers(name):
    shape = (3, 8, 8) if name == "resnet-gn" else (12,)
    model = models.build(name, torch.Generator().manual_seed(0), shape, 3).double()
    inputs = torch.randn(3, *shape).double() if len(shape) == 3 else torch.randint(64, (3, *shape))
    gradients = PerExampleGradients(model, each_cross_entropy, inputs, torch.arange(3))
    assert NETWORK not in routes(model).values()
    for row, x, y in zip(gradients.rows(), inputs.split(1), torch.arange(3).split(1), strict=True):
        loss = cross_entropy(model(x), y)
        assert_equal(row, flat(torch.autograd.grad(loss, list(model.parameters()))), 1e-10)


def test_a_table_of_tokens_is_never_written_out_for_a_sum():
    model = nn.Sequential(nn.Embedding(10**7, 2, sparse=True), nn.Flatten()).requires_grad_(True)
    tokens = torch.tensor([[1, 1, 9_999_999], [5, 1, 5]])
    loss_fn = lambda outputs, _: outputs.square().sum(1)  # noqa: E731
    found = PerExampleGradients(model, loss_fn, tokens.repeat(40, 1), torch.zeros(80))
    vectors = model(tokens).detach().view(2, 3, 2)
    expected = [
        torch.stack([4 * vectors[0, 0], 2 * vectors[0, 2]]).norm(),
        torch.stack([4 * vectors[1, 0], 2 * vectors[1, 1]]).norm(),
    ]
    assert_equal(found.norms()[:2], torch.stack(expected).double(), 1e-6)
    assert found.gram().shape == (80, 80)  # a matrix of all would have 6 GB


def test_a_layer_that_is_changed_is_decided_anew():
    model, inputs, targets, _ = problem("layer norm")
    PerExampleGradients(model, each_cross_entropy, inputs, targets)
    model[0].weight.requires_grad_(False)
    model.append(nn.PReLU().double())
    found = PerExampleGradients(model, each_cross_entropy, inputs, targets)
    assert found.parameter_count == 6 and "0.weight" not in routes(model)
    model.append(nn.BatchNorm1d(3).double())
    with pytest.raises(UserError, match=r"'5' \(BatchNorm1d\)"):
        PerExampleGradients(model, each_cross_entropy, inputs, targets)


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("name", ["group norm", "tokens", "tied"])
def test_microbatches_give_the_same_sums(name, size):
    model, inputs, targets, _ = problem(name)
    whole = PerExampleGradients(model, each_cross_entropy, inputs, targets)
    found, norms = microbatched(size)(model, each_cross_entropy, inputs, targets)
    bounds = [0.1 + n for n in range(whole.parameter_count)]
    weights = torch.rand(2, len(inputs)).double()
    vectors = torch.randn(2, whole.rows().shape[1]).double()
    assert found.parameter_count == whole.parameter_count
    assert_equal(norms, whole.norms(), 1e-12)
    assert_equal(flat(found.clipped_sum(0.3)), flat(whole.clipped_sum(0.3)), 1e-12)
    sums = (flat(each.clipped_sum_by_parameter(bounds)) for each in (found, whole))
    assert_equal(*sums, 1e-12)
    assert_equal(found.combinations(weights), whole.combinations(weights), 1e-12)
    assert_equal(found.inner(vectors), whole.inner(vectors), 1e-12)
    empty, norms = microbatched(size)(model, each_cross_entropy, inputs[:0], targets[:0])
    assert not norms.numel() and not flat(empty.clipped_sum(1.0)).any()
    with pytest.raises(UserError, match="adds them up"):
        found.gram()


def test_a_layer_that_is_not_used_takes_no_memory_of_the_batch():
    """Written out for every example its gradients would have 2,000 times 4 million numbers."""
    model = Uses(lambda net, x: net.b(x))
    model.a = nn.Linear(2000, 2000)
    inputs, targets = torch.randn(2000, 5), torch.randint(3, (2000,))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = PerExampleGradients(model, each_cross_entropy, inputs, targets)
    assert found.clipped_sum(1.0)[0].count_nonzero() == 0
    assert found.parameter_norms()[0].count_nonzero() == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 2**20  # KiB

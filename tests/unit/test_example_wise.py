"""Networks that mix examples, keep statistics or draw at random are refused; all others are not."""

import contextlib
import copy
import multiprocessing
import pickle
from contextlib import suppress

import pytest
import torch
from test_private import private
from torch import nn
from torch.nn import functional

from dpfl import models, plugins
from dpfl.base.errors import UserError
from dpfl.gradients import PerExampleGradients
from dpfl.gradients.flat import FlatModel
from dpfl.privacy.conditions import own
from dpfl.privacy.conditions.example_wise import require_example_wise
from dpfl.training.steps import cross_entropy

pytestmark = pytest.mark.usefixtures("coarse")
IMAGES = (3, 8, 8)


class Of(nn.Module):
    """Applies a function to its input."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x)


class Counter(nn.Module):
    """Counts the examples that it has seen, in place or in a new tensor."""

    def __init__(self, persistent=True):
        super().__init__()
        self.register_buffer("seen", torch.zeros(()), persistent=persistent)

    def forward(self, x):
        self.seen = self.seen + len(x)
        return x


class Growing(nn.Module):
    """Has no buffer before its first pass."""

    def forward(self, x):
        self.register_buffer("last", x)
        return x


class Learning(nn.Linear):
    """Moves its weights by itself."""

    def forward(self, x):
        with torch.no_grad():
            self.weight.add_(1e-3 * x.sum())
        return super().forward(x)


class Passes(nn.Module):
    """Counts its passes where no buffer shows it."""

    count = 0

    def forward(self, x):
        self.count += 1
        return x * self.count


KEEPS = {
    "BatchNorm": lambda: nn.BatchNorm2d(3),
    "BatchNorm while it rests": lambda: nn.BatchNorm2d(3).eval(),
    "BatchNorm without parameters": lambda: nn.BatchNorm2d(3, affine=False),
    "InstanceNorm with statistics": lambda: nn.InstanceNorm2d(3, track_running_stats=True),
    "a counter": Counter,
    "a counter that is not saved": lambda: Counter(persistent=False),
    "a new buffer": Growing,
    "weights": lambda: Learning(8, 8),
}
MIXES = {
    "BatchNorm without statistics": lambda: nn.BatchNorm2d(3, track_running_stats=False),
    "minus the batch's mean": lambda: Of(lambda x: x - x.mean(0)),
    "a little of the batch's mean": lambda: Of(lambda x: x + 0.01 * x.mean(0)),
    "a sum over those before": lambda: Of(lambda x: x.cumsum(0)),
    "softmax over the batch": lambda: Of(lambda x: x.softmax(0)),
    "the size of the batch": lambda: Of(lambda x: x / len(x)),
    "one example alone is another": lambda: Of(lambda x: x if len(x) > 1 else 2 * x),
    "fails on one example": lambda: Of(lambda x: functional.batch_norm(x, *[None] * 4, True)),
}
RANDOM = {
    "dropout": nn.Dropout,
    "rare dropout": lambda: nn.Dropout(1e-6),
    "noise": lambda: Of(lambda x: x + torch.randn_like(x)),
    "passes": Passes,
}
ALONE = {
    "GroupNorm": lambda: nn.GroupNorm(3, 3),
    "InstanceNorm": lambda: nn.InstanceNorm2d(3),
    "LayerNorm": lambda: nn.LayerNorm(IMAGES),
    "no dropout": lambda: nn.Dropout(0.0),
    "not finite": lambda: Of(lambda x: x.log()),
    "zeros": lambda: Of(lambda x: 0 * x),
}


def inputs(shape=IMAGES, n=5, dtype=torch.float32):
    drawn = torch.randn(n, *shape, generator=torch.Generator().manual_seed(1))
    return drawn.to(dtype) if dtype.is_floating_point else drawn.abs().mul(10).to(dtype)


def inside(layer):
    return nn.Sequential(nn.Conv2d(3, 3, 1), layer, nn.Flatten(), nn.Linear(192, 10))


def refused(layer, message, given):
    with pytest.raises(UserError, match=f"^model mine: .*{message}") as caught:
        require_example_wise(inside(layer), given, "mine")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("given", [inputs(), inputs(n=2), torch.zeros(4, *IMAGES)])
@pytest.mark.parametrize(
    ("layer", "message"),
    [
        *((layer, "a forward pass changes '1") for layer in KEEPS.values()),
        *((layer, "depends on the others of the batch") for layer in MIXES.values()),
        *((layer, "random or change") for layer in RANDOM.values()),
    ],
    ids=[*KEEPS, *MIXES, *RANDOM],
)
def test_what_one_example_could_enter_unclipped_is_refused(layer, message, given):
    refused(layer(), message, given)


@pytest.mark.parametrize("layer", ALONE.values(), ids=ALONE)
def test_what_treats_examples_by_themselves_is_not(layer):
    require_example_wise(inside(layer()), inputs(), "mine")


SHAPES = {"mnist": (1, 28, 28), "digits": (1, 8, 8), "cifar10": (3, 32, 32), "scatter": (81, 7, 7)}


def dtypes_of(name):
    """What a network takes: features are stored in float16, tokens are whole numbers."""
    if name in ("token-bag", "small-transformer"):
        return [torch.int64]
    scatter = name.startswith("scatter")
    return [torch.float16, torch.float32] if scatter else [torch.float32]


@pytest.mark.parametrize("name", plugins.names("models"))
@pytest.mark.parametrize("length", [2, 100])
def test_every_shipped_network_passes(name, length):
    shape = SHAPES.get(name.split("-")[0], (1, 8, 8))
    model = models.build(name, torch.Generator().manual_seed(0), shape, 10)
    for dtype in dtypes_of(name):
        require_example_wise(FlatModel(model).model, inputs(shape, length, dtype), name)


@pytest.mark.parametrize("layer", [nn.BatchNorm2d(3), Counter(), nn.Dropout(), nn.GroupNorm(3, 3)])
def test_the_network_and_the_random_state_are_left_as_they_were(layer):
    model = inside(layer).eval()
    model[0].train()
    modes = [module.training for module in model.modules()]
    before = {key: value.clone() for key, value in model.state_dict().items()}
    torch.manual_seed(3)
    expected = torch.rand(3)
    torch.manual_seed(3)
    with suppress(UserError):
        require_example_wise(model, inputs(), "mine")
    assert torch.equal(torch.rand(3), expected)
    assert [module.training for module in model.modules()] == modes
    assert before.keys() == model.state_dict().keys()
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())
    assert all(p.grad is None and p.requires_grad for p in model.parameters())


CLASSES = 3


class Scaled(nn.Module):
    """Learns one factor."""

    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.tensor(1.0))

    def forward(self, x):
        return self.factor * x


class Sorted(nn.Module):
    """Sorts the batch, as for lengths, and puts its outputs back into the batch's order."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(5, 4), nn.Linear(4, CLASSES)

    def forward(self, x):
        order = x[:, 0].argsort()
        return self.last(torch.tanh(self.first(x[order]))[order.argsort()])


def with_zeros(*layers):
    """Return a network whose outputs are 0 at first."""
    last = nn.Linear(5, CLASSES)
    nn.init.zeros_(last.weight)
    nn.init.zeros_(last.bias)
    return nn.Sequential(*layers, last)


def examples(shape=(5,), n=20):
    generator = torch.Generator().manual_seed(3)
    return torch.randn(n, *shape, generator=generator), torch.arange(n) % CLASSES


def test_the_clipped_sum_of_a_sorting_network_is_bounded():
    """An example more moves the sum by the clip norm at most, though it moves rows of the batch."""
    torch.manual_seed(0)
    model, clip_norm, moved = Sorted(), 0.1, []
    for seed in range(20):
        x = torch.randn(51, 5, generator=torch.Generator().manual_seed(seed)) * 5
        y = torch.arange(51) % CLASSES
        sums = [
            PerExampleGradients(model, cross_entropy, x[:n], y[:n]).clipped_sum(clip_norm)
            for n in (50, 51)
        ]
        apart = [(b - a).flatten() for a, b in zip(*sums, strict=True)]
        moved.append(float(torch.cat(apart).norm()))
    assert max(moved) <= clip_norm * (1 + 1e-4)


def test_what_is_not_the_examples_own_is_refused():
    """Zeros hide that the mean of the batch is taken."""
    with pytest.raises(UserError, match="depends on the others of the batch") as caught:
        private(with_zeros(Of(lambda x: x - x.mean(0))))
    assert "\n" not in str(caught.value)


def test_a_parameter_without_dimensions_trains():
    made = private(nn.Sequential(Scaled(), nn.Linear(5, CLASSES)))
    assert made.step() and made.epsilon() > 0


def test_a_network_that_begins_with_zeros_trains():
    made = private(with_zeros())
    assert made.step() and made.epsilon() > 0


@pytest.mark.parametrize("name", plugins.names("models"))
def test_every_shipped_network_has_gradients_of_its_own(name):
    shape = SHAPES.get(name.split("-")[0], (1, 8, 8))
    model = models.build(name, torch.Generator().manual_seed(0), shape, 10)
    before = {key: value.clone() for key, value in model.state_dict().items()}
    given, targets = examples(shape, 6)
    tokens = any(isinstance(layer, nn.Embedding) for layer in model.modules())
    given = torch.randint(9, (6, 8)) if tokens else given
    own.require_own(model, cross_entropy, (given, targets), 3)
    assert all(torch.equal(before[key], value) for key, value in model.state_dict().items())


@pytest.mark.parametrize(("others", "passes"), [(1, True), (2, False), (64, False)])
def test_one_example_at_a_kink_refuses_nothing(monkeypatch, others, passes):
    """Both gradients are right there; wrong ones are so in more than one part."""
    calls = []

    def tried(model, loss_fn, inputs, targets):
        calls.append(len(inputs))
        if (inputs[:, 0] < others).any():
            raise UserError("it is not autograd's")

    spread_out = torch.arange(64.0).view(16, 4).T.reshape(64, 1)  # 0 and 1 in different parts
    monkeypatch.setattr(own, "drawn_within", lambda *_: spread_out.expand(-1, 5))
    monkeypatch.setattr(own, "require_true_gradients", tried)
    monkeypatch.setattr(own, "_require_own_gradients", lambda *_: None)
    with contextlib.nullcontext() if passes else pytest.raises(UserError, match="autograd"):
        own.require_own(nn.Linear(5, 3), cross_entropy, (torch.rand(9, 5), torch.arange(9) % 3), 3)
    assert calls == [64, 16, 16, 16, 16]


def test_of_a_large_network_fewer_examples_are_differentiated(monkeypatch):
    monkeypatch.setattr(own, "HELD", 100 * 5 * CLASSES)
    model, given = nn.Linear(5, CLASSES, bias=False), (torch.rand(9, 5), torch.arange(9) % CLASSES)
    assert len(own.require_own(model, cross_entropy, given, 512)[0]) == 100


class Backward(torch.autograd.Function):
    """Hands its input on, and in the backward pass what a function makes of gradient and input."""

    @staticmethod
    def forward(ctx, x, function):
        ctx.save_for_backward(x)
        ctx.function = function
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        return ctx.function(gradient, *ctx.saved_tensors), None


BACKWARD = {
    "the largest input": lambda g, x: g * x.abs().max(),
    "the size of the batch": lambda g, x: g / len(g),
    "a sign": lambda g, x: g * x.sum().sign(),
}


@pytest.mark.parametrize("function", BACKWARD.values(), ids=BACKWARD)
@pytest.mark.parametrize("batch", [3, 100])
def test_a_backward_pass_that_depends_on_the_batch_is_refused(function, batch):
    """Sums are autograd's, since that has the same fault; outputs and losses are right."""
    model = nn.Sequential(nn.Linear(5, 4), Of(lambda x: Backward.apply(x, function)), nn.Tanh())
    given = torch.randn(200, 5), torch.arange(200) % 4
    with pytest.raises(UserError, match="the gradient of an example depends on the others"):
        own.require_own(model, cross_entropy, given, batch)


@pytest.mark.parametrize("made_again", [copy.copy, copy.deepcopy, pickle.dumps])
def test_two_of_it_never_go_on_from_one_step(made_again):
    with pytest.raises(UserError, match="same noise"):
        made_again(private(with_zeros()))


def _message(made, answers):
    try:
        made.step()
    except UserError as error:
        answers.put(str(error))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="needs fork")
def test_a_forked_process_does_not_go_on():
    fork = multiprocessing.get_context("fork")
    answers = fork.Queue()
    child = fork.Process(target=_message, args=(private(with_zeros()), answers))
    child.start()
    told = answers.get(timeout=60)
    child.join()
    assert "forked process" in told

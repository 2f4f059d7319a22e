"""Networks are refused where a gradient is another example's, whatever weights they begin with."""

import copy
import multiprocessing
import pickle

import pytest
import torch
from test_example_wise import SHAPES, Of
from test_private import private
from torch import nn

from dpfl import models, plugins
from dpfl.base.errors import UserError
from dpfl.gradients import PerExampleGradients
from dpfl.privacy.conditions import own
from dpfl.training.steps import cross_entropy

pytestmark = pytest.mark.usefixtures("coarse")
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

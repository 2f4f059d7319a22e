"""Networks without per-example gradients are refused, and any network is left as it was."""

import pytest
import torch
from example_gradients import clipped_sum, each_cross_entropy, each_square, flat, shipped
from torch import nn
from torch.nn.utils import prune

from dpfl.base.errors import UserError


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


class LastOfBatch(nn.Module):
    """Gives every example what the last one of the batch gets."""

    def __init__(self):
        super().__init__()
        self.inside = nn.Linear(4, 4)

    def forward(self, x):
        return self.inside(x)[-1:].expand(len(x), 4)


class Counts(nn.Linear):
    """Decides by a number, which torch.func.vmap cannot follow."""

    def forward(self, x):
        return super().forward(x) if float(x.sum()) > 0 else super().forward(-x)


class Penalty:
    """A loss that reads the weights beside the outputs."""

    def __init__(self):
        self.model = nn.Linear(4, 4)

    def __call__(self, outputs, targets):
        return each_square(outputs, targets) + self.model.weight.square().sum()


REFUSED = {
    r"'1' \(BatchNorm1d\)": lambda: nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4)),
    r"'1' \(BatchNorm1d\) ": lambda: nn.Sequential(
        nn.Linear(4, 4), nn.BatchNorm1d(4, affine=False, track_running_stats=False)
    ),
    r"'0' \(GRU\).* a cell of Linear layers does": lambda: nn.Sequential(nn.GRU(4, 4)),
    r"'1' \(LSTM\).* a cell of Linear": lambda: nn.Sequential(nn.Linear(4, 4), nn.LSTM(4, 4)),
    r"layer '' \(Linear\): 'weight' is computed from .*parametrize": lambda: prune.identity(
        nn.Linear(4, 4), "weight"
    ),
    r"layer '' \(Counts\): it cannot be differentiated by torch.func": lambda: Counts(4, 4),
    r"layer 'inside' \(Linear\)": LastOfBatch,
    r"no parameter that is trained": lambda: nn.Linear(4, 4).requires_grad_(False),
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_layer_without_per_example_gradient_is_refused_by_name(message):
    with pytest.raises(UserError, match=message) as caught:
        clipped_sum(REFUSED[message](), each_square, torch.randn(3, 4), torch.zeros(3), 1.0)
    assert "\n" not in str(caught.value)


def test_a_loss_that_reads_the_weights_is_refused():
    loss_fn = Penalty()
    with pytest.raises(UserError, match=r"layer '' \(Linear\)"):
        clipped_sum(loss_fn.model, loss_fn, torch.randn(3, 4), torch.zeros(3), 1.0)

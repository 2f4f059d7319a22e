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


class OneLayer(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.layer = nn.Linear(width, width)


class Twice(OneLayer):
    def forward(self, x):
        return self.layer(self.layer(x))


class Overwrites(OneLayer):
    def forward(self, x):
        x = x + 1
        y = self.layer(x)
        x *= 2
        return x + y


class MergesRows(OneLayer):
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
    r"'layer' \(Linear\) is called with 6 rows for 3": lambda: MergesRows(2),
    r"parameters of layer '' \(Linear\)": lambda: prune.identity(nn.Linear(4, 4), "weight"),
    r"'layer' \(Linear\) is called twice": Twice,
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_layer_without_per_example_gradient_is_refused_by_name(message):
    with pytest.raises(UserError, match=message):
        clipped_sum(REFUSED[message](), each_square, torch.randn(3, 4), torch.zeros(3), 1.0)

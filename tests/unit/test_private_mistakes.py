"""What dpfl.Private refuses, in one line each, and what it takes as a newcomer would give it."""

import math
from functools import partial

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import dpfl
from dpfl.base.errors import UserError

pytestmark = pytest.mark.usefixtures("coarse")
N = 60
SIZES = {"epsilon": 4.0, "delta": 1e-3, "batch_size": 20, "epochs": 2, "seed": 0}


def tensors():
    inputs = torch.randn(N, 5, generator=torch.Generator().manual_seed(3))
    return inputs, (inputs[:, 0] > 0).long()


def network(dtype=torch.float32):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 2)).to(dtype)


def sgd(parameters, **settings):
    return torch.optim.SGD(parameters, lr=0.5, **settings)


def made(model=None, optimizer=None, **changed):
    model = model or network()
    optimizer = (optimizer or (lambda own: sgd(own.parameters())))(model)
    return dpfl.Private(model, optimizer, **{"examples": tensors(), **SIZES, **changed})


def finished(private):
    while private.step():
        pass
    return torch.cat([p.detach().flatten() for p in private.model.parameters()])


def trained(*parts, **changed):
    return finished(made(*parts, **changed))


def frozen():
    model = network()
    model[0].requires_grad_(False)
    return model


class Endless(IterableDataset):
    def __iter__(self):
        yield from zip(*tensors(), strict=True)


def shared(outputs, targets):
    losses = functional.cross_entropy(outputs, targets, reduction="none")
    return losses / losses.mean()


def by_batch(outputs, targets):
    return functional.cross_entropy(outputs, targets, reduction="none") / len(outputs)


INPUTS, TARGETS = tensors()
QUANTILE = {"uses": "quantile", "clip_norm": 1.0, "quantile": 0.8}
ADAPTIVE = {"uses": "adaptive", "save": 0.1, "spend": 1.5, "agreement": 0.0}
MORE = nn.Parameter(torch.ones(2))


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"optimizer": lambda m: sgd(network().parameters())}, "0 of the model's 4 .* 4 others"),
        ({"optimizer": lambda m: sgd(m[0].parameters())}, "2 of the model's 4 .* 0 others"),
        ({"optimizer": lambda m: sgd([*m.parameters(), MORE])}, "4 of the model's 4 .* 1 others"),
        ({"optimizer": lambda m: torch.optim.LBFGS(m.parameters())}, "LBFGS: .* closure"),
        ({"model": frozen()}, "2 of the model's 2 .* 2 others"),
        ({"model": network(torch.float64)}, "model Sequential on inputs .*float32: .*Double"),
        ({"examples": (INPUTS[:, :4], TARGETS)}, "Sequential on inputs .*cannot be multiplied"),
        ({"examples": (INPUTS.numpy(), TARGETS.numpy())}, "found ndarray, ndarray; expected two"),
        ({"examples": DataLoader(TensorDataset(*tensors()))}, "DataLoader; .*no loader"),
        ({"examples": Endless()}, "found Endless; .* with a length"),
        ({"examples": {"inputs": INPUTS, "targets": TARGETS}}, "found dict; expected"),
        ({"examples": None}, "found NoneType"),
        ({"examples": INPUTS}, "no pair of an input and a target"),
        ({"examples": (INPUTS, TARGETS, TARGETS)}, "found 3 tensors"),
        ({"examples": (INPUTS[:1], TARGETS[:1]), "batch_size": 1}, "found 1, expected at least 2"),
        ({"examples": (INPUTS[:0], TARGETS[:0])}, "found 0, expected at least 2"),
        ({"examples": (INPUTS, TARGETS[1:])}, "60 inputs, but 59 targets"),
        ({"public": (INPUTS, TARGETS[1:])}, "public: 60 inputs, but 59 targets"),
        ({"delta": 0.1}, "delta is 0.1, must be < 1/60"),
        ({"batch_size": 500}, r"batch_size is 500, must be in \[1, 60\]"),
        ({"mechanism": "dpsdg"}, "did you mean 'dpsgd'"),
        ({"mechanism": "dp-fedavg"}, "protects clients"),
        ({"mechanism": "p3sgd"}, "uses public examples"),
        ({"clipping": {"uses": "nearest", "clip_norm": 1.0}}, "clippings"),
        ({"mechanism": "dpsgd-opacus", "clipping": QUANTILE}, "clips by rule"),
        ({"budget": "unifrom"}, "did you mean 'uniform'"),
        ({"model": nn.Sequential(nn.Linear(5, 3), nn.BatchNorm1d(3))}, "no running statistics"),
        ({"epsilon": math.inf}, "epsilon is inf; .* 1000"),
        ({"epsilon": 1e4}, r"epsilon is 10000.0; .* in \[1e-6, 1000\]"),
        ({"epsilon": math.nan}, "epsilon is nan"),
        ({"epsilon": 0.01, "delta": 1e-5, "budget": ADAPTIVE}, "it pays for no step"),
        ({"epsilon": "4"}, "epsilon is '4'"),
        ({"delta": 0}, "delta is 0"),
        ({"epochs": 0}, "epochs is 0; .* >= 1"),
        ({"epochs": 1.5}, "epochs is 1.5; .* whole"),
        ({"batch_size": 12.5}, "batch_size is 12.5; .* whole"),
        ({"seed": "secret"}, "seed is 'secret'"),
        ({"clipping": "quantile"}, "clipping quantile: the setting 'clip_norm' is missing"),
        ({"clipping": {"uses": "fixed", "clipnorm": 1.0}}, "did you mean 'clip_norm'"),
        ({"clipping": None}, "clipping: found None"),
        ({"clipping": True}, "clipping: found True"),
        ({"clipping": 1e-320}, "clip_norm is 1e-320; .* not nearer to 0 than 1e-30"),
        ({"clipping": {"uses": "fixed", "clip_norm": 5e-324}}, "clip_norm is 5e-324"),
        ({"model": nn.Sequential(nn.LazyLinear(2))}, "'0.weight' has no shape yet"),
        ({"mechanism": {"rank": 2}}, "mechanism: found .* expected a name"),
        ({"mechanism": {"uses": "dpsgd", "rank": 2}}, "mechanism dpsgd: unknown setting 'rank'"),
        ({"budget": "decay"}, "budget decay: the setting 'shape' is missing"),
        ({"loss_fn": shared}, "depends on the others of the batch"),
        ({"loss_fn": by_batch}, "depends on the others of the batch"),
        ({"loss_fn": lambda o, t: o - o}, r"it returns \(64, 2\) for 64 examples"),
        ({"examples": (INPUTS, TARGETS.float())}, "loss_fn on .* but got Float"),
    ],
)
def test_a_mistake_is_told_in_one_line(changed, told):
    with pytest.raises(UserError, match=told) as raised:
        trained(**changed)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "given",
    [
        [INPUTS, TARGETS],
        list(zip(INPUTS, TARGETS, strict=True)),
        list(zip(INPUTS.numpy(), TARGETS.tolist(), strict=True)),
        TensorDataset(INPUTS, TARGETS),
    ],
)
def test_lists_and_datasets_train_to_the_bits_of_tensors(given):
    assert torch.equal(trained(examples=given), trained())


def cross_entropy(reduction):
    return partial(functional.cross_entropy, reduction=reduction)


def test_a_scalar_loss_is_that_of_every_example_alone():
    each, mean = (made(loss_fn=cross_entropy(reduction)) for reduction in ("none", "mean"))
    assert each._steps.sources != mean._steps.sources
    mean._steps.sources = each._steps.sources
    torch.testing.assert_close(finished(mean), finished(each))


def test_losses_of_probabilities_can_be_tried():
    """Random outputs beside the given ones must lie where the loss is defined."""
    model = nn.Sequential(nn.Linear(5, 1), nn.Sigmoid(), nn.Flatten(0))
    loss_fn = nn.BCELoss(reduction="none")
    before = [p.detach().clone() for p in model.parameters()]
    trained(model=model, examples=(INPUTS, TARGETS.float()), loss_fn=loss_fn)
    assert not torch.equal(before[0], model[0].weight)


def test_a_network_in_evaluation_or_in_float64_is_trained_as_it_is():
    assert torch.equal(trained(model=network().eval()), trained())
    found = trained(model=network(torch.float64), examples=(INPUTS.double(), TARGETS))
    assert found.dtype == torch.float64
    torch.testing.assert_close(found.float(), trained(), atol=1e-3, rtol=1e-3)


def test_a_schedule_of_rates_drives_the_users_own_optimizer():
    model = network()
    optimizer = sgd(model.parameters())
    rates = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: float(step == 0))
    private = dpfl.Private(model, optimizer, examples=tensors(), **SIZES)
    private.step()
    after_one = [p.detach().clone() for p in model.parameters()]
    rates.step()  # to a rate of zero
    while private.step():
        pass
    pairs = zip(after_one, model.parameters(), strict=True)
    assert all(torch.equal(before, after) for before, after in pairs)


def test_a_gradient_left_by_the_user_is_not_applied():
    model = network()
    for p in model.parameters():
        p.grad = torch.full_like(p, np.inf)
    assert torch.equal(trained(model=model), trained())


@pytest.mark.parametrize(
    "changed",
    [
        {"batch_size": np.int64(20)},
        {"epsilon": np.float32(4), "epochs": np.int32(2), "seed": np.uint8(0)},
        {"clipping": np.float32(1)},
        {"clipping": {"uses": "fixed", "clip_norm": np.float64(1)}},
    ],
)
def test_numbers_of_numpy_train_to_the_bits_of_numbers_of_python(changed):
    assert torch.equal(trained(**changed), trained())

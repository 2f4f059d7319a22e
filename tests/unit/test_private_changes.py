"""What is changed after the start, or does not show in a small batch, is refused in one line."""

import math
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from test_private_mistakes import INPUTS, TARGETS, N, finished, made, network, sgd
from torch import nn
from torch.nn import functional
from torch.utils.data import Dataset

from dpfl.base.errors import UserError
from dpfl.draws import noise

pytestmark = pytest.mark.usefixtures("coarse")


class Switched(nn.Module):
    """Centres its batch where it is told to."""

    def __init__(self, mixes=lambda own, x: own.mix or own.settings.mix):
        super().__init__()
        self.last, self.mixes = nn.Linear(5, 2), mixes
        self.mix, self.settings, self.calls = False, SimpleNamespace(mix=False), []

    def forward(self, x):
        return self.last(x - x.mean(0) if self.mixes(self, x) else x)


each_loss = partial(functional.cross_entropy, reduction="none")


class Loss:
    """Divides by the size of the batch where it is told to."""

    shared = False

    def __call__(self, outputs, targets):
        losses = each_loss(outputs, targets)
        return losses / len(losses) if self.shared else losses

    def method(self, outputs, targets):
        return self(outputs, targets)


SHARED = {"on": False}


def loss_of_a_switch(outputs, targets):
    losses = each_loss(outputs, targets)
    return losses / len(losses) if SHARED["on"] else losses


def centred(layer, inputs, output):
    return output - output.mean(0)


def replaced(model):
    del model[2]
    model.append(nn.Linear(4, 2))


def with_gradient(optimizer):
    more = nn.Parameter(torch.ones(2))
    more.grad = torch.ones(2)
    optimizer.add_param_group({"params": [more], "lr": 1.0})


LATER = {
    "a layer": lambda p: p.model.__setitem__(2, nn.Linear(4, 2)),
    "a layer in its place": lambda p: replaced(p.model),
    "another layer": lambda p: p.model.append(nn.Dropout()),
    "a hook": lambda p: p.model[0].register_forward_hook(centred),
    "a hook before": lambda p: p.model[0].register_forward_pre_hook(lambda m, x: None),
    "a forward of its own": lambda p: setattr(p.model[0], "forward", lambda x: x[:, :4]),
    "a parameter": lambda p: p.model[0].register_parameter("more", nn.Parameter(torch.ones(1))),
    "a buffer": lambda p: p.model.register_buffer("more", torch.ones(1)),
    "frozen": lambda p: p.model[0].requires_grad_(False),
    "evaluation": lambda p: p.model.eval(),
    "a layer in evaluation": lambda p: p.model[1].eval(),
    "bfloat16": lambda p: p.model.to(torch.bfloat16),
    "float64": lambda p: p.model.double(),
    "network": lambda p: setattr(p, "model", network()),
    "optimizer": lambda p: setattr(p, "optimizer", sgd(p.model.parameters())),
    "a group": lambda p: with_gradient(p.optimizer),
    "a parameter of a group": lambda p: p.optimizer.param_groups[0]["params"].append(
        nn.Parameter(torch.ones(1))
    ),
    "a hook of the optimizer": lambda p: p.optimizer.register_step_post_hook(lambda *_: None),
}


def refused_later(private, change, told=""):
    """Nothing is charged, and the network stays as it is."""
    assert private.step()
    change(private)
    before = [p.detach().clone() for p in private.model.parameters()]
    spent = private.epsilon()
    with pytest.raises(UserError, match=told) as caught:
        private.step()
    assert "\n" not in str(caught.value)
    assert (private.taken, private.epsilon()) == (1, spent)
    now = [p.detach() for p in private.model.parameters()]
    assert all(map(torch.equal, before, now))


@pytest.mark.parametrize("change", LATER.values(), ids=LATER)
def test_what_is_changed_later_is_found(change):
    refused_later(made(), change, "it is not what it was")


@pytest.mark.parametrize(
    ("build", "change"),
    [
        (Switched, lambda p: setattr(p.model, "mix", True)),
        (Switched, lambda p: setattr(p.model.settings, "mix", True)),
        (Switched, lambda p: p.model.calls.append(1)),
        (Loss(), lambda p: setattr(p._loss_fn, "shared", True)),
        (Loss().method, lambda p: setattr(p._loss_fn.__self__, "shared", True)),
        (loss_of_a_switch, lambda p: SHARED.update(on=True)),
    ],
)
def test_a_switch_of_the_network_or_the_loss_is_found(build, change):
    private = made(Switched()) if build is Switched else made(loss_fn=build)
    try:
        refused_later(private, change, "it is not what it was")
    finally:
        SHARED["on"] = False


@pytest.mark.parametrize(
    ("turn", "to"),
    [
        (torch.set_float32_matmul_precision, "high"),
        (torch.set_float32_matmul_precision, "medium"),
        (torch.set_flush_denormal, True),
    ],
)
def test_fewer_digits_are_refused_at_the_start_and_later(turn, to):
    try:
        refused_later(made(), lambda p: turn(to), "in fewer digits")
        with pytest.raises(UserError, match="in fewer digits"):
            made()
    finally:
        torch.set_float32_matmul_precision("highest")
        torch.set_flush_denormal(False)


def test_inference_mode_is_refused_and_an_evaluation_in_between_is_not():
    private = made()
    with torch.inference_mode(), pytest.raises(UserError, match="inference mode"):
        private.step()
    assert private.epsilon() == private.taken == 0
    private.step()
    private.model.eval()
    with torch.no_grad():
        private.model(INPUTS)
    private.model.train()
    assert private.step()


class Initialised(Switched):
    """Keeps something of the first batch, in a plain attribute."""

    def __init__(self, keep):
        super().__init__()
        self.keep = keep

    def forward(self, x):
        if not self.calls:
            self.keep(self, x)
        return super().forward(x)


KEPT = (
    lambda own, x: setattr(own, "mean", x.mean(0)),
    lambda own, x: setattr(own, "scale", float(x.std())),
    lambda own, x: own.calls.append(float(x.mean())),
    lambda own, x: setattr(own.settings, "scale", float(x.std())),
)


def infinite(outputs, targets):
    """One loss of the batch is infinite, and hides no other."""
    losses = each_loss(outputs, targets)
    return torch.where(outputs[:, 0] > 0.9, math.inf, losses / len(losses))


def of_class(outputs, targets, wanted=1):
    return each_loss(outputs, targets) * (targets == wanted).any()


def by_classes(outputs, targets):
    return each_loss(outputs, targets) / targets.unique().numel()


class Items(Dataset):
    """Fetches examples of its own; those that fail raise once, or always."""

    def __init__(self, inputs, targets, failing=(), once=True):
        self.inputs, self.targets = inputs, targets
        self.failing, self.once = set(failing), once

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, number):
        if number in self.failing:
            if self.once:
                self.failing.discard(number)
            raise OSError("cannot be read")
        return self.inputs[number], self.targets[number]


class Keeping(Loss):
    def __call__(self, outputs, targets):
        self.last = super().__call__(outputs, targets)
        return self.last


def with_target(bad):
    return torch.where(torch.arange(N) == 50, bad, TARGETS)


def public_with(rows):
    """Some of the private inputs, with other targets, and three of its own."""
    inputs, targets = (INPUTS[rows], torch.randn(3, 5)), (1 - TARGETS[rows], TARGETS[:3])
    return torch.cat(inputs), torch.cat(targets)


def above(size):
    return Switched(lambda own, x: len(x) > size)


MIXES = "depends on the others of the batch"
MANY = {"examples": (INPUTS.repeat(12, 1), TARGETS.repeat(12)), "delta": 1e-4}
SORTED, GIVEN = TARGETS.argsort(), (lambda *pair: pair, Items)
REFUSED = [
    *(({"model": Initialised(keep)}, "a forward pass changes") for keep in KEPT),
    *(({"model": above(size), **MANY}, MIXES) for size in (25, 32)),
    ({"model": above(100), **MANY, "batch_size": 60}, MIXES),
    ({"model": above(1100), **MANY, "batch_size": 600}, MIXES),
    ({"model": Switched(lambda own, x: not own.training), **MANY}, MIXES),
    *(
        ({"loss_fn": loss_fn, "examples": given(INPUTS[SORTED], TARGETS[SORTED])}, MIXES)
        for loss_fn in (of_class, by_classes, infinite)
        for given in GIVEN
    ),
    ({"loss_fn": Keeping()}, "a call changes 'last'"),
    *(
        ({"examples": (INPUTS, with_target(bad))}, f"targets: found {bad}, expected 0 or 1")
        for bad in (7, -1)
    ),
    *(
        (
            {"mechanism": "p3sgd", "public": public_with(rows), "examples": given(INPUTS, TARGETS)},
            "public: example 0 equals a private one",
        )
        for rows in (slice(0, 9), slice(N - 1, N))
        for given in GIVEN
    ),
    ({"mechanism": {"uses": "fsdp-central", "rank": 2}, "microbatch": 5}, "microbatch: .*adds"),
    ({"mechanism": "dpsgd-opacus", "microbatch": 5}, "microbatch: .*by itself"),
]


@pytest.mark.parametrize(("changed", "told"), REFUSED)
def test_what_a_proof_does_not_cover_is_refused_at_the_start(changed, told):
    with pytest.raises(UserError, match=told):
        made(**changed)


def test_targets_that_the_loss_takes_pass():
    targets = TARGETS.clone()
    targets[::7] = -100  # what cross entropy ignores
    assert made(examples=(INPUTS, targets)).step()
    signs = nn.Sequential(nn.Linear(5, 1), nn.Flatten(0))
    soft = nn.SoftMarginLoss(reduction="none")
    assert made(signs, loss_fn=soft, examples=(INPUTS, 2 * TARGETS - 1)).step()


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e30])
def test_examples_that_are_not_finite_are_left_out(value):
    inputs = INPUTS.clone()
    inputs[:8] = value
    assert torch.isfinite(finished(made(examples=(inputs, TARGETS)))).all()
    assert torch.isfinite(finished(made(examples=(INPUTS * math.nan, TARGETS)))).all()


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32])
def test_token_ids_stay_in_their_range(dtype):
    class Bag(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.last = nn.Embedding(9, 4), nn.Linear(4, 2)

        def forward(self, x):
            return self.last(self.table(x.long()).mean(1))

    ids = torch.randint(9, (N, 6)).to(dtype)
    assert made(Bag(), examples=(ids, TARGETS)).step()


def folded(kind, rows):
    inputs, targets = INPUTS[rows], TARGETS[rows]
    if kind == "subset":
        return torch.utils.data.Subset(Items(INPUTS, TARGETS), range(N)[rows])
    return {"tensors": (inputs, targets), "items": Items(inputs, targets)}[kind]


@pytest.mark.parametrize("kind", ["tensors", "items", "subset"])
def test_folds_of_one_seed_share_no_noise(kind):
    first, second = slice(0, N // 2), slice(N // 2, N)
    one, same, other = (made(examples=folded(kind, rows)) for rows in (first, first, second))
    keys = [private._steps.sources.noise_key for private in (one, same, other)]
    assert keys[0] == keys[1] != keys[2]


def test_a_frozen_layer_stays_and_groups_have_their_rates():
    model = network()
    model[0].requires_grad_(False)
    before = [p.detach().clone() for p in model.parameters()]
    groups = [{"params": [model[2].weight], "lr": 0.5}, {"params": [model[2].bias], "lr": 0.0}]
    finished(made(model, lambda m: torch.optim.SGD(groups)))
    moved = [not torch.equal(b, p) for b, p in zip(before, model.parameters(), strict=True)]
    assert moved == [False, False, True, False]


@pytest.mark.parametrize("budget", ["uniform", {"uses": "decay", "shape": "geometric", "ratio": 4}])
@pytest.mark.parametrize("once", [True, False])
def test_after_an_error_the_rest_is_taken(budget, once, monkeypatch):
    """The account counts every step, no stream is used twice, and nothing is proven."""
    private = made(examples=Items(INPUTS, TARGETS, [31], once), budget=budget, epochs=4)
    used, told, released, begin = [], [], 0, noise.Seeded.__init__
    monkeypatch.setattr(
        noise.Seeded, "__init__", lambda own, *key: used.append(key) or begin(own, *key)
    )
    for _ in range(private.steps):
        try:
            released += private.step()
        except UserError as error:
            told.append(str(error))
    assert told and set(told) == {"examples: example 31 raised OSError: cannot be read"}
    assert released == private.steps - len(told) and private.taken == private.steps
    assert not private.step() and private.epsilon().reasons[0].startswith("step ")
    assert len(set(used)) == len(used) and (len(told) == 1) is once


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"audit": True},
        {"clipping": {"uses": "quantile", "clip_norm": 1.0, "quantile": 0.8}},
        {"mechanism": {"uses": "fsdp-certified", "rank": 2, "basis_examples": 10}},
    ],
)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_microbatches_train_to_equal_weights(changed, size):
    torch.testing.assert_close(
        finished(made(microbatch=size, **changed)), finished(made(**changed)), atol=1e-5, rtol=1e-5
    )

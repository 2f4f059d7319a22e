"""Private training of somebody's own network, against the workflow's path and the accountants."""

import io
from functools import partial

import numpy as np
import pytest
import torch
from fixtures_of_steps import step_of
from torch import nn

import dpfl
from dpfl.base.errors import UserError
from dpfl.clippings import fixed
from dpfl.contracts.release import Unproven
from dpfl.draws import noise
from dpfl.mechanisms import dpsgd
from dpfl.privacy.accounting import epsilon
from dpfl.training.steps import cross_entropy

pytestmark = pytest.mark.usefixtures("coarse")
N, BATCH, EPOCHS = 200, 20, 3
ADAPTIVE = {"uses": "adaptive", "save": 0.5, "spend": 1.5, "agreement": 0.0}
BUDGET = {"epsilon": 4.0, "delta": 1e-4, "batch_size": BATCH, "epochs": EPOCHS}


def examples(n=N, seed=3):
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(n, 5, generator=generator)
    return inputs, (inputs[:, 0] > 0).long() + (inputs[:, 1] > 0).long()


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3))


def private(model=None, data=None, rate=0.5, optimizer=torch.optim.SGD, **changed):
    model = model or network()
    optimizer = optimizer(model.parameters(), lr=rate)
    given = {"examples": data or examples(), "seed": 0, **BUDGET, **changed}
    return dpfl.Private(model, optimizer, **given)


def flat(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def trained(**changed):
    made = private(**changed)
    while made.step():
        pass
    return made


def after(made, steps):
    for _ in range(steps):
        made.step()
    return made


def test_it_spends_the_budget_and_stops():
    made = trained()
    assert made.taken == made.steps == EPOCHS * (N // BATCH)
    z = made.plan["noise_multipliers"][0]
    assert made.epsilon() == pytest.approx(epsilon(BATCH / N, z, made.steps, 1e-4), rel=1e-3)
    assert 0.99 * 4 < made.epsilon() <= 4
    before = flat(made.model)
    assert made.step() is False and torch.equal(before, flat(made.model))


def test_epsilon_is_spent_epoch_by_epoch():
    made = private()
    assert made.epsilon() == 0
    after(made, N // BATCH)
    z = made.plan["noise_multipliers"][0]
    assert made.epsilon() == pytest.approx(epsilon(BATCH / N, z, N // BATCH, 1e-4), rel=1e-3)


def test_it_is_the_mechanism_on_poisson_batches_from_the_streams():
    """A plain loop over the same draws ends at the same bits."""
    made, model = trained(clipping=0.7), network()
    inputs, targets = examples()
    mechanism = dpsgd.DPSGD(fixed.build(0.7))
    z = made.plan["noise_multipliers"][0]
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    noise_key = made._steps.sources.noise_key
    for step in range(made.steps):
        chosen = noise.Seeded(0, "batch", 0, step).uniform(N) < BATCH / N
        drawn = torch.from_numpy(np.flatnonzero(chosen))
        normal = noise.Seeded(*noise_key, 0, step).normal
        given = {"normal": normal, "loss_fn": cross_entropy}
        gradient = mechanism.estimate(
            step_of(model, inputs[drawn], targets[drawn], z, BATCH, **given)
        )
        parts = gradient.split([p.numel() for p in model.parameters()])
        for p, part in zip(model.parameters(), parts, strict=True):
            p.grad = part.view_as(p)
        optimizer.step()
    assert torch.equal(flat(model), flat(made.model))


def test_a_seed_repeats_and_no_seed_does_not():
    assert torch.equal(flat(trained().model), flat(trained().model))
    assert not torch.equal(flat(trained(seed=None).model), flat(trained(seed=None).model))


@pytest.mark.parametrize(
    "changed",
    [
        {"mechanism": {"uses": "p3sgd", "candidates": [1.0, 1.5]}, "public": examples(20, 4)},
        {"mechanism": {"uses": "fsdp-certified", "rank": 2, "basis_examples": 10}},
        {"clipping": {"uses": "quantile", "clip_norm": 1.0, "quantile": 0.8}},
        {"budget": {"uses": "decay", "ratio": 2.0, "shape": "geometric"}},
        {"budget": ADAPTIVE},
    ],
)
def test_any_mechanism_clipping_and_budget(changed):
    before = flat(network())
    made = trained(**changed)
    assert 0 < made.epsilon() <= 4 and not torch.equal(before, flat(made.model))


def wider():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(5, 9), nn.Tanh(), nn.Linear(9, 3))


def hinge(outputs, targets):
    return nn.functional.multi_margin_loss(outputs, targets, reduction="none")


P3SGD = {"mechanism": {"uses": "p3sgd", "candidates": [1.0, 1.5]}}


@pytest.mark.parametrize(
    ("common", "changed"),
    [
        ({}, {"epsilon": 8.0}),
        ({}, {"rate": 0.1}),
        ({}, {"model": wider()}),
        ({}, {"model": network().apply(lambda m: getattr(m, "bias", torch.ones(1)).data.zero_())}),
        ({}, {"loss_fn": hinge}),
        ({}, {"loss_fn": partial(nn.functional.multi_margin_loss, reduction="none")}),
        ({}, {"clipping": 0.5}),
        ({**P3SGD, "public": examples(20, 4)}, {"public": examples(21, 4)}),
    ],
)
def test_runs_of_a_seed_that_begin_differently_share_no_noise(common, changed):
    """The same noise on two sums would give away how they differ."""
    one, same, other = (private(**{**common, **more})._steps.sources for more in ({}, {}, changed))
    assert one == same
    assert one.batch_key == other.batch_key and one.noise_key != other.noise_key


def test_the_noise_of_an_epoch_is_chosen_once():
    """The adaptive budget tells the noise of an epoch, and the last takes what is left."""
    told = []

    class Watched(torch.optim.SGD):
        def tell_noise(self, noise):
            told.append(noise.noise_multiplier)

    made = trained(optimizer=Watched, budget=ADAPTIVE)
    epochs = [set(told[start : start + N // BATCH]) for start in range(0, len(told), N // BATCH)]
    assert len(epochs) == EPOCHS and all(len(noise) == 1 for noise in epochs)
    assert 0.95 * 4 < made.epsilon() <= 4


@pytest.mark.parametrize(
    "budget", [{"uses": "decay", "ratio": 16.0, "shape": "geometric"}, ADAPTIVE]
)
def test_noise_on_counts_that_a_late_epoch_cannot_have_is_refused_at_the_start(budget):
    """What is enough noise for the first epoch is not for the last."""
    plan = private(budget=budget).plan
    noise = 1.02 * min(plan["noise_multipliers"]) / 2
    rule = {"uses": "quantile", "clip_norm": 1.0, "quantile": 0.8, "count_noise": noise}
    with pytest.raises(UserError, match="must be more than"):
        private(budget=budget, clipping=rule)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_networks_of_fewer_digits_than_float32_are_refused(dtype):
    inputs, targets = examples()
    with pytest.raises(UserError, match="expected float32 or float64"):
        private(model=network().to(dtype), data=(inputs.to(dtype), targets))


def test_autocast_is_refused_before_anything_is_charged():
    made = private()
    with torch.autocast("cpu", dtype=torch.bfloat16), pytest.raises(UserError, match="autocast"):
        made.step()
    assert made.epsilon() == 0 == made.taken


def test_without_a_proof_there_are_reasons_and_no_epsilon():
    made = trained(mechanism={"uses": "fsdp-central", "rank": 2})
    assert isinstance(made.epsilon(), Unproven) and made.epsilon().reasons


def test_without_a_seed_draws_follow_a_secret_of_256_bits():
    keys = [private(seed=None)._steps.sources.batch_key[0] for _ in range(2)]
    assert keys[0] != keys[1] and {len(bytes.fromhex(key)) for key in keys} == {32}


def test_an_audit_is_one_argument_and_changes_nothing():
    plain, watched = trained(), trained(audit=True)
    assert torch.equal(flat(plain.model), flat(watched.model))
    found = watched.audit()
    assert found["status"] == "audited" and 0 < found["epsilon"] <= watched.epsilon()
    assert found["epsilon"] > 0.7 * watched.epsilon() and found["level"] == 0.05
    assert plain.audit()["status"] == "not audited"


DELTA, STEPS = 1e-4, EPOCHS * (N // BATCH)
ADAM = {"optimizer": torch.optim.Adam, "rate": 0.05}


def saved(state):
    """Through a file, as plain data."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    return torch.load(file, weights_only=True)


def other_weights():
    return network().apply(lambda m: [p.data.mul_(2) for p in m.parameters(recurse=False)])


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {"audit": True},
        {"mechanism": {"uses": "fsdp-certified", "rank": 2, "basis_examples": 10}},
        {"clipping": {"uses": "quantile", "clip_norm": 1.0, "quantile": 0.8}},
        {"budget": ADAPTIVE},
        {"mechanism": {"uses": "p3sgd"}, "public": examples(20, 4)},
    ],
)
@pytest.mark.parametrize("steps", [7, N // BATCH])
def test_a_run_goes_on_to_the_same_bits(changed, steps):
    whole = trained(**ADAM, **changed)
    begun = after(private(**ADAM, **changed), steps)
    resumed = private(other_weights(), **ADAM, **changed)
    resumed.load_state_dict(saved(begun.state_dict()))
    assert (resumed.taken, resumed.epsilon()) == (steps, begun.epsilon())
    while resumed.step():
        pass
    pairs = zip(whole.model.parameters(), resumed.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert (whole.epsilon(), whole.audit()) == (resumed.epsilon(), resumed.audit())


@pytest.mark.parametrize("seed", [0, None])
def test_a_state_behind_what_was_released_is_refused(seed):
    begun = after(private(seed=seed), 3)
    early = begun.state_dict()
    late = after(begun, 2).state_dict()
    for made in (begun, private(seed=seed)):
        with pytest.raises(UserError, match=r"3 steps .* released 5 of the run"):
            made.load_state_dict(early)
    begun.load_state_dict(late)
    assert begun.step()


def test_of_two_that_hold_one_state_one_goes_on():
    begun = after(private(seed=None), 3)
    twin = private(seed=None)
    twin.load_state_dict(begun.state_dict())
    assert twin.step()
    with pytest.raises(UserError, match="the account is behind"):
        begun.step()


@pytest.mark.parametrize(
    ("changed", "steps", "told"),
    [
        ({"epsilon": 5.0}, 0, "other settings"),
        ({"clipping": 0.5}, 0, "other settings"),
        ({"data": examples(N, 5)}, 0, "other settings, examples"),
        ({"loss_fn": torch.nn.MultiMarginLoss(reduction="none")}, 0, "network or loss"),
        ({}, 1, "of another run"),
        ({"audit": True}, 0, "one of the two is audited"),
    ],
)
def test_a_state_of_another_run_is_refused(changed, steps, told):
    state = after(private(), 2).state_dict()
    made = after(private(**changed), steps)
    before = [p.detach().clone() for p in made.model.parameters()]
    with pytest.raises(UserError, match=told):
        made.load_state_dict(state)
    assert all(map(torch.equal, before, made.model.parameters())) and made.taken == steps


def test_an_audit_above_epsilon_and_noise_without_a_price_are_told(monkeypatch):
    monkeypatch.setattr("dpfl.api.private.findings", lambda *_: {"epsilon": 9, "status": "audited"})
    assert after(private(audit=True), 3).audit()["status"] == "refuted"
    real = dpfl.plugins.constant
    told = lambda *asked: (1.0, -0.5) if "CORRELATION" in asked else real(*asked)  # noqa: E731
    monkeypatch.setattr("dpfl.training.holders.plugins.constant", told)
    with pytest.raises(UserError, match="no accountant prices its CORRELATION"):
        private()


@pytest.mark.parametrize("edit", [dict.clear, lambda state: state["account"].update({"0": 0})])
def test_what_is_no_state_or_has_another_account_is_refused(edit):
    state = after(private(), 2).state_dict()
    edit(state)
    with pytest.raises(UserError, match=r"state: (expected what|its account has 0 steps)"):
        private().load_state_dict(state)


def test_two_runs_cost_what_their_steps_cost_together():
    one, other = (after(private(seed=seed), STEPS) for seed in (1, 2))
    z = one.plan["noise_multipliers"][0]
    expected = epsilon(BATCH / N, z, 2 * STEPS, DELTA)
    one.plan["noise_multipliers"][:] = []  # a copy, not what counts
    assert dpfl.compose(one, other) == pytest.approx(expected, rel=1e-6)
    assert one.epsilon() < expected < one.epsilon() + other.epsilon()
    assert dpfl.compose(one, other, delta=1e-3) < expected
    nothing, begun = private(seed=3), after(private(seed=4), 1)
    assert dpfl.compose(nothing, private(seed=5)) == 0
    assert dpfl.compose(nothing, begun) == pytest.approx(begun.epsilon(), rel=1e-6)


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        (lambda: [private()], "found 1 runs"),
        (lambda: [private()] * 2, "each once"),
        (lambda: [private(), private(clipping=0.5)], "the same batches"),
        (lambda: [private(seed=1), private(delta=1e-5)], "expected delta="),
        (lambda: [private(seed=1), private(budget=ADAPTIVE)], "adaptive budget"),
        (
            lambda: [private(), private(seed=1, mechanism={"uses": "fsdp-central", "rank": 2})],
            "no proof: ",
        ),
    ],
)
def test_what_has_no_price_together_is_refused(runs, told):
    with pytest.raises(UserError, match=told):
        dpfl.compose(*runs())

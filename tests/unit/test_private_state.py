"""Runs of dpfl.Private that go on from a state, and what several of them cost together."""

import io

import pytest
import torch
from test_private import ADAPTIVE, BATCH, EPOCHS, N, examples, network, private, trained

import dpfl
from dpfl.base.errors import UserError
from dpfl.privacy.accounting import epsilon

pytestmark = pytest.mark.usefixtures("coarse")
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
    begun = private(**ADAM, **changed)
    for _ in range(steps):
        begun.step()
    resumed = private(other_weights(), **ADAM, **changed)
    resumed.load_state_dict(saved(begun.state_dict()))
    assert (resumed.taken, resumed.epsilon()) == (steps, begun.epsilon())
    while resumed.step():
        pass
    pairs = zip(whole.model.parameters(), resumed.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)
    assert (whole.epsilon(), whole.audit()) == (resumed.epsilon(), resumed.audit())


def after(made, steps):
    for _ in range(steps):
        made.step()
    return made


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
    ],
)
def test_a_state_of_another_run_is_refused(changed, steps, told):
    state = after(private(), 2).state_dict()
    made = after(private(**changed), steps)
    before = [p.detach().clone() for p in made.model.parameters()]
    with pytest.raises(UserError, match=told):
        made.load_state_dict(state)
    assert all(map(torch.equal, before, made.model.parameters())) and made.taken == steps


def test_two_runs_cost_what_their_steps_cost_together():
    one, other = (after(private(seed=seed), STEPS) for seed in (1, 2))
    z = one.plan["noise_multipliers"][0]
    expected = epsilon(BATCH / N, z, 2 * STEPS, DELTA)
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

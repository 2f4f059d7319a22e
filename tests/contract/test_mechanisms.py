"""Every private gradient estimator through one suite, found by file name."""

import pytest
import torch
from every_mechanism import CLIP, RULES, VARIANTS, Z, build, built, estimate, proven, small_builds
from fixtures_of_steps import EXPECTED, drawn, setting
from torch import nn

from dpfl import models, plugins
from dpfl.base.errors import UserError
from dpfl.contracts.release import Unproven
from dpfl.draws import noise
from dpfl.gradients import finite
from dpfl.gradients.dirac import Dirac
from dpfl.gradients.step import Public
from dpfl.plugins.catalogue import title
from dpfl.privacy.release import of_step, require_covered
from dpfl.training.federated import loss_fn

PROVEN = [pair for pair in RULES if proven(build(*pair))]


def appends(name):
    """Tell whether coordinates may be appended; where one is `inner`, it is to that one's."""
    own = plugins.constant("mechanisms", VARIANTS[name][0], "OWN_GRADIENTS")
    return not own and not hasattr(build(name), "inner")


COLUMNS = 5


def with_canaries(*hits, length):
    """Return what makes a step append coordinates, and put canaries of a length into its batch."""

    def differentiate(*arguments):
        found = Dirac(finite(*arguments)[0], torch.tensor(hits, dtype=torch.long), length, COLUMNS)
        return found, found.norms()

    return {"differentiate": differentiate, "appended": COLUMNS}


def gradient(model, inputs, targets):
    loss = nn.functional.cross_entropy(model(inputs), targets, reduction="sum")
    return torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, list(model.parameters()))])


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_the_release_has_the_noise_that_is_charged_or_names_its_reasons(name, rule):
    released = of_step(build(name, rule), Z, EXPECTED)
    without_proof = set(plugins.constant("clippings", rule, "REASONS"))
    if isinstance(released, Unproven):
        assert released.reasons and all(isinstance(r, str) and r for r in released.reasons)
        assert without_proof <= set(released.reasons) or not build(name, rule).clippings
    else:
        assert not without_proof
        assert released.noise_multiplier == pytest.approx(Z, rel=1e-12)
        require_covered(released, Z)
        with pytest.raises(UserError, match=r"less than the 1\.3013 that is charged"):
            require_covered(released, Z * 1.001)


def test_what_is_proven_and_what_is_not():
    assert {("dpsgd", "fixed"), ("dpsgd", "quantile")} <= set(PROVEN)
    assert not {("dpsgd", "fsdp-adaptive"), ("nonprivate", "fixed")} & set(PROVEN)


def test_the_first_line_of_a_file_says_whether_there_is_no_proof():
    without = {name for name, own in small_builds().items() if not own[2]}
    for name in set(plugins.names("mechanisms")) - {"nonprivate"}:
        assert ("No proof" in title("mechanisms", name)) == (f"{name}, fixed" in without), name
    for rule in plugins.names("clippings"):
        reasons = plugins.constant("clippings", rule, "REASONS")
        assert ("no proof" in title("clippings", rule)) == bool(reasons), rule


@pytest.mark.parametrize(("name", "rule"), RULES)
@pytest.mark.parametrize("examples", [0, 1, 7])
def test_every_batch_gives_the_same_finite_gradient_and_leaves_the_model_alone(
    name, rule, examples
):
    model, inputs, targets = setting(examples)
    before = [p.clone() for p in model.parameters()]
    found, again = (
        estimate(build(name, rule), model, inputs, targets, z=Z, normal=drawn()) for _ in range(2)
    )
    assert torch.equal(found, again)
    assert found.shape == (sum(p.numel() for p in model.parameters()),)
    assert found.isfinite().all() and not found.requires_grad
    pairs = zip(before, model.parameters(), strict=True)
    assert all(torch.equal(a, b) and b.grad is None for a, b in pairs)


@pytest.mark.parametrize(("name", "rule"), RULES)
@pytest.mark.parametrize("examples", [0, 7])
def test_a_scalar_loss_is_that_of_every_example_alone(name, rule, examples):
    """The mean of a batch would let one example move the part of every other one."""
    model, inputs, targets = setting(examples)
    mean, each = (
        estimate(build(name, rule), model, inputs, targets, loss_fn=loss)
        for loss in (nn.functional.cross_entropy, loss_fn)
    )
    torch.testing.assert_close(mean, each)


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_the_denominator_is_the_expected_batch_not_the_realised_one(name, rule):
    model, inputs, targets = setting(6)
    ten, twenty = (estimate(build(name, rule), model, inputs, targets, batch=b) for b in (10, 20))
    torch.testing.assert_close(ten, 2 * twenty)


@pytest.mark.parametrize(("name", "rule"), RULES)
def test_a_rule_that_moves_continues_from_its_state(name, rule):
    model, inputs, targets = setting(9)
    once, twice = build(name, rule), build(name, rule)
    estimate(once, model, inputs, targets, z=Z)
    for old, new in zip(once.clippings, twice.clippings, strict=True):
        new.restore(old.state())
    found = [estimate(m, model, inputs, targets, z=Z) for m in (once, twice)]
    assert torch.equal(*found)


def test_no_noise_and_no_clip_is_the_plain_gradient():
    model, inputs, targets = setting(12)
    for name in ("dpsgd", "nonprivate"):
        found = estimate(build(name, clip_norm=1e9), model, inputs, targets)
        torch.testing.assert_close(found, gradient(model, inputs, targets) / EXPECTED)


PUBLISHED = {
    "Bu et al. 2023": ("dpsgd-normalised", {}, lambda n: CLIP / (n + 0.01)),
    "their AUTO-V": ("dpsgd-normalised", {"gamma": 0}, lambda n: CLIP / max(n, 1e-300)),
    "Xia et al. 2023": ("dpsgd-psac", {}, lambda n: CLIP / (n + 0.1 / (n + 0.1))),
}


@pytest.mark.parametrize(("name", "own", "scale"), PUBLISHED.values(), ids=PUBLISHED)
@pytest.mark.parametrize("stretch", [1e-9, 1.0, 1e9])
def test_gradients_are_scaled_as_published(name, own, scale, stretch):
    _, inputs, targets = setting(6)
    model, inputs = nn.Linear(5, 3, bias=False).double(), stretch * inputs
    inputs[0] = 0.0  # a gradient of zeros
    found = estimate(built(name, own), model, inputs, targets) * EXPECTED
    each = [gradient(model, x[None], t[None]) for x, t in zip(inputs, targets, strict=True)]
    torch.testing.assert_close(found, sum(scale(float(g.norm())) * g for g in each))


@pytest.mark.parametrize("rule", ["fixed", "quantile"])
def test_dp_sgd_adds_its_multiplier_times_the_clip_norm_over_the_expected_batch(rule):
    model, inputs, targets = setting(4)
    ones = lambda size: torch.ones(size, dtype=torch.float64)  # noqa: E731
    noisy = estimate(build("dpsgd", rule), model, inputs, targets, z=3.0, normal=ones)
    quiet = estimate(build("dpsgd", rule), model, inputs, targets)
    of_sum = build("dpsgd", rule).release(3.0, EXPECTED).multipliers[0]
    assert of_sum == 3.0 if rule == "fixed" else 3.0 < of_sum < 3.08
    torch.testing.assert_close(noisy - quiet, torch.full_like(quiet, of_sum * CLIP / EXPECTED))


def test_the_batch_mean_rule_leaves_outliers_out():
    _, inputs, targets = setting(200)
    model = nn.Linear(5, 3).double()
    inputs[0] *= 1e4
    targets[0] = model(inputs[:1]).argmin()  # as wrong as can be: its gradient is as long as itself
    norms = torch.stack(
        [gradient(model, x[None], t[None]).norm() for x, t in zip(inputs, targets, strict=True)]
    )
    kept = norms[(norms - norms.mean()).abs() <= 3 * norms.std(correction=0)]
    assert norms[0] not in kept and len(kept) > 1
    mechanism = build("dpsgd", "fsdp-adaptive")
    estimate(mechanism, model, inputs, targets)
    assert mechanism.clippings[0].clip_norm == pytest.approx(float(kept.mean()), rel=1e-6)


@pytest.mark.parametrize(("name", "rule"), [pair for pair in RULES if appends(pair[0])])
@pytest.mark.parametrize("examples", [0, 6])
def test_coordinates_may_be_appended_to_the_gradients(name, rule, examples):
    model, inputs, targets = setting(examples)
    more = {"normal": drawn(), **with_canaries(3, 0, length=1e3)}
    found = estimate(build(name, rule), model, inputs, targets, Z, **more)
    assert found.shape == (sum(p.numel() for p in model.parameters()) + COLUMNS,)
    assert found.isfinite().all() and not found.requires_grad


@pytest.mark.parametrize("name", ["dpsgd", *(n for n in VARIANTS if "fsdp-c" in n)])
def test_appended_coordinates_are_summed_as_all_others_are(name):
    model, inputs, targets = setting(6)
    canaries = with_canaries(3, 0, length=20.0)
    found = estimate(build(name, clip_norm=1e9), model, inputs, targets, **canaries)
    appended = torch.tensor([20.0, 0, 0, 20.0, 0]).double()
    expected = torch.cat([gradient(model, inputs, targets), appended]) / EXPECTED
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("name", "rule"), [pair for pair in PROVEN if appends(pair[0])])
def test_a_canary_is_clipped_as_examples_are(name, rule):
    model, inputs, targets = setting(6)
    more, less = (
        estimate(build(name, rule), model, inputs, targets, **with_canaries(*hits, length=1e4))
        for hits in ((1,), ())
    )
    assert 0.5 * CLIP < EXPECTED * (more - less).norm() <= CLIP * (1 + 1e-9)


def test_a_mechanism_that_differentiates_by_itself_refuses_appended_coordinates():
    with pytest.raises(UserError, match="dpsgd-opacus cannot append coordinates"):
        estimate(build("dpsgd-opacus"), *setting(2), **with_canaries(length=1.0))


@pytest.mark.parametrize("examples", [0, 6])
@pytest.mark.parametrize(("name", "rule"), RULES)
def test_features_may_be_stored_in_float16(name, rule, examples):
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(20 + examples, 9, 4, 4, generator=generator).half()
    labels = torch.randint(0, 10, (len(features),), generator=generator)
    model = models.build("scatter-linear", generator, features.shape[1:])
    public, normal = Public(features[:20], labels[:20]), noise.Seeded("normal").normal
    given = (features[20:], labels[20:])
    found = estimate(build(name, rule), model, *given, Z, normal=normal, public=public)
    assert found.dtype == torch.float32 and found.isfinite().all()
    assert found.shape == (sum(p.numel() for p in model.parameters()),)

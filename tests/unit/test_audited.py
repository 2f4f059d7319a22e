"""Canaries in real runs: they change nothing, see what is there, and stop what is not."""

import dataclasses
import math

import numpy as np
import pytest
import tiny
import torch

from dpfl.audit import checks, one_run, per_step
from dpfl.audit.canaries import SILENT, Canaries, Terms
from dpfl.audit.findings import ONE_RUN, PER_STEP, findings
from dpfl.base.errors import UserError
from dpfl.clippings import quantile
from dpfl.clippings.parts.unheard import Crowd, Unheard
from dpfl.contracts.release import Release
from dpfl.draws import noise, streams
from dpfl.gradients import PerExampleGradients
from dpfl.gradients.dirac import Dirac
from dpfl.mechanisms import dpsgd
from dpfl.training.federated import loss_fn
from dpfl.training.steps import PrivateSteps

FIXED = {"rule": "fixed", "clip_norm": 1.0}
QUANTILE = {**FIXED, "rule": "quantile", "quantile": 0.85}
BATCH_MEAN = {**FIXED, "rule": "fsdp-adaptive"}
CERTIFIED = {"estimator": "fsdp-certified", "rank": 5, "basis_examples": 20, "basis_every": 2}
PUBLIC = {**tiny.settings()["partition"], "public_examples": 20}


def trained(folder, canaries=60, **changed):
    audit = {"canaries": canaries, "length": 1.0, "level": 0.01}
    return tiny.trained(folder, **{"epsilon": 8.0, "audit": audit, "partition": PUBLIC, **changed})


@pytest.mark.parametrize(
    ("mechanism", "clipping"),
    [
        ({"estimator": "dpsgd"}, FIXED),
        ({"estimator": "dpsgd"}, QUANTILE),
        ({"estimator": "dpsgd-opacus"}, FIXED),
        ({"estimator": "dpsgd-layerwise"}, FIXED),
        ({"estimator": "dpsgd-layerwise"}, QUANTILE),
        ({"estimator": "p3sgd"}, QUANTILE),
        ({"estimator": "pdpsgd", "rank": 5}, QUANTILE),
        (CERTIFIED, FIXED),
        (CERTIFIED, QUANTILE),
        ({**CERTIFIED, "basis": "public"}, FIXED),
        ({**CERTIFIED, "basis": "random"}, FIXED),
        ({"estimator": "dpsgd-relevance"}, QUANTILE),
    ],
)
def test_weights_are_the_same_bits_with_and_without_canaries(tmp_path, mechanism, clipping):
    found = [
        tiny.weights(trained(tmp_path / str(n), n, mechanism=mechanism, clipping=clipping))
        for n in (0, 60)
    ]
    assert torch.equal(*found)


@pytest.mark.parametrize(
    ("changed", "estimator", "status"),
    [
        ({}, PER_STEP, "audited"),
        ({"clipping": QUANTILE}, PER_STEP, "audited"),
        ({"mechanism": CERTIFIED}, PER_STEP, "audited"),
        ({"mechanism": {"estimator": "dpsgd-layerwise"}}, PER_STEP, "audited"),
        ({"clipping": BATCH_MEAN}, ONE_RUN, "audited"),
        ({"mechanism": {"estimator": "p3sgd"}, "clipping": BATCH_MEAN}, ONE_RUN, "audited"),
        ({"mechanism": {"estimator": "fsdp-central", "rank": 5}}, ONE_RUN, "audited"),
        ({"mechanism": {"estimator": "dpsgd-opacus"}}, None, "blind"),
        ({"mechanism": {"estimator": "nonprivate"}, "epsilon": "inf"}, None, "not audited"),
    ],
)
def test_the_estimator_is_fixed_by_whether_there_is_a_proof(tmp_path, changed, estimator, status):
    audit = trained(tmp_path, **changed).audit
    assert audit["status"] == status and audit["estimator"] == estimator
    assert audit.get("level", 0.01) == 0.01
    assert all(p >= 1e-6 for p in audit.get("checks", {}).values())


def test_whole_clients_are_audited_and_keep_their_weights(tmp_path):
    changed = {
        "unit": "client",
        "mechanism": {"estimator": "dp-fedavg"},
        "federation": tiny.federation(rounds=6, state="reset", weighting="uniform"),
        "delta": 0.1,
        "epsilon": 8.0,
    }
    for name, clipping in (("fixed", FIXED), ("quantile", QUANTILE)):
        plain = trained(tmp_path / f"{name}-0", 0, clipping=clipping, **changed)
        seen = trained(tmp_path / name, 60, clipping=clipping, **changed)
        assert torch.equal(tiny.weights(plain), tiny.weights(seen))
        assert seen.audit["estimator"] == PER_STEP and seen.audit["epsilon"] > 0


def test_a_killed_run_ends_with_the_same_findings(tmp_path, monkeypatch):
    whole = trained(tmp_path / "whole", clipping=QUANTILE).audit
    steps = iter(range(100))
    real = dpsgd.DPSGD.estimate

    def killed(self, step):
        if next(steps) == 9:
            raise KeyboardInterrupt
        return real(self, step)

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(dpsgd.DPSGD, "estimate", killed)
        trained(tmp_path / "killed", clipping=QUANTILE)
    assert trained(tmp_path / "killed", clipping=QUANTILE).audit == whole


class Scaled(dpsgd.DPSGD):
    """DP-SGD that promises its noise and draws a part of it."""

    part = 0.5

    def estimate(self, step):
        normal = step.normal
        return super().estimate(
            dataclasses.replace(step, normal=lambda size: normal(size) * self.part)
        )


class Kept(dpsgd.DPSGD):
    """DP-SGD that draws its noise once."""

    def estimate(self, step):
        return super().estimate(
            dataclasses.replace(step, normal=lambda n: noise.Seeded("kept").normal(n))
        )


class Tiled(dpsgd.DPSGD):
    """DP-SGD that repeats a few draws along the gradient."""

    def estimate(self, step):
        normal = lambda size: step.normal(64).repeat(size // 64 + 1)[:size]  # noqa: E731
        return super().estimate(dataclasses.replace(step, normal=normal))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (Tiled, "the noise of a step repeats itself along the gradient"),
        (Scaled, r"dpsgd: it promises a noise multiplier of .* and draws .*; nothing was released"),
        (Kept, "nothing was released"),
    ],
)
def test_a_run_stops_before_it_releases_less_noise_than_it_promises(
    tmp_path, monkeypatch, fault, told
):
    monkeypatch.setattr(dpsgd, "DPSGD", fault)
    with pytest.raises(UserError, match=told):
        trained(tmp_path)


@pytest.mark.parametrize("part", [0.0, 0.9, 0.95])
def test_a_mechanism_without_noise_or_with_a_little_less_is_stopped(tmp_path, monkeypatch, part):
    monkeypatch.setattr(dpsgd, "DPSGD", Scaled)
    monkeypatch.setattr(Scaled, "part", part)
    if part == 0.95:  # within what four steps tell: the canaries of the run decide
        assert trained(tmp_path).audit["status"] == "audited"
    else:
        with pytest.raises(UserError, match="nothing was released"):
            trained(tmp_path)


def without_probe(monkeypatch):
    monkeypatch.setattr("dpfl.training.probe.require_noise", lambda *_: None)


def test_half_the_noise_refutes_the_certificate(tmp_path, monkeypatch):
    without_probe(monkeypatch)
    honest = trained(tmp_path / "honest", 1000).audit
    monkeypatch.setattr(dpsgd, "DPSGD", Scaled)
    assert trained(tmp_path / "half", 1000).audit["epsilon"] > 8.0 > honest["epsilon"]


def test_noise_that_steps_share_breaks_the_run(tmp_path, monkeypatch):
    without_probe(monkeypatch)
    monkeypatch.setattr(dpsgd, "DPSGD", Kept)
    audit = trained(tmp_path).audit
    assert audit["status"] == "broken" and audit["broken"] == ["noise"]


class SameBatches(noise.Seeded):
    """Draws whose batches do not depend on the step."""

    def __init__(self, *key):
        super().__init__(*(key[:-1] if "batch" in key else key))


class Shuffled(noise.Seeded):
    """Draws that put a fixed number into every batch."""

    def uniform(self, size):
        return np.argsort(np.argsort(super().uniform(size))) / size


@pytest.mark.parametrize(
    ("draws", "canaries", "broken"),
    [(SameBatches, 300, "records"), (Shuffled, 6, "batch sizes")],
)
def test_a_sampler_that_is_not_poisson_breaks_the_run(
    tmp_path, monkeypatch, draws, canaries, broken
):
    monkeypatch.setitem(noise.SOURCES, "seeded", draws)
    federation = tiny.federation(rounds=60, clients_per_round=None)
    audit = trained(tmp_path, canaries, federation=federation).audit
    assert audit["status"] == "broken" and broken in audit["broken"]


def test_a_count_without_noise_breaks_the_run(tmp_path, monkeypatch):
    real = quantile.Quantile.after
    monkeypatch.setattr(
        quantile.Quantile,
        "after",
        lambda self, votes, *, normal, **rest: real(self, votes, normal=noise.none, **rest),
    )
    federation = tiny.federation(rounds=20)
    audit = trained(tmp_path, clipping=QUANTILE, federation=federation).audit
    assert "counts" in audit["broken"]


def test_canaries_are_rows_of_the_matrix_that_they_stand_for():
    torch.manual_seed(3)
    model = torch.nn.Sequential(torch.nn.Linear(4, 5), torch.nn.Tanh(), torch.nn.Linear(5, 3))
    model = model.double()
    inputs, targets = torch.randn(6, 4).double(), torch.randint(0, 3, (6,))
    gradients = PerExampleGradients(model, loss_fn, inputs, targets)
    hits = torch.tensor([3, 0])
    found, size = Dirac(gradients, hits, 2.5, 7), sum(p.numel() for p in model.parameters())
    written = torch.zeros(8, size + 7).double()
    written[:6, :size] = gradients.rows()
    written[6, size + 3] = written[7, size] = 2.5
    torch.testing.assert_close(found.rows(), written)
    torch.testing.assert_close(found.norms(), written.norm(dim=1))
    torch.testing.assert_close(found.gram(), written @ written.t())
    some = torch.randn(3, 8).double()
    torch.testing.assert_close(found.combinations(some), some @ written)
    vectors = torch.randn(4, size).double()
    torch.testing.assert_close(found.inner(vectors), written[:, :size] @ vectors.t())
    flat = torch.cat([part.flatten() for part in found.weighted_sum(some[0])])
    torch.testing.assert_close(flat, some[0] @ written)
    clipped = torch.cat([part.flatten() for part in found.clipped_sum(0.7)])
    factors = (0.7 / written.norm(dim=1)).clamp(max=1)
    torch.testing.assert_close(clipped, factors @ written)

    sizes = [*(p.numel() for p in model.parameters()), 7]
    parts = written.split(sizes, dim=1)
    norms = torch.stack([part.norm(dim=1) for part in parts])
    torch.testing.assert_close(found.parameter_norms(), norms)
    bounds = [0.1, 0.2, 0.3, 0.4]
    whole = math.hypot(*bounds)  # a canary is clipped to what an example can move the sum by
    expected = [
        (c / n).clamp(max=1) @ part
        for c, n, part in zip([*bounds, whole], norms, parts, strict=True)
    ]
    clipped = torch.cat([part.flatten() for part in found.clipped_sum_by_parameter(bounds)])
    torch.testing.assert_close(clipped, torch.cat(expected))


def test_coins_are_fair_and_follow_their_key():
    first, again, other = (Canaries(4000, 10, ("key", n)) for n in (0, 0, 1))
    assert np.array_equal(first.included, again.included)
    assert not np.array_equal(first.included, other.included)
    assert abs(first.included.mean() - 0.5) < 5 * 0.5 / 4000**0.5


def test_nothing_seen_is_not_audited():
    terms = Terms(True, 1e-5, 0.01)
    assert findings({0: Canaries(10, 10, ("key",))}, terms)["status"] == "not audited"


def test_a_bound_at_its_limit_is_no_count_without_noise():
    rule = quantile.build(2e-6, quantile=0.5, rate=0.2, count_noise=3.0)
    residuals = []
    heard = Unheard(rule, Crowd(), residuals)
    draws = noise.Seeded("limit")
    for _ in range(400):  # all votes are within C, which falls to its limit
        heard.after(5.0, noise_multiplier=1.0, expected=10.0, normal=draws.normal)
    assert 0 < len(residuals) < 400
    assert rule.clip_norm == pytest.approx(1e-6, rel=0.2)
    assert checks.count_residuals(np.array(residuals)) > 1e-6


def test_holders_of_different_plans_share_the_level():
    seen = {}
    for holder, rate in enumerate((0.1, 0.2)):
        own = seen[holder] = Canaries(10, 100, ("plans", holder))
        for step in range(40):
            own.draw(streams.rng("drawn", holder, step).random(10) < rate, 5, 50, rate)
            x = streams.rng("seen", holder, step).standard_normal(own.columns)
            x[own.hits()] += 1
            own.observe(x, 1.0)
    apart = [findings({h: own}, Terms(True, 1e-5, 0.01))["epsilon"] for h, own in seen.items()]
    both = findings(seen, Terms(True, 1e-5, 0.01))
    tally = both["tallies"][0]
    counts = (tally[k] for k in ("ins", "misses", "outs", "false_alarms"))
    pooled = per_step.Tally(1.0, 40, *counts)
    assert both["epsilon"] == per_step.lower_bound([pooled], 0.2, 1e-5, 0.005)
    assert apart[0] < apart[1]


def one_run_of(shown):
    """Findings of a run whose 200 records each show once, in one of two steps, without noise."""
    own, half = Canaries(200, 0, ("one run",)), np.arange(200) < 100
    for step, drawn in enumerate((half, ~half)):
        own.draw(drawn, 100, 200, 0.5)
        x = np.zeros(own.columns)
        x[-SILENT:] = streams.rng("silent", step).standard_normal(SILENT)
        x[own.hits()] = shown
        own.observe(x, 1.0)
    return findings({0: own}, Terms(False, 1e-3, 0.05))


def test_the_one_run_bound_calls_the_highest_scores_of_all_steps():
    """Every record called in was in: the bound is that of 80 right calls of 80, of 200 records."""
    found = one_run_of(1.0)
    assert found["tallies"] == [{"called": 80, "right": 80}]
    assert found["epsilon"] == one_run.lower_bound(80, 80, 200, 1e-3, 0.05) == found["ceiling"]


def test_the_one_run_bound_finds_nothing_in_scores_that_point_the_wrong_way():
    found = one_run_of(-1.0)
    assert found["epsilon"] == 0 and found["tallies"][0]["right"] < 40


def test_what_a_mechanism_may_not_promise_is_refused_before_it_is_sampled():
    class Less:
        clippings = ()

        def release(self, noise_multiplier, expected):
            return Release((noise_multiplier / 2,))

    steps = PrivateSteps(0, Less(), None, None)
    examples = torch.utils.data.TensorDataset(torch.zeros(4, 2), torch.zeros(4))
    with pytest.raises(UserError, match=r"less than the 1 that is charged"):
        steps.release(torch.nn.Linear(2, 2), examples, 0.5, 1.0, None, 0)


def test_two_budgets_of_a_seed_share_batches_and_no_noise(tmp_path):
    two, eight = tiny.settings(epsilon=2.0), tiny.settings(epsilon=8.0)
    assert streams.pairing_key(two) == streams.pairing_key(eight)
    assert streams.noise_key(two) != streams.noise_key(eight)
    for watched in ({"audit": {"canaries": 9}}, {"evaluation_examples": 1}):
        assert streams.noise_key(two) == streams.noise_key({**two, **watched})
    assert streams.noise_key(two) != streams.noise_key({**two, "device": "cuda"})  # it rounds apart


def test_a_secure_run_that_is_killed_releases_nothing_twice(tmp_path, monkeypatch):
    """The round is repeated with the same draws; another run of the settings has others."""
    released, real = [], dpsgd.DPSGD.estimate

    def noted(self, step):
        found = real(self, step)
        if not step.appended:  # those are trials before the run
            released.append(found.clone())
            if len(released) == 7:
                raise KeyboardInterrupt
        return found

    monkeypatch.setattr(dpsgd.DPSGD, "estimate", noted)
    with pytest.raises(KeyboardInterrupt):
        trained(tmp_path / "killed", 0, noise="secure")
    trained(tmp_path / "killed", 0, noise="secure")
    assert all(map(torch.equal, released[4:7], released[7:10]))  # a round has four steps
    before = len(released)
    trained(tmp_path / "other", 0, noise="secure")
    assert not any(torch.equal(a, b) for a in released[:before] for b in released[before:])

"""Canaries in real runs: they change nothing, see what is there, and stop what is not."""

import dataclasses
import math
from functools import partial

import numpy as np
import pytest
import tiny
import torch
from refusals import refuses
from tiny import CERTIFIED, FIXED, QUANTILE

from dpfl.audit import checks, one_run, per_step
from dpfl.audit.canaries import SILENT, Canaries, Terms
from dpfl.audit.findings import ONE_RUN, PER_STEP, findings
from dpfl.clippings import quantile
from dpfl.clippings.parts.unheard import Crowd, Unheard
from dpfl.draws import noise, streams
from dpfl.gradients import PerExampleGradients
from dpfl.gradients.dirac import Dirac
from dpfl.mechanisms import dpsgd
from dpfl.training.federated import loss_fn

BATCH_MEAN = {**FIXED, "rule": "fsdp-adaptive"}
PUBLIC = {**tiny.settings()["partition"], "public_examples": 20}


def trained(folder, canaries=60, **changed):
    audit = {"canaries": canaries, "length": 1.0, "level": 0.01}
    return tiny.trained(folder, **{"epsilon": 8.0, "audit": audit, "partition": PUBLIC, **changed})


CLIENTS = tiny.FEDAVG | {"delta": 0.1}


@pytest.mark.parametrize(
    "changed",
    [
        {"mechanism": {"estimator": "dpsgd"}, "clipping": FIXED},
        {"mechanism": {"estimator": "dpsgd"}, "clipping": QUANTILE},
        {"mechanism": {"estimator": "dpsgd-opacus"}, "clipping": FIXED},
        {"mechanism": {"estimator": "dpsgd-layerwise"}, "clipping": FIXED},
        {"mechanism": {"estimator": "dpsgd-layerwise"}, "clipping": QUANTILE},
        {"mechanism": {"estimator": "p3sgd"}, "clipping": QUANTILE},
        {"mechanism": {"estimator": "pdpsgd", "rank": 5}, "clipping": QUANTILE},
        {"mechanism": CERTIFIED, "clipping": FIXED},
        {"mechanism": CERTIFIED, "clipping": QUANTILE},
        {"mechanism": {**CERTIFIED, "basis": "public"}, "clipping": FIXED},
        {"mechanism": {**CERTIFIED, "basis": "random"}, "clipping": FIXED},
        {"mechanism": {"estimator": "dpsgd-relevance"}, "clipping": QUANTILE},
        {**CLIENTS, "clipping": FIXED},
        {**CLIENTS, "clipping": QUANTILE},
    ],
)
def test_weights_are_the_same_bits_with_and_without_canaries(tmp_path, changed):
    found = [tiny.weights(trained(tmp_path / str(n), n, **changed)) for n in (0, 60)]
    assert torch.equal(*found)


@pytest.mark.parametrize(
    ("changed", "estimator", "status"),
    [
        ({}, PER_STEP, "audited"),
        ({"clipping": QUANTILE}, PER_STEP, "audited"),
        ({"mechanism": CERTIFIED}, PER_STEP, "audited"),
        ({"mechanism": {"estimator": "dpsgd-layerwise"}}, PER_STEP, "audited"),
        ({**CLIENTS, "clipping": QUANTILE}, PER_STEP, "audited"),
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


class Faulty(dpsgd.DPSGD):
    """DP-SGD that draws something else than it promises."""

    def estimate(self, step):
        return super().estimate(dataclasses.replace(step, normal=partial(self.draw, step.normal)))


class Scaled(Faulty):
    """Draws a part of the noise."""

    part = 0.5

    def draw(self, normal, size):
        return normal(size) * self.part


class Kept(Faulty):
    """Draws its noise once."""

    def draw(self, normal, size):
        return noise.Seeded("kept").normal(size)


class Tiled(Faulty):
    """Repeats a few draws along the gradient."""

    def draw(self, normal, size):
        return normal(64).repeat(size // 64 + 1)[:size]


PROMISED = r"dpsgd: it promises a noise multiplier of .* and draws .*; nothing was released"


@pytest.mark.parametrize(
    ("fault", "part", "told"),
    [
        (Tiled, 1.0, "the noise of a step repeats itself along the gradient"),
        (Kept, 1.0, "nothing was released"),
        (Scaled, 0.0, "nothing was released"),
        (Scaled, 0.5, PROMISED),
        (Scaled, 0.9, PROMISED),
        (Scaled, 0.999, PROMISED),
    ],
)
def test_a_run_stops_before_it_releases_less_noise_than_it_promises(
    tmp_path, monkeypatch, fault, part, told
):
    monkeypatch.setattr(dpsgd, "DPSGD", fault)
    monkeypatch.setattr(Scaled, "part", part)
    refuses(told, trained, tmp_path)


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
    ("draws", "canaries", "broken"), [(SameBatches, 300, "records"), (Shuffled, 6, "batch sizes")]
)
def test_a_sampler_that_is_not_poisson_breaks_the_run(
    tmp_path, monkeypatch, draws, canaries, broken
):
    monkeypatch.setitem(noise.SOURCES, "seeded", draws)
    federation = tiny.federation(rounds=10, clients_per_round=None)
    audit = trained(tmp_path, canaries, federation=federation).audit
    assert audit["status"] == "broken" and broken in audit["broken"]


def test_a_count_without_noise_breaks_the_run(tmp_path, monkeypatch):
    real = quantile.Quantile.after
    monkeypatch.setattr(
        quantile.Quantile,
        "after",
        lambda self, votes, *, normal, **rest: real(self, votes, normal=noise.none, **rest),
    )
    audit = trained(tmp_path, clipping=QUANTILE).audit
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
    assert both["epsilon"] == per_step.lower_bound([pooled], per_step.poisson(0.2, 1e-5), 0.005)
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
    backwards = one_run_of(-1.0)
    assert backwards["epsilon"] == 0 and backwards["tallies"][0]["right"] < 40


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

"""The benchmark: its contenders take the same step, and all are measured."""

import pytest
import torch
from example_gradients import naive

import bench
from dpfl import models
from dpfl.base.errors import UserError
from dpfl.bench import rounds, steps
from dpfl.draws import streams

OTHERS = ("non-private", steps.REFERENCE, *bench.EACH)
PRIVATE = [name for name in steps.CONTENDERS if name not in OTHERS]


def problem():
    generator = streams.generator("test")
    inputs = torch.randn(6, 1, 28, 28, generator=generator)
    targets = torch.randint(10, (6,), generator=generator)
    return models.build("mnist-cnn", generator), inputs, targets


def weights(model):
    return torch.cat([p.detach().flatten() for p in model.parameters()])


def update(name):
    """What one step without noise adds to the parameters; it changes them in place."""
    model, inputs, targets = problem()
    before = weights(model)
    steps.CONTENDERS[name](model, inputs, targets)()
    return weights(model) - before


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PRIVATE)
def test_every_contender_takes_the_same_step(name, monkeypatch):
    """Per-example gradients of the plain model, clipped, without noise, are the oracle."""
    monkeypatch.setattr(steps, "NOISE_MULTIPLIER", 0.0)
    monkeypatch.setattr(steps, "RATE", 1.0)
    model, inputs, targets = problem()
    rows = naive(model, inputs, targets)
    total = (steps.CLIP_NORM / rows.norm(dim=1)).clamp(max=1) @ rows
    torch.testing.assert_close(update(name), -total.float() / 6, rtol=1e-4, atol=1e-6)


def test_the_bench_measures_every_contender_and_every_split():
    assert set(steps.SPLIT) <= set(bench.EACH)
    assert {*bench.PEERS, *bench.EACH, steps.REFERENCE} == set(steps.CONTENDERS)


def test_a_worker_measures_one_job():
    job = {"contender": "ours", "model": "digits-cnn", "dataset": "digits", "batches": (4, 2)}
    rows = bench.measured(job)
    assert [(row["contender"], row["batch"]) for row in rows] == [("ours", 2), ("ours", 4)]
    assert all(row["ratio"] > 0 and row["peak_mb"] >= 0 for row in rows)
    with pytest.raises(UserError, match="measuring nobody, digits-cnn failed: KeyError"):
        bench.measured(job | {"contender": "nobody"})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", rounds.LOOPS)
def test_a_round_changes_the_model(name, monkeypatch):
    monkeypatch.setattr(rounds, "EXAMPLES", 64)
    monkeypatch.setattr(rounds, "STEPS", 2)
    server = models.build("mnist-cnn", streams.generator("bench"))
    monkeypatch.setattr(rounds, "_model", lambda: server)
    before = weights(server)
    rounds.LOOPS[name]()([3, 5])
    assert weights(server).isfinite().all() and not torch.equal(weights(server), before)

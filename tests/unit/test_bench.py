"""The benchmark: its contenders take the same step, and its tables say what was measured."""

import csv
import io

import pytest
import torch

import bench
from dpfl import models
from dpfl.bench import contenders, rounds
from dpfl.draws import streams

OTHERS = ("non-private", contenders.REFERENCE, bench.COMPILED, *contenders.SPLIT)
PRIVATE = [name for name in contenders.CONTENDERS if name not in OTHERS]


def problem():
    generator = streams.generator("test")
    inputs = torch.randn(6, 1, 28, 28, generator=generator)
    targets = torch.randint(10, (6,), generator=generator)
    return models.build("mnist-cnn", generator), inputs, targets


def update(name):
    """What one step without noise adds to the parameters; it changes them in place."""
    model, inputs, targets = problem()
    before = [p.detach().clone() for p in model.parameters()]
    contenders.CONTENDERS[name](model, inputs, targets)()
    pairs = zip(model.parameters(), before, strict=True)
    return torch.cat([(p.detach() - b).flatten() for p, b in pairs])


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", PRIVATE)
def test_every_contender_takes_the_same_step(name, monkeypatch):
    """Per-example gradients of the plain model, clipped, without noise, are the oracle."""
    monkeypatch.setattr(contenders, "NOISE_MULTIPLIER", 0.0)
    monkeypatch.setattr(contenders, "RATE", 1.0)
    model, inputs, targets = problem()
    total = torch.zeros(sum(p.numel() for p in model.parameters()))
    for x, y in zip(inputs.split(1), targets.split(1), strict=True):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        row = torch.cat([g.flatten() for g in torch.autograd.grad(loss, list(model.parameters()))])
        total += row * min(1.0, contenders.CLIP_NORM / row.norm().item())
    torch.testing.assert_close(update(name), -total / 6, rtol=1e-4, atol=1e-6)


def test_the_two_central_forms_take_the_same_step_but_for_the_signs_of_singular_vectors(
    monkeypatch,
):
    monkeypatch.setattr(contenders, "NOISE_MULTIPLIER", 0.0)
    found = [update(name) for name in ("fsdp-central", "fsdp-central, naive")]
    torch.testing.assert_close(*found, rtol=1e-3, atol=1e-7)


def test_the_bench_measures_every_mechanism_that_takes_gradients_apart():
    assert set(bench.SPLIT) == set(contenders.SPLIT)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", rounds.LOOPS)
def test_a_round_changes_the_model(name, monkeypatch):
    monkeypatch.setattr(rounds, "EXAMPLES", 64)
    monkeypatch.setattr(rounds, "STEPS", 2)
    server = models.build("mnist-cnn", streams.generator("bench"))
    monkeypatch.setattr(rounds, "_model", lambda: server)
    before = [p.detach().clone() for p in server.parameters()]
    rounds.LOOPS[name]()([3, 5])
    assert all(
        not torch.equal(p, b) and p.isfinite().all()
        for p, b in zip(server.parameters(), before, strict=True)
    )


ROWS = [
    {"model": "m", "contender": "a", "batch": 64, "steps": 3, "cpu_ms": 2.0, "ratio": 1.5,
     "peak_mb": 10.0},
    {"model": "m", "contender": "a", "batch": 256, "steps": 3, "cpu_ms": 8.0, "ratio": 1.25,
     "peak_mb": None},
    {"model": "m", "contender": "b", "batch": 256, "steps": 3, "cpu_ms": 9.0, "ratio": 2.0,
     "peak_mb": 7.0},
]  # fmt: skip


def test_the_table_sets_batch_sizes_side_by_side():
    lines = bench.as_markdown(bench.side_by_side(ROWS)).splitlines()
    assert lines == [
        "| model | contender | batch 64 | batch 256 |",
        "| --- | --- | --- | --- |",
        "| m | a | 1.50 (2.0 ms, 10 MB) | 1.25 (8.0 ms) |",
        "| m | b |  | 2.00 (9.0 ms, 7 MB) |",
    ]


def test_the_csv_reads_back():
    rows = list(csv.DictReader(io.StringIO(bench.as_csv(ROWS))))
    assert [row["ratio"] for row in rows] == ["1.5", "1.25", "2"]
    assert [row["peak_mb"] for row in rows] == ["10", "", "7"]

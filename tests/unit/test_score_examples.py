"""What attacks may see of trained models: confidences, and exactly who was a member."""

import numpy as np
import pandas as pd
import pytest
import tiny
import torch
from torch.nn import functional

from dpfl import data
from dpfl.attacks import observed, query
from dpfl.training import run, summary


def test_confidences_are_the_logits_of_the_true_labels_probability():
    logits = torch.randn(200, 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    targets = torch.arange(200) % 5
    p = logits.softmax(1)[torch.arange(200), targets]
    found = query.logit_scaled(logits, targets)
    torch.testing.assert_close(found, (p / (1 - p)).log(), rtol=1e-12, atol=1e-12)


def test_confidences_keep_what_probabilities_would_round_away():
    logits = torch.tensor([[90.0, 0.0, 0.0], [0.0, 90.0, 0.0]])
    found = query.logit_scaled(logits, torch.tensor([0, 0]))
    assert found.tolist() == pytest.approx([90 - np.log(2), -90])
    assert found.dtype == torch.float64


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_model_that_diverged_counts_as_guessing(value):
    logits = torch.tensor([[value, 0.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0]])
    found = query.logit_scaled(logits, torch.tensor([0, 0]))
    assert found.tolist() == pytest.approx([np.log(1 / 3), 3 - np.log(3)])


@pytest.mark.parametrize("examples", [7, 10_000, 10_001, 60_000])
def test_the_scored_examples_are_spread_evenly(examples):
    found = observed.spread(examples)
    assert len(found) == min(examples, 10_000) == len(set(found))
    assert found[0] == 0 and found[-1] == examples - 1
    assert np.ptp(np.diff(found)) <= 1


@pytest.fixture(scope="module")
def scored(tmp_path_factory, drive):
    """Two tiny runs of unlike seeds, and what the driver wrote of them."""
    home = tmp_path_factory.mktemp("runs")
    path = tiny.write_data(home)
    weights, assignments = [], []
    for seed in (0, 1):
        folder = home / f"run-{seed}"
        folder.mkdir()
        partition = tiny.settings()["partition"] | {"validation_fraction": 0.5}
        settings = tiny.settings(epsilon="inf", seed=seed, partition=partition)
        settings["mechanism"] = {"estimator": "nonprivate"}
        inputs = tiny.inputs_of(settings, folder, path)
        result = run.train(settings, inputs, folder, lambda _: None)
        summary.write(folder.name, settings, inputs, result, folder)
        weights.append(folder / "model.safetensors")
        assignments.append(folder / "assignment.npy")
    done = drive("score_examples", *asked(home, path, weights, assignments))
    return home, path, weights, assignments, done


def asked(home, path, weights, assignments):
    models = ["digits-cnn"] * len(weights)
    where = ("--data", path, "--output", home / "seen.safetensors")
    return *where, "--models", *models, "--weights", *weights, "--assignments", *assignments


def test_members_are_the_training_examples_of_any_client(scored):
    home, _, _, assignments, done = scored
    assert done.returncode == 0, done.stderr
    found = observed.read(home / "seen.safetensors", ["run-1", "run-0"])
    clients = [np.load(assignments[1]), np.load(assignments[0])]
    assert found.members.tolist() == [[c in (0, 1, 2) for c in client] for client in clients]
    assert found.members.sum(1).tolist() == [tiny.EXAMPLES / 2] * 2
    assert (found.members[0] != found.members[1]).any()
    assert found.population.shape == (2, 50)


def test_what_is_written_is_the_loss_of_the_runs_model(scored):
    home, path, weights, assignments, _ = scored
    found = observed.read(home / "seen.safetensors", ["run-0"])
    model, dataset = query.trained("digits-cnn", weights[0], (1, 8, 8), 10), data.load(path)
    held_out = np.load(assignments[0]) < 0
    with torch.no_grad():
        logits = model(dataset.train_inputs[held_out])
    loss = functional.cross_entropy(logits.double(), dataset.train_targets[held_out])
    recorded = pd.read_csv(home / "run-0" / "metrics.csv")["validation_loss"].iloc[-1]
    mean = np.logaddexp(0, -found.confidences[0, held_out]).mean()
    assert mean == pytest.approx(float(loss), rel=1e-6)
    assert mean == pytest.approx(recorded, rel=1e-4)


def test_public_examples_are_refused_in_one_line(scored, drive):
    home, path, weights, assignments, _ = scored
    public = np.load(assignments[0])
    public[3] = -2
    np.save(home / "public.npy", public)
    done = drive("score_examples", *asked(home, path, weights[:1], [home / "public.npy"]))
    assert done.returncode == 1 and len(done.stderr.splitlines()) == 1
    assert "public examples are neither members nor held out" in done.stderr

"""The same code on a GPU: against the CPU's numbers, and bit for bit against itself."""

from copy import deepcopy

import every_mechanism
import example_gradients
import pytest
import test_private
import test_run
import tiny
import torch
from every_mechanism import RULES, Z, build
from fixtures_of_steps import drawn, setting

from dpfl.base.errors import UserError
from dpfl.training import run
from dpfl.training.steps import require_full_precision

RUNS = {
    "dpsgd": {},
    "central FSDP": {"mechanism": {"estimator": "fsdp-central", "rank": 3}},
    "certified FSDP": {"mechanism": {"estimator": "fsdp-certified", "rank": 3}},
    "relevance": {
        "mechanism": {"estimator": "dpsgd-relevance"},
        "partition": {**tiny.settings()["partition"], "public_examples": 20},
    },
    "per layer": {"mechanism": {"estimator": "dpsgd-layerwise"}},
    "noise of the system": {"noise": "secure"},
    "whole clients": tiny.FEDAVG | {"federation": tiny.federation(clients_per_round=None)},
}


@pytest.fixture(autouse=True)
def _full_precision():
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False


@pytest.mark.parametrize("length", [1, 9, 200])
@pytest.mark.parametrize("name", example_gradients.SHAPES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_gradients_are_those_of_every_example_alone(name, length, dtype):
    model, inputs, targets = example_gradients.shipped(name, length, dtype)
    example_gradients.check(model.cuda(), inputs.cuda(), targets.cuda())


@pytest.mark.parametrize(("name", "rule"), RULES)
@pytest.mark.parametrize("z", [0, Z])
def test_a_step_is_that_of_the_cpu(name, rule, z):
    if z and name.startswith("fsdp"):
        pytest.skip("noise along eigenvectors, whose signs are those of the library")
    model, inputs, targets = setting(9)
    there = (deepcopy(model).cuda(), inputs.cuda(), targets.cuda())
    expected, found = (
        every_mechanism.estimate(build(name, rule), *given, z=z, normal=drawn())
        for given in ((model, inputs, targets), there)
    )
    assert found.is_cuda
    torch.testing.assert_close(found.cpu(), expected, rtol=1e-6, atol=1e-9)


def test_a_run_without_noise_is_that_of_the_cpu(tmp_path):
    """With noise it is another run, of another stream: two roundings would tell of the sum."""
    found = []
    for device in ("cpu", "cuda"):
        folder = tmp_path / device
        folder.mkdir()
        settings = tiny.settings(
            device=device,
            epsilon="inf",
            mechanism={"estimator": "nonprivate"},
            optimizer={"algorithm": "sgd", "rate_key": "lr", "rate": 0.05, "settings": {}},
        )
        found.append(test_run.train(settings, folder))
    cpu, gpu = found
    torch.testing.assert_close(tiny.weights(gpu).cpu(), tiny.weights(cpu), rtol=1e-3, atol=1e-5)
    accuracies = [
        torch.tensor([[row["validation_accuracy"], row["test_accuracy"]] for row in result.metrics])
        for result in (gpu, cpu)
    ]
    torch.testing.assert_close(*accuracies, rtol=0, atol=0.05)


@pytest.mark.parametrize("name", RUNS)
def test_a_killed_run_continues_to_the_same_bits(tmp_path, name):
    settings = tiny.settings(device="cuda", **RUNS[name])
    inputs = tiny.inputs_of(settings, tmp_path)
    with pytest.raises(test_run.KilledError):
        test_run.train(settings, tmp_path, inputs, kill_after=2)
    continued = run.train(settings, inputs, tmp_path / "run", lambda line: None)
    if settings["noise"] == "secure":  # a whole run would have another secret, and so other bits
        assert continued.metrics[-1]["epsilon_spent"] <= settings["epsilon"]
        return
    whole = tmp_path / "whole"
    whole.mkdir()
    again = test_run.train(settings, whole, inputs)
    assert torch.equal(tiny.weights(continued), tiny.weights(again))
    assert test_run.rows(continued) == test_run.rows(again)
    assert continued.audit == again.audit


def test_a_network_of_ones_own_is_trained_as_on_the_cpu():
    inputs, targets = test_private.examples()
    made = {}
    for device in ("cpu", "cuda"):
        model = test_private.network().double().to(device)
        made[device] = test_private.trained(model=model, data=(inputs.double(), targets))
    assert made["cuda"].epsilon() == made["cpu"].epsilon()
    weights = [test_private.flat(made[device].model).cpu() for device in made]
    torch.testing.assert_close(*weights, rtol=1e-6, atol=1e-9)


def test_products_of_few_digits_are_refused():
    torch.backends.cuda.matmul.allow_tf32 = True
    with pytest.raises(UserError, match="TF32 is on"):
        require_full_precision(torch.device("cuda"))

"""The notebook on private training runs, and says what is true."""

import json
import os
from pathlib import Path

import nbformat
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from nbclient import NotebookClient

FACTS = """
import json

n = len(labels)
print(json.dumps({
    "n": n, "budget": budget, "plan": private.plan, "taken": private.taken,
    "epsilon": private.epsilon(), "accuracy": accuracy(model), "guessing": guessing,
    "stopped": [stopped.epsilon(), stopped.taken, stopped.steps, halves.get_last_lr()[0]],
    "same": all(torch.equal(a, b) for a, b in zip(
        from_tensors.model.parameters(), from_dataset.model.parameters(), strict=True)),
    "other": [other.epsilon(), accuracy(other.model)],
    "reasons": unproven.epsilon().reasons, "found": found, "certified": audited.epsilon(),
    "blind": watched.audit()["blind"],
}))
"""


@pytest.fixture(scope="module")
def facts(root: Path, tmp_path_factory: pytest.TempPathFactory) -> dict:
    """What the notebook's variables hold in the end; it runs away from the repository."""
    made = nbformat.read(root / "notebooks" / "private_training.ipynb", as_version=4)
    made.cells.append(nbformat.v4.new_code_cell(FACTS))
    folder = str(tmp_path_factory.mktemp("elsewhere"))
    resources = {"metadata": {"path": folder}}
    paths = os.environ | {"PYTHONPATH": str(root / "workflow" / "scripts"), "OMP_NUM_THREADS": "1"}
    NotebookClient(made, kernel_name="python3", resources=resources).execute(env=paths)
    return json.loads(made.cells[-1].outputs[0].text)


def test_epsilon_is_that_of_the_steps_and_within_the_budget(facts: dict) -> None:
    """Priced anew by dp-accounting from the size of the data and the noise alone."""
    budget, n = facts["budget"], facts["n"]
    assert facts["taken"] == budget["epochs"] * (n // budget["batch_size"])
    noise = facts["plan"]["noise_multipliers"]
    assert len(set(noise)) == 1
    step = dp_event.GaussianDpEvent(noise[0])
    sampled = dp_event.PoissonSampledDpEvent(budget["batch_size"] / n, step)
    priced = PLDAccountant().compose(sampled, facts["taken"]).get_epsilon(budget["delta"])
    assert facts["epsilon"] == pytest.approx(priced, rel=1e-3)
    assert 0.99 * budget["epsilon"] < facts["epsilon"] <= budget["epsilon"]


def test_networks_learn_far_more_than_guessing(facts: dict) -> None:
    assert facts["guessing"] < 0.2
    assert facts["accuracy"] > 0.8 and facts["other"][1] > 0.8


def test_a_run_that_is_stopped_has_spent_less(facts: dict) -> None:
    epsilon, taken, steps, rate = facts["stopped"]
    assert taken == steps // 2 and 0 < epsilon < 0.8 * facts["epsilon"]
    assert rate < 0.01  # the schedule has lowered it


def test_a_dataset_and_another_mechanism_keep_their_word(facts: dict) -> None:
    assert facts["same"] is True
    assert 0 < facts["other"][0] <= facts["budget"]["epsilon"]
    assert facts["reasons"] and all(isinstance(reason, str) for reason in facts["reasons"])


def test_the_audit_finds_much_and_no_more_than_is_certified(facts: dict) -> None:
    found = facts["found"]
    assert found["status"] == "audited" and found["broken"] == found["blind"] == []
    assert 0.7 * facts["certified"] < found["epsilon"] <= facts["certified"]
    assert facts["blind"] != []

"""Whether results are those that a version was checked with: by bits, or else by accuracy."""

from pathlib import Path

import pytest

from dpfl.runs import checked

NONE = "this version was checked with none of these runs"


def runs(*moved, cpu="one", **more):
    """Return summaries of 20 runs, some moved by so many points."""
    points = [*moved, *[0.0] * (20 - len(moved))]
    accuracies = [{"final_test_accuracy": (50 + one) / 100} for one in points]
    shared = {"hardware": {"cpu": cpu}, **more}
    return [{"run": f"run-{n}"} | own | shared for n, own in enumerate(accuracies)]


@pytest.fixture
def file(tmp_path):
    checked.write(runs(sources="a"), tmp_path / "checked.csv")
    return tmp_path / "checked.csv"


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (runs(sources="b"), ("all 20 results are, bit for bit, those",)),
        (runs(1e-6), ("results fit", "0.00 points", "bits differ on a known kind")),
        (runs(cpu="two"), ("results fit", "0.00 points", "this kind of processor was not checked")),
        (runs(*[-0.9] * 20, cpu="two"), ("results fit", "0.90 points", "0.9 at most")),
        (runs(*[-1.1] * 20, cpu="two"), ("results do NOT fit", "1.10 points")),
        (runs(9.0), ("results fit", "9.0 at most")),
        (runs(11.0), ("results do NOT fit", "0.55 points", "11.0 at most")),
        (runs(run="another"), (NONE,)),
    ],
)
def test_other_bits_are_compared_by_accuracy(file, found, says):
    assert all(word in checked.told(found, file) for word in says), checked.told(found, file)


def test_kinds_stand_beside_each_other_until_bits_change(file):
    assert checked.told(runs(), Path("missing.csv")) == NONE
    checked.write(runs(cpu="two"), file)
    for cpu in ("one", "two"):
        assert "bit for bit" in checked.told(runs(cpu=cpu), file)
    checked.write(runs(2.0, cpu="two"), file)
    assert "was not checked" in checked.told(runs(), file)

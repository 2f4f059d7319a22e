"""Which runs count as done: those with a result that today's code has trained."""

import pytest

from dpfl.base.files import write_text
from dpfl.papers import folder
from dpfl.planning import compose, estimate, plan
from dpfl.runs import finished, sources


@pytest.fixture
def made(root):
    """The plan of one paper's default."""
    config = folder.read(root / "config.yaml") | {"papers": ["meng2023"]}
    return plan.make(compose.compose(config))


def finish(runs, name: str, trained_by: str) -> None:
    """Leave what a training leaves, as far as it is asked for here."""
    finished.keep(runs / name, "f", trained_by, lambda to: write_text(to / "summary.json", "{}"))
    finished.show(runs / name)


def test_a_run_of_other_code_is_announced_as_without_a_result(made, tmp_path):
    names = list(made.runs)
    for name in names[:5]:
        finish(tmp_path, name, sources.of_run(made.runs[name]["settings"]))
    finish(tmp_path, names[5], "other code")
    write_text(tmp_path / names[6] / "summary.json", "{}")  # nobody says what trained it
    said = f"{len(names)} training runs, {len(names) - 5} without a result yet"
    assert estimate.summary(made, str(tmp_path)).startswith(said)


def test_the_version_of_the_code_is_that_of_the_files_that_a_run_uses(made):
    runs = {name: run["settings"] for name, run in made.runs.items()}
    by_optimizer = {s["optimizer"]["algorithm"]: sources.of_run(s) for s in runs.values()}
    assert len(set(by_optimizer.values())) == len(by_optimizer) > 1

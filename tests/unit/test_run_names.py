"""The names of runs are what finished results are kept by: no change of words may change them."""

from pathlib import Path

import pytest
import yaml

from dpfl.planning import config as configuration
from dpfl.planning import plan

PAPERS = ["meng2023", "composition-text", "zhou2022", "tramer2021", "fu2024"]
KEPT = sorted((Path(__file__).parent / "run_names").glob("*.txt"))


@pytest.mark.parametrize("kept", KEPT, ids=lambda path: path.stem)
def test_a_scale_has_the_runs_it_had_before_papers_had_folders(root, kept):
    default = yaml.safe_load((root / "config.yaml").read_text(encoding="utf-8"))
    made = plan.make(configuration.composed(default | {"scale": kept.stem, "papers": PAPERS}))
    assert set(made.runs) == set(kept.read_text(encoding="utf-8").split())

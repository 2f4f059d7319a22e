"""The files of the guides to federations and samplings do what they say."""

import re

import pytest
import torch

from dpfl import plugins
from dpfl.contracts.turn import Turn


@pytest.fixture
def of_guide(root):
    """Return what loads the file of a guide."""

    def load(page, name):
        text = (root / "docs" / page).read_text(encoding="utf-8")
        (source,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
        assert f"`{name}.py`" in text
        namespace = {}
        exec(source, namespace)
        return namespace

    return load


def test_the_server_goes_half_way(of_guide):
    build = of_guide("adding-a-federation.md", "half_way")["build"]
    combine = build(None, share=0.5).combine
    assert combine(1, torch.tensor([2.0]), torch.tensor([4.0])).item() == 3.0


def test_batches_follow_the_file_and_cost_what_shuffled_ones_do(of_guide):
    file = of_guide("adding-a-sampling.md", "in_file_order")
    drawn = [file["draw"](Turn(7, 3, step, None)).tolist() for step in range(3)]
    assert drawn == [[0, 1, 2], [3, 4, 5], [0, 1, 2]]
    shuffled = plugins.load("samplings", "shuffled")
    assert file["event"] is shuffled.event and file["ADJACENCIES"] == shuffled.ADJACENCIES

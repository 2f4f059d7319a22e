"""What is valid, and mistakes in the configuration beside those of single keys (see bad_input)."""

import pytest
from bad_input import cases

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.checks import config as configuration
from dpfl.papers import folder
from dpfl.papers.merging import merged


def changed(config, path, value):
    """A configuration with what a user's file says: a path such as studies/meng2023/rates/seeds."""
    return merged(config, cases.tree(path, value))


def lines_of(config):
    with pytest.raises(UserError) as error:
        configuration.composed(config)
    return str(error.value).splitlines()


SCALES = sorted({scale for key in folder.names() for scale in folder.load(key).scales})


@pytest.mark.parametrize("scale", SCALES)
def test_every_scale_is_valid(default, scale):
    assert configuration.composed(default | {"scale": scale})


@pytest.mark.parametrize(
    ("owners", "expected"),
    [
        (0, "clients = 3 with partitions.iid, expected at most 0, the natural clients of digits"),
        (2, "clients = 3 with partitions.iid, expected at most 2, the natural clients of digits"),
    ],
)
def test_natural_clients_are_those_of_the_data_set(default, monkeypatch, owners, expected):
    of_file = plugins.constant

    def constant(*asked):
        return owners if asked[:3] == ("data", "digits", "CLIENTS") else of_file(*asked)

    monkeypatch.setattr(plugins, "constant", constant)
    lines = lines_of(changed(default, "partitions/iid", {"uses": "natural"}))
    assert any(expected in line for line in lines)

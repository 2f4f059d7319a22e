"""What is valid, and mistakes in the configuration beside those of single keys (see bad_input)."""

import pytest
from bad_input import cases

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.checks import config as configuration
from dpfl.papers import folder
from dpfl.papers.merging import merged
from dpfl.planning import plan


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


def test_a_method_has_its_statistics_in_the_settings_and_the_calibration(default):
    made = plan.make(configuration.composed(default | {"papers": ["strong"]}))
    own = [run for run in made.runs.values() if "scatter" in run["settings"]["dataset"]]
    assert own
    for run in own:
        rule = run["settings"]["statistics"]
        assert rule == {"rule": "standardise", "noise_multiplier": 16, "radius": 3, "least": 0.05}
        asked = made.calibrations[run["calibration"]]["settings"]
        assert asked["releases"] == [["means", 16], ["second moments", 16]]


def test_a_method_without_any_says_nothing(default):
    made = plan.make(configuration.composed(default | {"papers": ["strong"], "scale": "full"}))
    assert made.runs
    assert all("statistics" not in run["settings"] for run in made.runs.values())
    asked = [calibration["settings"] for calibration in made.calibrations.values()]
    assert all(settings["releases"] == [] for settings in asked)

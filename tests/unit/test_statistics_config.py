"""Statistics in a configuration: named by methods, in the settings of runs and calibrations."""

import pytest

from dpfl.checks import config as configuration
from dpfl.planning import plan


@pytest.fixture
def default(default):
    return default | {"papers": ["strong"]}


def test_a_method_has_its_statistics_in_the_settings_and_the_calibration(default):
    made = plan.make(configuration.composed(default))
    own = [run for run in made.runs.values() if "scatter" in run["settings"]["dataset"]]
    assert own
    for run in own:
        rule = run["settings"]["statistics"]
        assert rule == {"rule": "standardise", "noise_multiplier": 16, "radius": 3, "least": 0.05}
        asked = made.calibrations[run["calibration"]]["settings"]
        assert asked["releases"] == [["means", 16], ["second moments", 16]]


def test_a_method_without_any_says_nothing(default):
    made = plan.make(configuration.composed(default | {"scale": "full"}))
    assert made.runs
    assert all("statistics" not in run["settings"] for run in made.runs.values())
    asked = [calibration["settings"] for calibration in made.calibrations.values()]
    assert all(settings["releases"] == [] for settings in asked)

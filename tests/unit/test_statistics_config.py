"""Statistics in a configuration: named by methods, checked before the first job."""

import pytest
import yaml

from dpfl.base.errors import UserError
from dpfl.checks import config as configuration
from dpfl.planning import plan


@pytest.fixture(scope="module")
def default(root):
    text = (root / "config.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text) | {"papers": ["tramer2021"]}


def test_a_method_has_its_statistics_in_the_settings_and_the_calibration(default):
    made = plan.make(configuration.composed(default))
    for run in made.runs.values():
        rule = run["settings"]["statistics"]
        assert rule == {"rule": "standardise", "noise_multiplier": 16, "radius": 3, "least": 0.05}
        asked = made.calibrations[run["calibration"]]["settings"]
        assert asked["releases"] == [["means", 16], ["second moments", 16]]


def test_a_method_without_any_says_nothing(default):
    made = plan.make(configuration.composed(default | {"scale": "printed"}))
    assert made.runs
    assert all("statistics" not in run["settings"] for run in made.runs.values())
    asked = [calibration["settings"] for calibration in made.calibrations.values()]
    assert all(settings["releases"] == [] for settings in asked)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {"methods": {"standardised": {"statistics": "standardize"}}},
            "no 'standardize' in statistics, named at methods.standardised.statistics",
        ),
        (
            {"statistics": {"standardise": {"noise_multiplier": 0}}},
            "statistics.standardise.noise_multiplier = 0, expected more than 0",
        ),
        ({"statistics": {"standardise": {"radius": -1}}}, "radius is -1; it must be"),
        ({"statistics": {"standardise": {"quantile": 0.5}}}, "unknown setting 'quantile'"),
        (
            {
                "mechanisms": {"fedavg": {"uses": "dp-fedavg"}},
                "methods": {"standardised": {"mechanism": "fedavg"}},
            },
            "standardised has statistics, which protect one example, with unit client",
        ),
    ],
)
def test_a_mistake_is_told_before_the_first_job(default, changed, told):
    with pytest.raises(UserError, match=told):
        configuration.composed(default | changed)

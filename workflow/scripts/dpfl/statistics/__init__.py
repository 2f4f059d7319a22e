"""Statistics of the training examples, released with noise before the first step; one rule a file.

A file offers RELEASES, the names of what it releases, and `build(noise_multiplier, **settings)`,
which returns a dpfl.contracts.protocols.Statistics. Everything it releases is an event of the run's
account, composed with the steps (dpfl.privacy.calibration). It is drawn and charged in one place
(dpfl.statistics.parts.releases). Importing this package costs nothing: plans read it.
"""

from typing import Any

from dpfl import plugins


def build(settings: dict[str, Any]) -> Any:
    """Build the rule of a run's settings."""
    own = dict(settings)
    return plugins.load("statistics", own.pop("rule")).build(**own)


def releases_of(settings: dict[str, Any]) -> list[list[Any]]:
    """Return what a run releases before its first step: [name, noise multiplier] each, in order."""
    chosen = settings.get("statistics")
    if chosen is None:
        return []
    names = plugins.constant("statistics", chosen["rule"], "RELEASES")
    return [[name, chosen["noise_multiplier"]] for name in names]

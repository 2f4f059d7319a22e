"""Rules of federations, one per file, found by file name: what they add to steps and an average.

What a file defines and may declare is dpfl.contracts.plugin_files.FederationFile. Its
`build(setting, **settings)` returns a dpfl.contracts.federation.Federation. `parts` has what every
federation has: local work, weights of clients, and optimizer states between rounds.
"""

from typing import Any

from dpfl import plugins
from dpfl.contracts.federation import DEFAULT, Federation, Setting


def rule_of(settings: dict[str, Any]) -> str:
    """Return the name of the rule of a run's federation."""
    return settings["federation"].get("rule", DEFAULT)


def build(settings: dict[str, Any], setting: Setting) -> Federation:
    """Build the rule of a run's settings; UserError for settings that do not fit the network."""
    own = settings["federation"].get("settings", {})
    return plugins.load("federations", rule_of(settings)).build(setting, **own)

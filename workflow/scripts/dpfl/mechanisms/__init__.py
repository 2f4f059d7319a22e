"""Private gradient estimators ("mechanisms"), one per file, found by file name.

What a file defines and may declare is dpfl.contracts.plugin_files.MechanismFile. Its
`build(clipping, **settings)` returns a Mechanism, or a ClientMechanism where UNIT = "client"
(dpfl.contracts.protocols). `clipping` is the method's clipping: its rule, one of the file's
CLIPPING_RULES, and the settings of that rule.
"""

from typing import Any

from dpfl import plugins
from dpfl.contracts.protocols import ClientMechanism, Mechanism
from dpfl.contracts.release import Release, Unproven
from dpfl.privacy.release import of_step


def build(settings: dict[str, Any], around: Any = None) -> Mechanism | ClientMechanism:
    """Build the mechanism of a run's settings, its clipping rules wrapped by `around`, if any."""
    own = dict(settings["mechanism"])
    file = plugins.load("mechanisms", own.pop("estimator"))
    wrapped = {"around": around} if around else {}
    return file.build({**settings["clipping"], **wrapped}, **own)


def blind(settings: dict[str, Any]) -> tuple[str, ...]:
    """Return what canaries cannot show of a run's mechanism, as its file and its form say."""
    declared = plugins.constant("mechanisms", settings["mechanism"]["estimator"], "BLIND")
    around = ("what is made of the release, which canaries are watched in before that",)
    return declared or (around if hasattr(build(settings), "inner") else ())


def released(settings: dict[str, Any], noise_multiplier: float) -> Release | Unproven:
    """Return what a step, or a round, of a run releases at some noise."""
    return of_step(build(settings), noise_multiplier, expected(settings))


def expected(settings: dict[str, Any]) -> int:
    """Return the expected size of a run's batches, or of its rounds of clients."""
    federation = settings["federation"]
    size = federation["clients_per_round" if settings["unit"] == "client" else "batch_size"]
    return size or settings["partition"]["clients"]

"""What an audit is told before the run, and what is said of a run without one."""

from dataclasses import dataclass

NOT_AUDITED = {"status": "not audited", "epsilon": None, "ceiling": None, "estimator": None}


@dataclass(frozen=True)
class Terms:
    """What an audit is told before the run.

    `gaussian`, whether every step is one, chooses the estimator; `blind` is what canaries cannot
    see of the mechanism.
    """

    gaussian: bool
    delta: float
    level: float
    blind: tuple[str, ...] = ()

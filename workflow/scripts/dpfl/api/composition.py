"""What several private runs on one data set cost together: `dpfl.compose(a, b)`."""

from typing import TYPE_CHECKING

from dp_accounting import ComposedDpEvent, DpEvent

from dpfl.base.errors import UserError
from dpfl.contracts.release import Unproven
from dpfl.privacy import events
from dpfl.privacy.accounting import CERTIFICATE, epsilon_of

if TYPE_CHECKING:
    from dpfl.api.private import Private


def compose(*runs: "Private", delta: float | None = None) -> float:
    """Return the epsilon that runs on one data set have spent together, at delta.

    The accountant prices all their steps so far, of an epoch in progress the whole epoch. Without
    `delta` it is the one of all runs. UserError for fewer than two runs, for a run without a proof,
    or with an adaptive budget, which is no fixed list of steps. Also for runs of one seed: they
    draw the same batches, so that nothing is known of both together.
    """
    if len(runs) < 2 or len({id(run) for run in runs}) < len(runs):
        raise UserError(f"compose: found {len(runs)} runs, expected two or more, each once")
    deltas = {run._delta for run in runs} if delta is None else {float(delta)}
    if len(deltas) > 1:
        raise UserError(f"compose: the runs have deltas {sorted(deltas)}; expected delta=...")
    (delta,) = deltas
    events.require("delta", delta, 0 < delta < 1, "in (0, 1)")
    if len({run._steps.sources.batch_key for run in runs}) < len(runs):
        raise UserError("compose: two runs of one seed draw the same batches; expected other seeds")
    found = [event for run in runs if (event := _event(run)) is not None]
    return epsilon_of(ComposedDpEvent(found), delta, CERTIFICATE) if found else 0.0


def _event(run: "Private") -> DpEvent | None:
    """Return the steps of a run as one event, None of a run that has taken none."""
    if isinstance(run.epsilon(), Unproven):
        raise UserError(f"compose: a run has no proof: {'; '.join(run.epsilon().reasons)}")
    if "filter" in run.plan:
        raise UserError("compose: an adaptive budget chooses its noise by the run; expected others")
    each, left = run.plan["steps_per_round"], run.plan["paid_steps"]
    epochs = -(-run.taken // each)
    segments = []
    for noise in run.plan["noise_multipliers"][:epochs]:
        segments.append((noise, min(each, left)))
        left -= segments[-1][1]
    return events.varying(run.plan["sample_rate"], segments) if segments else None

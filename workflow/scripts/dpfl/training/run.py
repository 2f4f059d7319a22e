"""One training run from its resolved settings to its files in results/runs/{run}."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from dpfl import federations, mechanisms, plugins
from dpfl.audit.canaries import NOT_AUDITED, Terms
from dpfl.privacy.release import is_gaussian
from dpfl.training import setup, trainers
from dpfl.training.checkpoint import Checkpoints
from dpfl.training.evaluation import Evaluation
from dpfl.training.federated import Round
from dpfl.training.job import CHECKPOINT, Inputs
from dpfl.training.record import Record


@dataclass(frozen=True)
class Result:
    """What a run leaves: one row per round, and the final model."""

    metrics: list[dict[str, Any]]
    rates: list[dict[str, float]]
    model: torch.nn.Module
    hyperparameters: dict[str, Any]
    noise_scale: float | None
    steps_since_reset: int
    steps_charged: dict[int, int]
    audit: dict[str, Any]


def train(settings: dict, inputs: Inputs, folder: Path, report: Callable[[str], None]) -> Result:
    """Train, or continue, the run of these settings; `report` gets one line a round."""
    return _Run(settings, inputs, folder, report).complete()


class _Run:
    """The objects of one run, built from its settings; see `train`."""

    def __init__(self, settings: dict, inputs: Inputs, folder: Path, report: Callable):
        self.settings, self.report = settings, report
        examples = setup.examples(settings, inputs)
        self.ledger, records = setup.accounts(settings, inputs)
        self.checkpoints = Checkpoints(folder / CHECKPOINT, inputs.fingerprint(settings))
        self.resumed = self.checkpoints.load(report)
        self.secret = self.resumed[0]["secret"] if self.resumed else secrets.token_hex(32)
        self.parts = setup.parts(settings, examples, self.ledger, records, self.secret)
        self.flat = self.parts.flat
        self.trainer = trainers.build(self.parts)
        personal = plugins.constant("federations", federations.rule_of(settings), "PERSONAL")
        scored = Evaluation(examples, self.flat, self.trainer.rule, personal)
        self.record = Record(settings, scored)

    def complete(self) -> Result:
        """Run every round that is still to do; stop early when the budget or the model is gone."""
        rounds = self.parts.participants
        self._resume()
        if not self.record.metrics:
            self._keep(0, Round(0, 0), {})
        started, first = time.monotonic(), len(self.record.metrics)
        for number in range(first, len(rounds) + 1):
            # Asked before a round, so that a run killed after its last one ends there as well.
            if not self.flat.flat.isfinite().all():
                self.report(f"round {number}: the weights are no longer finite, training ends")
                break
            outcome = self.trainer.run_round([int(c) for c in rounds[number - 1]])
            if outcome is None and not self.trainer.can_pay(rounds[number:]):
                self.report(f"round {number}: no budget pays for another step, training ends")
                break
            self._keep(number, *(outcome or (Round(0, 0), {})))
            seconds = time.monotonic() - started
            self.report(self.record.progress(number, len(rounds), seconds, number - first + 1))
        return self._result()

    def _resume(self) -> None:
        """Continue from the checkpoint, if there is one of this very run."""
        if self.resumed is None:
            return
        state, optimizers = self.resumed
        self.flat.set(state["weights"])
        self.record.metrics, self.record.rates = state["metrics"], state["rates"]
        self.ledger.restore(state["ledger"])
        self.trainer.restore(state["trainer"], optimizers)
        self.report(f"continuing after round {len(self.record.metrics) - 1}")

    def _keep(self, number: int, done: Round, changed: dict[str, Any]) -> None:
        """Record a round and write its checkpoint."""
        self.record.add(done, self.ledger.epsilon_spent(), self.trainer.steps_taken)
        self.checkpoints.save(number, self._state(), changed, self.record.shown())

    def _state(self) -> dict[str, Any]:
        return {
            "secret": self.secret,
            "weights": self.flat.get(),
            "metrics": self.record.metrics,
            "rates": self.record.rates,
            "ledger": self.ledger.state(),
            "trainer": self.trainer.state(),
        }

    def _result(self) -> Result:
        """Collect the result; optimizer steps are counted since the state was last reset."""
        optimizer = self.parts.build_optimizer()
        hyperparameters = {k: v for k, v in optimizer.param_groups[0].items() if k != "params"}
        scale = optimizer.noise_scale() if hasattr(optimizer, "noise_scale") else None
        return Result(
            self.record.metrics,
            self.record.rates,
            self.flat.model,
            hyperparameters,
            scale,
            self.trainer.steps_since_reset(),
            dict(self.trainer.steps_taken),
            self._audit(),
        )

    def _audit(self) -> dict[str, Any]:
        """Return what the canaries found, by what was fixed before the run."""
        settings, canaries = self.settings, self.trainer.canaries()
        if not canaries:
            return NOT_AUDITED
        from dpfl.audit.findings import findings  # an accountant, which takes a second to import

        blind = mechanisms.blind(settings)
        gaussian = is_gaussian(self.parts.holders.released)
        terms = Terms(gaussian, settings["delta"], settings["audit"]["level"], blind)
        return findings(canaries, terms)

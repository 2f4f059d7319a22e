"""One training run from its resolved settings to its files in results/runs/{run}."""

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dpfl import data, mechanisms, models, plugins, statistics, streams
from dpfl.assignment import clients_of, public_of, validation_of
from dpfl.audit.terms import NOT_AUDITED, Terms
from dpfl.errors import UserError
from dpfl.example_wise import require_example_wise
from dpfl.files import read_array
from dpfl.flat import FlatModel
from dpfl.noise import SOURCES
from dpfl.planning import participation
from dpfl.privacy.release import is_gaussian
from dpfl.standardised import Affine, Standardised
from dpfl.training import trainers
from dpfl.training.accounts import accounts
from dpfl.training.checkpoint import Checkpoints
from dpfl.training.evaluation import Score, score
from dpfl.training.federated import Round
from dpfl.training.inputs import Inputs
from dpfl.training.job import CHECKPOINT
from dpfl.training.statistics import Releases, measured
from dpfl.training.steps import Sources


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
        self.key = streams.pairing_key(settings)
        self.dataset = data.load(inputs.data).to(_available(settings["device"]))
        assignment = read_array(inputs.assignment)
        self.clients = clients_of(assignment)
        self.validation = torch.from_numpy(validation_of(assignment))
        public = torch.from_numpy(public_of(assignment))
        self.seen = _spread(np.flatnonzero(assignment >= 0), settings["evaluation_examples"])
        ledger, records = accounts(settings, inputs)
        self.checkpoints = Checkpoints(folder / CHECKPOINT, inputs.fingerprint(settings))
        self.resumed = self.checkpoints.load(report)
        self.secret = self.resumed[0]["secret"] if self.resumed else secrets.token_hex(32)
        self.flat = FlatModel(self._model(self._standardised(ledger, records)))
        self.build_optimizer = plugins.load("optimizers", settings["optimizer"]["algorithm"]).build
        self.parts = trainers.Parts(
            settings=settings,
            sources=self._sources(),
            dataset=self.dataset,
            members=self.clients,
            public=public,
            flat=self.flat,
            build_optimizer=self._optimizer,
            ledger=ledger,
            records=records,
        )
        self.trainer = trainers.build(self.parts)
        self.ledger = ledger
        self.metrics: list[dict[str, Any]] = []
        self.rates: list[dict[str, float]] = []

    def _sources(self) -> Sources:
        """Return where secrets come from: batches pair over the runs of a seed, noise never does.

        A secure run has a secret of its own, which lasts as long as its checkpoint: a round that
        was killed is repeated with the same draws, so that it releases nothing twice.
        """
        noise = self.settings["noise"]
        key = (self.secret,) if noise == "secure" else self.key
        own = streams.noise_key(self.settings)
        return Sources(SOURCES[noise], (*key, "batch"), (*key, "noise", own))

    def _standardised(self, ledger: Any, records: dict[int | str, dict]) -> Affine | None:
        """Release the statistics of all clients that take part, if the method asks for some."""
        if "statistics" not in self.settings:
            return None
        planned = dict(statistics.releases_of(self.settings)) if records else {}
        members = {
            number: torch.from_numpy(held)
            for number, held in enumerate(self.clients)
            if not records or records[number]["rounds"]
        }
        inputs, sources = self.dataset.train_inputs, self._sources()
        released = Releases(inputs, members, planned, ledger, sources)
        return measured(self.settings["statistics"], released)

    def _model(self, standardised: Affine | None) -> torch.nn.Module:
        generator = streams.generator(*self.key, "weights")
        example = self.dataset.test_inputs[:1]
        shape, classes = tuple(example.shape[1:]), self.dataset.classes
        model = models.build(self.settings["model"], generator, shape, classes)
        model = Standardised(standardised, model) if standardised else model
        model = model.to(self.settings["device"])
        name, dataset = self.settings["model"], self.settings["dataset"]
        try:
            found = tuple(model(example).shape)
        except RuntimeError as error:
            names = f"{name} does not take inputs of {dataset}"
            raise UserError(f"{names}, shape {shape}: {error}") from error
        if found != (1, classes):
            raise UserError(
                f"{name} gives outputs {found[1:]} for the {classes} classes of {dataset}"
            )
        require_example_wise(model, self.dataset.test_inputs[:4], name)
        return model

    def _optimizer(self) -> torch.optim.Optimizer:
        optimizer = self.settings["optimizer"]
        hyperparameters = {**optimizer["settings"], optimizer["rate_key"]: optimizer["rate"]}
        return self.build_optimizer([self.flat.flat], **hyperparameters)

    def complete(self) -> Result:
        """Run every round that is still to do; stop early when the budget or the model is gone."""
        rounds = self._participants()
        self._resume()
        if not self.metrics:
            self._record(Round(0, 0))
            self.checkpoints.save(0, self._state(), {}, self._shown())
        started, first = time.monotonic(), len(self.metrics)
        for number in range(first, len(rounds) + 1):
            # Asked before a round, so that a run killed after its last one ends there as well.
            if not self.flat.flat.isfinite().all():
                self.report(f"round {number}: the weights are no longer finite, training ends")
                break
            outcome = self.trainer.run_round([int(c) for c in rounds[number - 1]])
            if outcome is None and not self.trainer.can_pay(rounds[number:]):
                self.report(f"round {number}: no budget pays for another step, training ends")
                break
            done, changed = outcome or (Round(0, 0), {})
            self._record(done)
            self.checkpoints.save(number, self._state(), changed, self._shown())
            self.report(self._progress(number, len(rounds), started, number - first + 1))
        return self._result()

    def _result(self) -> Result:
        """Collect the result; optimizer steps are counted since the state was last reset."""
        optimizer = self._optimizer()
        group = optimizer.param_groups[0]
        hyperparameters = {k: v for k, v in group.items() if k != "params"}
        scale = optimizer.noise_scale() if hasattr(optimizer, "noise_scale") else None
        return Result(
            self.metrics,
            self.rates,
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
        gaussian = is_gaussian(self.parts.released)
        terms = Terms(gaussian, settings["delta"], settings["audit"]["level"], blind)
        return findings(canaries, terms)

    def _participants(self) -> list[np.ndarray]:
        """Draw who takes part; where that is secret, it is not read (see client_level)."""
        federation = self.settings["federation"]
        return participation.draw(
            len(self.clients),
            federation["clients_per_round"],
            federation["rounds"],
            streams.rng(*self.key, "participation"),
        )

    def _record(self, outcome: Round) -> None:
        """Append the metrics of a round, measured with the server's weights."""
        before = self.metrics[-1] if self.metrics else {"steps": 0, "examples": 0}
        train, test, held_out = self._scores()
        self.metrics.append(
            {
                "round": len(self.metrics),
                "steps": before["steps"] + outcome.steps,
                "examples": before["examples"] + outcome.examples,
                "train_accuracy": train.accuracy,
                "train_loss": train.loss,
                "test_accuracy": test.accuracy,
                "test_loss": test.loss,
                "validation_accuracy": held_out.accuracy if held_out else None,
                "validation_loss": held_out.loss if held_out else None,
                "epsilon_spent": self.ledger.epsilon_spent(),
                "noise_multiplier": outcome.noise_multiplier or None,
                "clip_norm": outcome.clip_norm,
            }
        )
        if outcome.rates:
            step = max(self.trainer.steps_taken.values())
            self.rates.append({"round": len(self.metrics) - 1, "step": step, **outcome.rates})

    def _scores(self) -> tuple[Score, Score, Score | None]:
        """Score a fixed, evenly spread part of the training set, the test set, the held-out set."""
        d, model, held_out = self.dataset, self.flat.model, self.validation
        return (
            score(model, *d.of_training(self.seen)),
            score(model, d.test_inputs, d.test_targets),
            score(model, *d.of_training(held_out)) if len(held_out) else None,
        )

    def _state(self) -> dict[str, Any]:
        return {
            "secret": self.secret,
            "weights": self.flat.get(),
            "metrics": self.metrics,
            "rates": self.rates,
            "ledger": self.ledger.state(),
            "trainer": self.trainer.state(),
        }

    def _shown(self) -> dict[str, Any]:
        """Return what whoever watches reads of a checkpoint."""
        row = self.metrics[-1]
        finite = row["epsilon_spent"] if np.isfinite(row["epsilon_spent"]) else None
        return {
            "rounds": self.settings["federation"]["rounds"],
            "test_accuracy": row["test_accuracy"],
            "epsilon_spent": finite,
        }

    def _resume(self) -> None:
        """Continue from the checkpoint, if there is one of this very run."""
        if self.resumed is None:
            return
        state, optimizers = self.resumed
        self.flat.set(state["weights"])
        self.metrics, self.rates = state["metrics"], state["rates"]
        self.ledger.restore(state["ledger"])
        self.trainer.restore(state["trainer"], optimizers)
        self.report(f"continuing after round {len(self.metrics) - 1}")

    def _progress(self, number: int, rounds: int, started: float, done: int) -> str:
        row = self.metrics[-1]
        seconds = time.monotonic() - started
        left = seconds / done * (rounds - number)
        end = time.strftime("%H:%M:%S", time.localtime(time.time() + left))
        budget = self.settings["epsilon"]
        return (
            f"round {number}/{rounds}  test accuracy {100 * row['test_accuracy']:.2f} %  "
            f"epsilon {row['epsilon_spent']:.3f} of {budget}  {seconds:.1f} s  ends {end}"
        )


def _available(device: str) -> str:
    """Return the device; UserError if this machine has none."""
    if device == "cuda" and not torch.cuda.is_available():
        raise UserError("device = cuda, but torch finds no GPU here; expected cpu")
    # Clipping compares norms with sums: both in full float32, on any GPU.
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
    return device


def _spread(members: np.ndarray, wanted: int) -> torch.Tensor:
    """Return at most this many of the members, evenly spread."""
    picked = np.linspace(0, len(members) - 1, min(wanted, len(members))).astype(int)
    return torch.from_numpy(members[picked])

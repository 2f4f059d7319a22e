"""Private training of a network of your own: `dpfl.Private`, over the path that the workflow takes.

private = dpfl.Private(model, optimizer, examples=(inputs, targets), epsilon=4, delta=1e-5,
                       batch_size=256, epochs=10)
while private.step():
    pass
print(private.epsilon())
"""

import math
import os
import secrets
from collections.abc import Mapping
from copy import deepcopy
from functools import partial
from typing import Any, NoReturn

import numpy as np
import torch
from dp_accounting import ComposedDpEvent, DpEvent
from torch import Tensor, nn
from torch.optim import Optimizer

from dpfl import mechanisms
from dpfl.api import fitness, identity
from dpfl.api.given_examples import Given, batches, public_examples
from dpfl.api.method import Part, method, plain, plug_in
from dpfl.audit.canaries import NOT_AUDITED, Terms
from dpfl.audit.findings import findings
from dpfl.base.errors import UserError
from dpfl.contracts import bounds
from dpfl.contracts.release import Unproven
from dpfl.draws import noise, streams
from dpfl.gradients.flat import joined, trained
from dpfl.gradients.losses import LossFunction
from dpfl.gradients.microbatches import microbatched
from dpfl.gradients.step import Step
from dpfl.privacy import events
from dpfl.privacy.accounting import CERTIFICATE, epsilon_of
from dpfl.privacy.calibration import Federation, Settings, calibrate
from dpfl.privacy.conditions import own
from dpfl.privacy.filter import Filter
from dpfl.privacy.ledger import Ledger
from dpfl.privacy.release import is_gaussian
from dpfl.training import probe
from dpfl.training.holders import Holders
from dpfl.training.steps import Released, Sources, cross_entropy, require_full_precision, tell_noise

HOLDER = 0
"""The one holder of all examples, in accounts and in streams."""
CANARIES, LEVEL = 1000, 0.05

_ONE_NOISE = "as two that go on from one step would draw the same noise; make a new one"

BOUNDS = {
    "epsilon": "number in [1e-6, 1000]",
    "delta": "number in (0, 1)",
    "batch_size": "whole >= 1",
    "epochs": "whole >= 1",
    "seed": "null or whole >= 0",
    "microbatch": "null or whole >= 1",
}


class Private:
    """Trains a network by private steps on the examples of one holder, within a budget.

    `examples` are inputs [n, ...] and targets [n], or a Dataset of such pairs. Adding or removing
    one of them, an item, is what (epsilon, delta) protects. A record that enters several items
    (mixup, pairs, windows, oversampling) is not protected by this. Batches go to the model's
    device. Steps are `epochs` times n // batch_size, each on a Poisson batch of `batch_size`
    expected examples. Nothing else may look at the examples. `mechanism`, `clipping` and `budget`
    are those of dpfl.mechanisms, dpfl.clippings and dpfl.privacy.budgets. A number as `clipping`
    stands for the rule `fixed` at that norm. `loss_fn(outputs, targets)` gives one loss per example
    [L], or a scalar, which is slower: it is taken example by example. `public` are examples that
    need no protection, for mechanisms that ask for some. With a `seed` the run repeats, and nothing
    is protected from whoever knows it. Without one, secrets come from the system's entropy. A seed
    is for one run. If two runs of it are changed by hand while they train (a schedule of rates,
    say), they share noise. Then the difference of their steps has none. `audit` puts canaries into
    the batches: see `audit()`.

    The optimizer holds the model's parameters that are not frozen, all of them and no others, and
    its step() needs no closure. UserError otherwise, and for settings that are out of bounds or do
    not go together. Also for a network or a loss that mixes the examples of a batch. Also for a
    mechanism that draws less noise than it promises. Network, optimizer and loss stay as they were
    checked: a step finds what is changed, and is not taken.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        *,
        examples: Given,
        epsilon: float,
        delta: float,
        batch_size: int,
        epochs: int,
        mechanism: Part = "dpsgd",
        clipping: float | Part = 1.0,
        budget: Part = "uniform",
        accountant: str = "pld",
        loss_fn: LossFunction = cross_entropy,
        public: Given | None = None,
        seed: int | None = None,
        audit: bool = False,
        microbatch: int | None = None,
    ):
        given = {"epsilon": epsilon, "delta": delta, "batch_size": batch_size, "epochs": epochs}
        given = plain({**given, "seed": seed, "microbatch": microbatch})
        bounds.check("Private", BOUNDS, given)
        fitness.require_trains(model, optimizer)
        self.model, self.optimizer, self._loss_fn = model, optimizer, loss_fn
        device = next(model.parameters()).device
        require_full_precision(device)
        self._examples = batches(examples, device, "examples")
        self._process, self._audits, self._microbatch = os.getpid(), audit, given["microbatch"]
        asks = {"public": public is not None, "microbatch": self._microbatch is not None}
        self._parts = method(mechanism, clipping, optimizer, **asks)
        self._account(_settings(given, accountant, plug_in("budget", budget)))
        together = min(self._expected, self._microbatch or math.inf)
        self._tried = own.require_own(model, loss_fn, self._examples.seen, together)
        self._public = public_examples(public, self._examples, device)
        held, self._run = (model, optimizer, loss_fn), secrets.token_hex(16)
        given = given["seed"], self._asked, held, self._public, self._examples
        self._about, sources = identity.identify(*given)
        self._begin(sources)

    def _account(self, settings: Settings) -> None:
        """Plan the noise of every epoch, and open the account."""
        content = calibrate(settings, np.zeros(len(self._examples), np.int32))
        self._plan = content["clients"][HOLDER]
        self.plan = deepcopy(self._plan)
        """The calibration: sample_rate, steps, noise_multipliers and epsilon by epoch; a copy."""
        self._ledger = (Filter if "filter" in self._plan else Ledger)(content)
        if not self._ledger.affordable(HOLDER, 1):
            raise UserError(f"epsilon = {settings.epsilon:g}, expected more: it pays for no step")
        self._delta, self._asked = settings.delta, {**settings.asked(), **self._parts}
        self._expected = self._plan["sample_rate"] * len(self._examples)

    def _begin(self, sources: Sources) -> None:
        """Build the steps, after the checks that a run of the workflow starts with."""
        holders = Holders(self._parts, self._expected, [self._plan], sources)
        nobody = self._examples[torch.empty(0, dtype=torch.long)]
        given = {"expected": self._expected, "public": self._public, "sources": sources}
        step = partial(probe.example_step, self.model, self._loss_fn, nobody, **given)
        self._promised = holders.released
        holders.require_noise(step)
        canaries = holders.canaries(CANARIES, CANARIES) if self._audits else None
        self._steps = holders.steps(HOLDER, self._ledger, self._loss_fn, canaries)
        if self._microbatch:
            self._steps.differentiate = microbatched(self._microbatch)
            self._require_sums(holders.mechanism())
        self._before = self._weights()
        self._failed: tuple[str, ...] = ()
        """Why nothing is proven any more."""
        self._paid, self._noise = 0, 0.0
        """Of the epoch in progress: how many of its steps are paid, and at what noise."""
        self._marks = fitness.marks(self.model, self.optimizer, self._loss_fn)

    def _require_sums(self, mechanism: Any) -> None:
        """Raise UserError for a mechanism that needs all gradients of a batch at once."""
        least, rng = self._plan["noise_multipliers"][0], partial(streams.rng, "trial")
        given = (*self._tried, least, self._expected, noise.none, self._public, rng)
        differentiate = self._steps.differentiate
        mechanism.estimate(Step(self.model, self._loss_fn, *given, differentiate=differentiate))

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles: two of them would draw one noise on two sums."""
        raise UserError(f"Private: it cannot be copied or pickled, {_ONE_NOISE}")

    @property
    def steps(self) -> int:
        """Return how many steps are planned and paid."""
        return self._plan["paid_steps"]

    @property
    def taken(self) -> int:
        """Return how many steps were taken."""
        return self._steps.taken

    def step(self) -> bool:
        """Take one private step of the optimizer; False, with nothing done, if none is left.

        UserError, and nothing is charged, in a process that was forked from the one in which this
        was made, or where something is not as it was checked. A step that fails later is paid and
        counts as taken: its batch and its noise are never used again. Whether it fails may depend
        on one example of its batch, and shows. So nothing is proven of the run after that.
        """
        if self.taken >= self.steps:
            return False
        self._require_same()
        each = self._plan["steps_per_round"]
        number = self.taken % each
        if number == 0:
            self._paid = self._ledger.affordable(HOLDER, each)
            self._noise = self._ledger.noise_multiplier(HOLDER)
        if number >= self._paid:
            return False
        before = self.taken
        given = self.model, self._examples, self._plan["sample_rate"], self._noise, self._public
        try:
            with own.one_line(f"step {before + 1}"):
                released = self._released(*given, number)
                _put(self.model, released.gradient)
                tell_noise(self.optimizer, released.noise)
                self.optimizer.step()
        finally:
            identity.note(self._run, self.taken)
            if before < self.taken and number + 1 == each:
                self._end_epoch()
        return True

    def _released(self, *given: Any) -> Released:
        """Release a step; one that has drawn its batch and fails ends what is proven."""
        before = self.taken
        try:
            return self._steps.release(*given)
        except Exception:
            if before < self.taken:
                told = "ended in an error, which may depend on one example of its batch"
                self._failed = self._failed or (f"step {self.taken} {told}",)
            raise

    def _require_same(self) -> None:
        """Raise UserError where a step would not be what was checked, or draw a noise again."""
        if os.getpid() != self._process:
            raise UserError(f"Private: it cannot go on in a forked process, {_ONE_NOISE}")
        identity.require_ahead(self._run, self.taken)
        require_full_precision(next(self.model.parameters()).device)
        fitness.require_same(self._marks, self.model, self.optimizer, self._loss_fn)

    def _end_epoch(self) -> None:
        """Let the budget see how far the released weights came, and the mechanism forget."""
        self._steps.end_round()
        self._ledger.observe(self._weights() - self._before)
        self._before = self._weights()

    def _weights(self) -> Tensor:
        return joined(p.detach() for p in trained(self.model))

    def epsilon(self) -> float | Unproven:
        """Return the epsilon spent at delta, or why none is proven.

        Exact after whole epochs and after the last step, else that of the epoch in progress. Proven
        where what ended the steps owes nothing to the run. Who stops because of what the run showed
        has spent plan["epsilon"], as has every run of an adaptive budget, which follows the run.
        """
        if isinstance(self._promised, Unproven):
            return self._promised
        if self._failed:
            return Unproven(self._failed)
        spent = self._ledger.epsilon_spent()
        return self._plan["epsilon"] if spent and "filter" in self._plan else spent

    def state_dict(self) -> dict[str, Any]:
        """Return all that a run needs to go on to the same bits: copies, secrets included.

        Whoever has it can take the noise off what is released after it.
        """
        state = {
            "run": self._run,
            "about": self._about,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "account": self._ledger.state(),
            "epoch": [self._paid, self._noise, self._before],
            "failed": self._failed,
        }
        return {**deepcopy(state), "steps": identity.state_of(self._steps)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a run of the same settings, examples, kind of network and loss.

        UserError, and nothing is changed, for another run's state once a step is taken here. Also
        for one that is behind what this process has released: the same noise would lie on other
        sums. A process cannot see what another one releases from the same state.
        """
        self._require_same()
        with own.one_line("state"):
            self._load(state)

    def _load(self, state: Mapping[str, Any]) -> None:
        if "about" not in state:
            raise UserError("state: expected what state_dict() of a dpfl.Private has returned")
        run, taken = state["run"], state["steps"]["taken"]
        if state["about"] != self._about:
            raise UserError("state: it is of a run with other settings, examples, network or loss")
        if self.taken and run != self._run:
            raise UserError("state: it is of another run; expected that no step was taken before")
        identity.require_ahead(run, taken)
        counted = state["account"].get("steps", state["account"]).get(str(HOLDER), 0)
        if counted != taken:
            raise UserError(f"state: its account has {counted} steps, expected the {taken} taken")
        if (state["steps"]["canaries"] is None) != (self._steps.canaries is None):
            raise UserError("state: one of the two is audited, expected both or neither")
        self._failed = tuple(state["failed"])
        self._ledger.restore(state["account"])
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(deepcopy(state["optimizer"]))
        self._run = run
        self._begin(identity.sources_of(state["steps"]))
        identity.restore(self._steps, state["steps"])
        self._paid, self._noise, self._before = state["epoch"]
        identity.note(run, taken)

    def audit(self) -> dict[str, Any]:
        """Return what the canaries found so far: a lower bound on epsilon, checks, blind spots.

        As in dpfl.audit.findings; its bound is wrong with a chance of `level` at most. `status` is
        `refuted` where the bound is above `epsilon()`.
        """
        if self._steps.canaries is None:
            return dict(NOT_AUDITED)
        blind = mechanisms.blind(self._parts)
        terms = Terms(is_gaussian(self._promised), self._delta, LEVEL, blind)
        found, spent = findings({HOLDER: self._steps.canaries}, terms), self.epsilon()
        beaten = not isinstance(spent, Unproven) and (found["epsilon"] or 0.0) > spent
        if beaten and found["status"] == "audited":  # what is broken has no bound
            found["status"] = "refuted"
        return found


def compose(*runs: Private, delta: float | None = None) -> float:
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
    found = [event for event in map(_event, runs) if event is not None]
    return epsilon_of(ComposedDpEvent(found), delta, CERTIFICATE) if found else 0.0


def _event(run: Private) -> DpEvent | None:
    """Return the steps of a run as one event, None of a run that has taken none."""
    if isinstance(spent := run.epsilon(), Unproven):
        raise UserError(f"compose: a run has no proof: {'; '.join(spent.reasons)}")
    if "filter" in run._plan:
        raise UserError("compose: an adaptive budget chooses its noise by the run; expected others")
    each = run._plan["steps_per_round"]
    begun = min(-(-run.taken // each) * each, run.steps)
    epochs = zip(run._plan["noise_multipliers"], range(0, begun, each), strict=False)
    segments = [(noise, min(each, begun - first)) for noise, first in epochs]
    return events.varying(run._plan["sample_rate"], segments) if segments else None


def _settings(given: dict[str, Any], accountant: str, budget: dict[str, Any]) -> Settings:
    """Return what the noise is calibrated for: the one holder of all examples takes every round."""
    federation = Federation(given["batch_size"], given["epochs"], local_epochs=1)
    asked = given["epsilon"], given["delta"], accountant, budget, federation
    return Settings(*asked, participation_key=("private",))


def _put(model: nn.Module, gradient: Tensor) -> None:
    """Give every parameter its part of a gradient, flat [D]."""
    parameters = trained(model)
    parts = gradient.split([p.numel() for p in parameters])
    for p, part in zip(parameters, parts, strict=True):
        p.grad = part.view_as(p).clone()

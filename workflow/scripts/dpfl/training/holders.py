"""Everyone who adds noise in a training: one mechanism, tried beforehand, then watched by canaries.

Runs of the workflow and dpfl.Private both build their private steps here.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor

from dpfl import mechanisms, plugins
from dpfl.audit.audited import Around, audited
from dpfl.audit.canaries import Canaries
from dpfl.audit.decorrelated import of_draws
from dpfl.base.errors import UserError
from dpfl.contracts.protocols import ClientMechanism, Mechanism
from dpfl.contracts.release import Release, Unproven
from dpfl.privacy.filter import greatest_noise
from dpfl.privacy.release import is_gaussian, of_step
from dpfl.training import probe
from dpfl.training.steps import Ledger, PrivateSteps, Sources, cross_entropy


@dataclass(frozen=True)
class Holders:
    """Builds every holder's mechanism of some settings, and its private steps.

    `expected` is the expected size of a batch, or of a cohort; `records` are the calibrations of
    everyone who adds noise, none without privacy.
    """

    settings: Mapping[str, Any]
    expected: float
    records: Collection[dict[str, Any]]
    sources: Sources

    def mechanism(self, around: Around | None = None) -> Mechanism | ClientMechanism:
        """Build the mechanism with the method's clipping, its rules wrapped by `around`."""
        return mechanisms.build(self.settings, around)

    @property
    def released(self) -> Release | Unproven:
        """Return what a step, or a round, releases where noise is least."""
        return of_step(self.mechanism(), self._least_noise(), self.expected)

    def require_noise(self, probed: Callable[[float], probe.OnNobody]) -> None:
        """Raise UserError if a mechanism with a proof draws less noise than it promises.

        Looked at is the least noise that is planned, and the most. UserError also if a mechanism
        without a proof hides its canaries. `probed` returns what takes a step, or a round, on
        nobody at a noise multiplier.
        """
        self.mechanism()  # a mistake in its settings ends the training here
        if not self.records:
            return
        made = {key: self.settings[key] for key in ("mechanism", "clipping")}
        made_of = plugins.constant("mechanisms", self._estimator, "CORRELATION")
        if made_of != (1.0,) and isinstance(self.released, Release):
            raise UserError("mechanism: no accountant prices its CORRELATION, expected Unproven")
        for z in sorted({self._least_noise(), greatest_noise(self.records)}):
            promise, nobody = self._promise(z), probed(z)
            if isinstance(of_step(self.mechanism(), z, self.expected), Release):
                known = (made, self.expected)
                probe.require_noise(promise, self.mechanism, nobody, self.sources, *known)
            else:
                probe.require_canaries(promise, self.mechanism(), nobody)

    def canaries(
        self, records: int, tossed: int, *whose: int | str, length: float = 1.0, **drawn: Any
    ) -> Canaries:
        """Return canaries of a holder; where a step is no Gaussian, none are tossed in every step.

        Their coins are those of the noise's key and of `whose` they are. `drawn` says how batches
        are drawn, and noise is made, if not as usual.
        """
        key = (*self.sources.noise_key, "audit", *whose)
        weights = plugins.constant("mechanisms", self._estimator, "CORRELATION")
        if len(weights) > 1:
            drawn.setdefault("made_of", of_draws(weights))
        return Canaries(records, tossed if is_gaussian(self.released) else 0, key, length, **drawn)

    def watched(self, canaries: Canaries | None) -> Mechanism | ClientMechanism:
        """Build the mechanism, with canaries in its batches unless it differentiates by itself."""
        if canaries is None or plugins.constant("mechanisms", self._estimator, "OWN_GRADIENTS"):
            return self.mechanism()
        return self._audited(canaries)

    def steps(
        self,
        holder: int | str,
        ledger: Ledger,
        loss_fn: Callable[[Tensor, Tensor], Tensor] = cross_entropy,
        canaries: Canaries | None = None,
    ) -> PrivateSteps:
        """Return the private steps of a holder of examples."""
        declared = plugins.constant("mechanisms", self._estimator, "NOISE_IS_Z_C")
        even_noise = declared or not self.records  # without privacy there is none anywhere
        mechanism = self.watched(canaries)
        shared = plugins.constant("mechanisms", self._estimator, "SHARED_NOISE")
        given = (holder, mechanism, ledger, self.sources, loss_fn, canaries, even_noise)
        return PrivateSteps(*given, shared_noise=shared)

    def _promise(self, noise_multiplier: float) -> probe.Promise:
        """Return what the mechanism's file, and its form, promise at a noise multiplier."""
        declared = partial(plugins.constant, "mechanisms", self._estimator)
        return probe.Promise(
            self._estimator,
            noise_multiplier,
            self.settings["clipping"]["clip_norm"],
            asks=not declared("OWN_GRADIENTS"),
            even=declared("NOISE_IS_Z_C"),
            correlation=declared("CORRELATION"),
        )

    @property
    def _estimator(self) -> str:
        """Return the name of the mechanism's file."""
        return self.settings["mechanism"]["estimator"]

    def _least_noise(self) -> float:
        """Return the least noise that is planned for anyone, in any round."""
        return min(z for record in self.records for z in record["noise_multipliers"])

    def _audited(self, canaries: Any) -> Any:
        """Build the mechanism with canaries; they begin at the method's clipping norm."""
        return audited(self.mechanism, canaries, self.settings["clipping"]["clip_norm"])

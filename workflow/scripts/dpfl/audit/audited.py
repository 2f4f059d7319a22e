"""Any mechanism, with canaries in its batches: with a proof it returns what it would without them.

Without one it need not. fsdp-central decomposes the canaries' rows with the batch. The thresholds
of fsdp-published and fsdp-literal include the noise of the canaries' coordinates. Its part in a
mean length is about their number over twice the network's.

No mechanism knows of it. One that only post-processes what another releases, its `inner`, is
watched there: it may drop coordinates that no parameter has.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dpfl.audit.canaries import Canaries
from dpfl.clippings.parts.unheard import Crowd, Unheard
from dpfl.contracts.federation import Cohort
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Release, Unproven
from dpfl.draws.noise import Normal
from dpfl.gradients.dirac import Dirac
from dpfl.gradients.step import Gradients, Step
from dpfl.privacy.release import is_gaussian, of_step

SATURATED = 1e3  # times C: clipped, a canary moves the sum by C and nothing else

Around = Callable[[ClippingRule], ClippingRule]
Build = Callable[[Around], Any]
"""Builds a mechanism whose clipping rules are wrapped by a function."""


def audited(build: Build, canaries: Canaries, clip_norm: float) -> Any:
    """Build a mechanism of either unit with canaries in its batches.

    `clip_norm` is that of the method's clipping, for a mechanism that tells no rule of its own.
    """
    crowd = Crowd()
    made = build(lambda rule: Unheard(rule, crowd, canaries.residuals))
    return _wrapped(made, canaries, crowd, clip_norm)


def innermost(mechanism: Any) -> Any:
    """Return the mechanism whose release all others post-process."""
    return innermost(mechanism.inner) if hasattr(mechanism, "inner") else mechanism


def _wrapped(mechanism: Any, canaries: Canaries, crowd: Crowd, clip_norm: float) -> Any:
    if hasattr(mechanism, "inner"):
        inner = _wrapped(mechanism.inner, canaries, crowd, clip_norm)
        return dataclasses.replace(mechanism, inner=inner)
    kind = Audited if hasattr(mechanism, "estimate") else AuditedClients
    return kind(mechanism, canaries, crowd, clip_norm)


class _Watched:
    """A mechanism, watched: it releases what it would."""

    def __init__(self, mechanism: Any, canaries: Canaries, crowd: Crowd, clip_norm: float):
        self._mechanism, self._canaries, self._crowd = mechanism, canaries, crowd
        self._clip_norm = clip_norm
        self.clippings = mechanism.clippings

    def release(self, noise_multiplier: float, expected: float) -> Release | Unproven:
        """Return what the mechanism releases."""
        return self._mechanism.release(noise_multiplier, expected)

    def _bound(self) -> float:
        """Return what a canary is clipped to: by the last rule, or by a bound that never moves."""
        return self.clippings[-1].clip_norm if self.clippings else self._clip_norm


class Audited(_Watched):
    """A mechanism that protects examples, watched."""

    def estimate(self, step: Step) -> Tensor:
        """Return the mechanism's estimate, flat [D]; note what it shows at the canaries' columns.

        A canary shifts its column by C where every step is a Gaussian, else by its own length.
        """
        promised = of_step(self._mechanism, step.noise_multiplier, step.expected_batch)
        gaussian = is_gaussian(promised)
        clip_norm = self._bound()
        shift = [clip_norm]
        hits = torch.from_numpy(self._canaries.hits()).to(step.targets.device)

        def differentiate(*batch: Any) -> tuple[Gradients, Tensor]:
            gradients, norms = step.differentiate(*batch)
            if gaussian:
                length = SATURATED * clip_norm
            else:
                mean = float(norms.mean()) if len(norms) else 0.0
                # An empty batch, or gradients that are all zero, tell no length.
                length = shift[0] = self._canaries.length * (mean or clip_norm)
            found = Dirac(gradients, hits, length, self._canaries.columns)
            self._crowd.rows, self._crowd.canaries = len(found.norms()), len(hits)
            return found, found.norms()

        columns = self._canaries.columns
        released = self._mechanism.estimate(
            dataclasses.replace(step, differentiate=differentiate, appended=columns)
        )
        own, appended = released.split([released.shape[-1] - columns, columns], dim=-1)
        x = appended.double().cpu().numpy() * (step.expected_batch / shift[0])
        self._canaries.observe(_combined(x, promised), step.noise_multiplier)
        return own

    def forget(self) -> None:
        """Let the mechanism forget what must not outlive a round."""
        if hasattr(self._mechanism, "forget"):
            self._mechanism.forget()


def _combined(x: np.ndarray, promised: Release | Unproven) -> np.ndarray:
    """Return the likelihood ratio's mean of several releases x [J, m] of one sum, or the only one.

    Each weighs 1/z_j^2, or as any other where nothing is promised.
    """
    if x.ndim == 1:
        return x
    if isinstance(promised, Unproven):
        return x.mean(axis=0)
    weights = np.array(promised.multipliers[: len(x)]) ** -2.0
    return weights @ x / weights.sum()


class AuditedClients(_Watched):
    """A mechanism that protects clients, watched: a canary's update is one appended coordinate."""

    def aggregate(
        self,
        updates: Iterable[Tensor],
        cohort: Cohort,
        *,
        noise_multiplier: float,
        normal: Normal,
    ) -> Tensor:
        """Return the mechanism's mean update, flat [D]; note what its canaries show."""
        clip_norm, columns, like = self._bound(), self._canaries.columns, cohort.like
        released = self._mechanism.aggregate(
            self._with_canaries(updates, like, SATURATED * clip_norm),
            dataclasses.replace(cohort, like=torch.cat([like, like.new_zeros(columns)])),
            noise_multiplier=noise_multiplier,
            normal=normal,
        )
        x = released[len(like) :].double().cpu().numpy() * (cohort.expected / clip_norm)
        self._canaries.observe(x, noise_multiplier)
        return released[: len(like)].clone()

    def _with_canaries(
        self, updates: Iterable[Tensor], like: Tensor, length: float
    ) -> Iterator[Tensor]:
        """Yield the clients' updates [D + m], then those of the canaries that are in."""
        nothing = like.new_zeros(self._canaries.columns)
        for update in updates:
            yield torch.cat([update, nothing])
        hits: np.ndarray = self._canaries.hits()
        self._crowd.canaries = len(hits)
        for column in hits.tolist():
            canary = like.new_zeros(len(like) + len(nothing))
            canary[len(like) + column] = length
            yield canary

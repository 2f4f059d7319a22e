"""The rows of the analysis `inversion`: every attack on every release of the same pictures."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn
from torch.nn import functional

from dpfl import data, models, plugins
from dpfl.attacks import closed_form, likeness, matching
from dpfl.attacks.seen import Seen, labels_of
from dpfl.clients import participation
from dpfl.clippings import fixed
from dpfl.contracts.protocols import Mechanism
from dpfl.draws import streams
from dpfl.draws.noise import Seeded
from dpfl.gradients.step import Public, Step
from dpfl.mechanisms.dpsgd import DPSGD
from dpfl.mechanisms.nonprivate import NonPrivate
from dpfl.privacy.search import noise_multiplier
from dpfl.seeds.verdicts import interval

loss_fn = partial(functional.cross_entropy, reduction="none")
CASE = ["attack", "model", "batch_size", "labels", "update", "epsilon", "noise_multiplier"]
MEAN, CLASS_MEAN = "none: mean picture", "none: mean of the class"
"""What is had without any update: of the public test set, or of its examples of the label."""


@dataclass(frozen=True)
class Release:
    """What a client sends of one step: by which mechanism, at which noise, for which epsilon."""

    name: str
    mechanism: Mechanism
    noise_multiplier: float
    epsilon: float

    def updates(
        self, model: nn.Module, pictures: Tensor, labels: Tensor, key: tuple[streams.Key, ...]
    ) -> Tensor:
        """Return the updates [U, D] of batches [U, b, C, H, W], the denominator b.

        Noise is drawn by `key` and the number of the batch: releases share it, each at its scale.
        """
        batches = enumerate(zip(pictures, labels, strict=True))
        return torch.stack([self._update(model, *batch, (*key, i)) for i, batch in batches])

    def _update(
        self, model: nn.Module, inputs: Tensor, targets: Tensor, key: tuple[streams.Key, ...]
    ) -> Tensor:
        step = Step(
            model=model,
            loss_fn=loss_fn,
            inputs=inputs,
            targets=targets,
            noise_multiplier=self.noise_multiplier,
            expected_batch=len(inputs),
            normal=Seeded(*key).normal,
            public=Public(inputs[:0], targets[:0]),
            public_rng=partial(streams.rng, *key),
        )
        return self.mechanism.estimate(step)


@dataclass(frozen=True)
class Work:
    """What a client's noise has to last for: its sampling rate, and steps in all rounds."""

    sample_rate: float
    steps: int

    @classmethod
    def of_client(cls, federation: dict[str, int], examples: int) -> "Work":
        """Return the work of a client of so many examples: one local epoch a round."""
        batch = federation["batch_size"]
        steps = participation.local_steps(examples, batch, local_epochs=1)
        return cls(batch / examples, steps * federation["rounds"])


def releases(settings: dict[str, Any], work: Work) -> Iterator[Release]:
    """Yield the plain gradient, the clipped one, and dpsgd's by falling epsilon."""
    clipped = DPSGD(fixed.build(settings["clip_norm"]))
    yield Release("plain", NonPrivate(), 0.0, math.inf)
    yield Release("clipped", clipped, 0.0, math.inf)
    for epsilon in reversed(settings["epsilons"]):
        noise = noise_multiplier(work.sample_rate, work.steps, epsilon, settings["delta"])
        yield Release("private", clipped, noise, epsilon)


@dataclass(frozen=True)
class Scene:
    """Pictures [n, C, H, W] of one client as the network sees them, their labels and numbers [n].

    `low` and `high` [C, 1, 1] are what 0 and 1 become in the network's eyes; `key` names all draws.
    """

    all: data.Dataset
    numbers: np.ndarray
    low: Tensor
    high: Tensor
    key: tuple[streams.Key, ...]

    @property
    def pictures(self) -> Tensor:
        """Return the pictures that are attacked."""
        return self.all.train_inputs[self.numbers]

    @property
    def labels(self) -> Tensor:
        """Return their labels."""
        return self.all.train_targets[self.numbers]

    def pixels(self, inputs: Tensor) -> np.ndarray:
        """Return inputs of the network as pixels in [0, 1]."""
        shown = (inputs.double() - self.low) / (self.high - self.low)
        return shown.clamp(0, 1).numpy()


@dataclass(frozen=True)
class Attack:
    """An attack by name, the network that it is tried on, and the batch sizes that it takes."""

    name: str
    model: str
    batch_sizes: list[int]
    reconstruct: Callable[[Seen], Tensor]


def tables(
    settings: dict[str, Any], dataset: str, path: Path, examples: int
) -> dict[str, pd.DataFrame]:
    """Return the table by case, that by picture, and `drawn`, the same with the pictures."""
    scene = _scene(settings, dataset, path)
    work = Work.of_client(settings["federation"], examples)
    sent = list(releases(settings, work))
    drawn = pd.DataFrame([*_reconstructions(settings, scene, sent), *_without_update(scene)])
    pictures = drawn.drop(columns=["original", "pixels"])
    about = {"clip_norm": settings["clip_norm"], **vars(work), "delta": settings["delta"]}
    return {"": _cases(pictures).assign(**about), "pictures": pictures, "drawn": drawn}


def _scene(settings: dict[str, Any], dataset: str, path: Path) -> Scene:
    everything = data.load(path)
    key = ("inversion", dataset, settings["seed"])
    chosen = streams.rng(*key, "pictures").permutation(len(everything.train_targets))
    mean, std = (
        torch.tensor(plugins.constant("data", dataset, name), dtype=torch.float64).view(-1, 1, 1)
        for name in ("MEAN", "STD")
    )
    ends = (-mean / std).float(), ((1 - mean) / std).float()
    return Scene(everything, chosen[: settings["pictures"]], *ends, key)


def _attacks(settings: dict[str, Any], key: tuple[streams.Key, ...]) -> list[Attack]:
    search = matching.Search(**settings["search"])

    def match(seen: Seen) -> Tensor:
        return matching.reconstruct(seen, search, streams.rng(*key, "starts"))

    chosen = settings["models"]
    return [
        Attack("closed form", chosen["closed-form"], [1], closed_form.reconstruct),
        Attack("gradient matching", chosen["matching"], settings["batch_sizes"], match),
    ]


def _reconstructions(
    settings: dict[str, Any], scene: Scene, sent: list[Release]
) -> Iterator[dict[str, Any]]:
    """Yield one row per attack, batch size, release and picture."""
    for attack in _attacks(settings, scene.key):
        shape, classes = tuple(scene.pictures.shape[1:]), scene.all.classes
        weights = streams.generator(*scene.key, "weights")
        model = models.build(attack.model, weights, shape, classes)
        for batch in attack.batch_sizes:
            pictures = scene.pictures.unflatten(0, (-1, batch))
            labels = scene.labels.unflatten(0, (-1, batch))
            for release in sent:
                updates = release.updates(model, pictures, labels, (*scene.key, "noise", batch))
                known = labels if batch > 1 else labels_of(updates, classes)[:, None]
                seen = Seen(model, updates, known, scene.low, scene.high, shape)
                found = attack.reconstruct(seen)
                yield from _rows(scene, attack, batch, release, known, found)


def _rows(
    scene: Scene, attack: Attack, batch: int, release: Release, labels: Tensor, found: Tensor
) -> Iterator[dict[str, Any]]:
    case = {
        "attack": attack.name,
        "model": attack.model,
        "batch_size": batch,
        "labels": "given" if batch > 1 else "inferred",
        "update": release.name,
        "epsilon": release.epsilon,
        "noise_multiplier": release.noise_multiplier,
    }
    originals = scene.pixels(scene.pictures.unflatten(0, (-1, batch)))
    ordered = map(likeness.matched, originals, scene.pixels(found))
    yield from _alike(scene, case, np.concatenate(list(ordered)), labels.flatten())


def _without_update(scene: Scene) -> Iterator[dict[str, Any]]:
    """Yield what is had without any update: means of the public test set."""
    public, labels = scene.all.test_inputs.double(), scene.all.test_targets
    nothing = dict.fromkeys(CASE, "")
    nothing |= dict.fromkeys(["batch_size", "epsilon", "noise_multiplier"], math.nan)
    of_class = torch.stack([public[labels == label].mean(0) for label in scene.labels])
    everybody = public.mean(0).expand_as(of_class)
    yield from _alike(scene, nothing | {"attack": MEAN}, scene.pixels(everybody))
    given = nothing | {"attack": CLASS_MEAN, "labels": "given"}
    yield from _alike(scene, given, scene.pixels(of_class))


def _alike(
    scene: Scene, case: dict[str, Any], found: np.ndarray, labels: Tensor | None = None
) -> Iterator[dict[str, Any]]:
    """Yield a row per picture: how like its original is what was found, and the label taken."""
    originals = scene.pixels(scene.pictures)
    taken = scene.labels if labels is None else labels
    told = zip(
        scene.numbers,
        scene.labels.tolist(),
        taken.tolist(),
        likeness.psnr(originals, found),
        likeness.ssim(originals, found),
        originals,
        found,
        strict=True,
    )
    heads = ("example", "label", "label_taken", "psnr", "ssim", "original", "pixels")
    yield from (case | dict(zip(heads, values, strict=True)) for values in told)


def _cases(pictures: pd.DataFrame) -> pd.DataFrame:
    """Return one row per case: means with Student's interval over pictures."""
    of_class = pictures[pictures["attack"] == CLASS_MEAN].set_index("example")["psnr"]
    rows = []
    for case, own in pictures.groupby(CASE, sort=False, dropna=False):
        row = dict(zip(CASE, case, strict=True))
        for name in ("psnr", "ssim"):
            of = interval(own[name])
            row |= {f"{name}_mean": of.mean, f"{name}_ci_low": of.low, f"{name}_ci_high": of.high}
        closer = own["psnr"].to_numpy() > of_class[own["example"]].to_numpy()
        right = (own["label_taken"] == own["label"]).sum() if row["labels"] == "inferred" else None
        rows.append(row | {"closer": closer.sum(), "labels_right": right, "n": len(own)})
    return pd.DataFrame(rows)

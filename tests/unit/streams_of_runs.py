"""What the steps of whole runs drew: who is in each batch, and the noise; and whether it is fresh.

A mechanism that listens is put before the one of the run. It knows examples and clients by their
pixels, so that it sees the batches themselves, whichever way they were drawn.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import tiny
import torch
from scipy import stats

from dpfl import data, plugins
from dpfl.draws import noise
from dpfl.training import probe, run

EXAMPLES, PIXELS, CLASSES = 600, 64, 10
DIGITS = slice(61, 64)  # the pixels that number the examples of a client
DEVIATIONS, LEVEL = 7.5, 1e-9  # of false alarms; there are a few million comparisons of pairs


@dataclass(frozen=True)
class World:
    """A run's settings and files; everyone is drawn with probability 1/2, in so many steps."""

    settings: dict
    inputs: run.Inputs
    held: int  # by each client; at the client level, how many clients there are
    steps: int

    @property
    def clients(self) -> bool:
        """Tell whether it protects clients."""
        return self.settings["unit"] == "client"


@dataclass(frozen=True)
class Taken:
    """One step: whose it is (0 for the server), who is in it, its noise and its uniforms."""

    owner: int
    members: np.ndarray
    noise: np.ndarray
    uniforms: np.ndarray


def world(folder: Path, unit: str, rounds: int) -> World:
    """Write the data of a run at a unit, in which every picture tells who it is."""
    clients = {"example": 3, "client": 60}[unit]
    work = {"batch_size": 100, "local_steps": 4, "clients_per_round": None}
    if unit == "client":
        work = {"batch_size": 5, "local_steps": 1, "clients_per_round": 30}
    settings = tiny.settings(
        unit=unit,
        model="linear",
        partition={"scheme": "iid", "clients": clients},
        mechanism={"estimator": {"example": "dpsgd", "client": "dp-fedavg"}[unit]},
        federation=tiny.federation(rounds=rounds, **work),
        audit={"canaries": 0, "length": 1.0, "level": 0.01},  # seen from outside here
    )
    path = folder / "told.safetensors"
    _write(path, np.zeros((EXAMPLES, PIXELS), np.uint8))
    inputs = tiny.inputs_of(settings, folder, path)
    _write(path, _pictures(np.load(inputs.assignment)))
    held = clients if unit == "client" else EXAMPLES // clients
    return World(settings, inputs, held, rounds * (1 if unit == "client" else 3 * 4))


def _pictures(assignment: np.ndarray) -> np.ndarray:
    """Return pictures with the pixel of their client, and their number in base 16."""
    pictures = np.zeros((EXAMPLES, PIXELS), np.uint8)
    pictures[np.arange(EXAMPLES), assignment] = 16
    for client in np.unique(assignment):
        held = np.flatnonzero(assignment == client)
        number = np.arange(len(held))
        pictures[held, DIGITS] = np.stack([number // 256, number // 16 % 16, number % 16], 1)
    return pictures


def _write(path: Path, pictures: np.ndarray) -> None:
    inputs, targets = pictures.reshape(-1, 1, 8, 8), np.arange(EXAMPLES) % CLASSES
    data.write(path, data.Arrays(inputs, targets, inputs[:50], targets[:50]), 16.0, [0.0], [1.0])


class Listening:
    """A mechanism that notes its steps and hands them on to another; every client has its own."""

    def __init__(self, real, record, uniforms):
        self.real, self.record, self.uniforms = real, record, uniforms
        self.clippings, self.release = real.clippings, real.release

    def estimate(self, step):
        pixels = (16 * step.inputs.flatten(1)).round().long()
        self.owner = int(pixels[:, :60].any(0).nonzero()[0]) if len(pixels) else self.owner
        members = (pixels[:, DIGITS] * torch.tensor([256, 16, 1])).sum(1)
        normals, normal = _heard(step.normal)
        found = self.real.estimate(replace(step, normal=normal))
        self._note(self.owner, members.tolist(), normals)
        return found

    def aggregate(self, updates, cohort, *, normal, **more):
        members = []
        normals, normal = _heard(normal)
        found = self.real.aggregate(_named(updates, members), cohort, normal=normal, **more)
        self._note(0, members, normals)
        return found

    def _note(self, owner, members, normals):
        uniforms = np.concatenate(self.uniforms or [np.zeros(0)])
        self.record.append(Taken(owner, np.array(members, int), np.concatenate(normals), uniforms))
        self.uniforms.clear()


def _heard(normal):
    """Return a list, and the same draws that are also put there."""
    normals = []

    def heard(size):
        found = normal(size)
        normals.append(found.double().numpy().copy())
        return found

    return normals, heard


def _named(updates, members):
    """Yield the updates; append who made them: the pixels whose weights they move."""
    for update in updates:
        weights = update[: CLASSES * PIXELS].view(CLASSES, PIXELS)[:, :60]
        members.append(int(weights.abs().sum(0).argmax()))
        yield update


def recorded(monkeypatch, told: World, folder: Path, draws: type[noise.Draws]) -> list[Taken]:
    """Train with these draws in place of the seeded ones, and return the steps."""
    record: list[Taken] = []
    uniforms: list[np.ndarray] = []

    class Heard:
        """By composition: draws may well make normals of their own uniforms."""

        def __init__(self, *key):
            self.inner = draws(*key)
            self.normal = self.inner.normal

        def uniform(self, size):
            uniforms.append(np.array(self.inner.uniform(size)))
            return uniforms[-1]

    file = plugins.load("mechanisms", told.settings["mechanism"]["estimator"])
    build = file.build
    with monkeypatch.context() as patch:
        patch.setitem(noise.SOURCES, "seeded", Heard)
        patch.setattr(probe, "require_noise", lambda *_: None)  # it would take draws, and stop some
        patch.setattr(file, "build", lambda *a, **k: Listening(build(*a, **k), record, uniforms))
        run.train(told.settings, told.inputs, folder, lambda line: None)
    return record


def reasons(told: World, record: list[Taken]) -> list[str]:
    """Return what is not fresh, or not binomial, in the steps of a run; [] if nothing is."""
    if len(record) != told.steps:
        return [f"{len(record)} steps of {told.steps}"]
    return [*_of_noise(record), *_of_batches(told, record), *_of_both(record)]


def _of_noise(record: list[Taken]) -> Iterator[str]:
    if not _fresh(np.stack([taken.noise for taken in record])):
        yield "noise is used again"


def _of_batches(told: World, record: list[Taken]) -> Iterator[str]:
    drawn = np.zeros((len(record), told.held))
    for row, taken in zip(drawn, record, strict=True):
        row[taken.members] = 1
    if not _fresh(2 * drawn - 1):
        yield "batches are drawn again"
    if not _fresh(stats.norm.ppf(np.stack([t.uniforms for t in record]).clip(1e-12))):
        yield "uniforms are used again"
    if not _binomial(drawn.sum(1), told.held):
        yield "batch sizes are not binomial"
    owners = np.array([taken.owner for taken in record])
    for owner in np.unique(owners):
        own = drawn[owners == owner]
        if not _binomial(own.sum(0), len(own)):
            yield f"how often examples of {owner} are drawn is not binomial"


def _of_both(record: list[Taken]) -> Iterator[str]:
    """Compare the uniforms of a step with its noise: place by place, and two normals to a uniform.

    Methods that reject some draws lose their place; so the first few are looked at alone as well.
    """
    u, n = (np.stack(rows) for rows in zip(*((t.uniforms, t.noise) for t in record), strict=True))
    for some in (n, n[:, ::2], n[:, 1::2]):
        for size in (20, min(u.shape[1], some.shape[1])):
            if _related(u[:, :size].ravel(), some[:, :size].ravel()):
                yield "noise and batches share their draws"
                return


def _related(u: np.ndarray, n: np.ndarray) -> bool:
    """Tell whether a function of uniforms goes with one of normals."""
    rest = 8 * u % 1  # numpy's normals in float64 leave the first three bits of a word out
    waves = (np.cos(2 * np.pi * u), np.sin(2 * np.pi * u))
    of_uniforms = np.stack([u - 0.5, rest - 0.5, *waves])
    of_noise = np.stack([n, n**2 - 1, np.abs(n) - (2 / np.pi) ** 0.5])
    lengths = np.outer(np.linalg.norm(of_uniforms, axis=1), np.linalg.norm(of_noise, axis=1))
    return bool((np.abs(of_uniforms @ of_noise.T) > DEVIATIONS * lengths / len(u) ** 0.5).any())


def _fresh(rows: np.ndarray) -> bool:
    """Tell whether no row [n] goes with another, or with itself, however shifted or negated."""
    size = rows.shape[1]
    spectra = np.fft.rfft(rows / np.linalg.norm(rows, axis=1, keepdims=True), 2 * size)
    for number, spectrum in enumerate(spectra):
        related = np.abs(np.fft.irfft(spectra[number:] * spectrum.conj()))
        related[0, 0] = 0  # with itself
        if related.max() * size**0.5 > DEVIATIONS:
            return False
    return True


def _binomial(counts: np.ndarray, trials: int) -> bool:
    """Tell whether counts scatter as sums of that many fair coins do: neither more nor less."""
    scatter = ((counts - trials / 2) ** 2).sum() / (trials / 4)
    return min(stats.chi2.cdf(scatter, len(counts)), stats.chi2.sf(scatter, len(counts))) > LEVEL

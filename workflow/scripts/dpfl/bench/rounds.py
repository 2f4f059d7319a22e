"""Federated rounds per second: 10 of 100 clients with 600 examples each, local DP, MNIST CNN."""

import math
import statistics
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial

import torch
from torch.nn.functional import cross_entropy
from torch.nn.utils import parameters_to_vector, vector_to_parameters
from torch.utils.data import DataLoader, TensorDataset

from dpfl import models
from dpfl.bench import steps
from dpfl.draws import noise, streams
from dpfl.federations.parts.states import STATES
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.step import Public
from dpfl.mechanisms import dpsgd
from dpfl.training.federated import Client, Trainer, Unlimited
from dpfl.training.memory import keep_freed_memory
from dpfl.training.steps import PrivateSteps, Sources

CLIENTS, PARTICIPANTS, EXAMPLES, BATCH = 100, 10, 600, 32
STEPS = math.ceil(EXAMPLES / BATCH)
ROUNDS = 5

Round = Callable[[list[int]], None]


def measure() -> Iterator[dict]:
    """Yield one row per loop: CPU seconds per round, the loops taking turns."""
    keep_freed_memory()
    loops = {name: build() for name, build in LOOPS.items()}
    seconds: dict[str, list[float]] = {name: [] for name in loops}
    for number in range(ROUNDS + 1):
        participants = streams.rng("bench", number).choice(CLIENTS, PARTICIPANTS, replace=False)
        for name, run in loops.items():
            seconds[name].append(steps.cpu_seconds(lambda run=run, p=participants: run(p.tolist())))
    for name, taken in seconds.items():
        median = statistics.median(taken[1:])  # the first round warms up
        yield {"loop": name, "rounds": ROUNDS, "cpu_seconds": median, "per_second": 1 / median}


def _model() -> torch.nn.Module:
    return models.build("mnist-cnn", streams.generator("bench"))


def _examples(client: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = streams.generator("bench", client)
    inputs = torch.randn(EXAMPLES, 1, 28, 28, generator=generator)
    return inputs, torch.randint(10, (EXAMPLES,), generator=generator)


def ours() -> Round:
    """Our own trainer, whose ledger pays for everything at one noise."""
    flat, ledger = FlatModel(_model()), Unlimited()
    ledger.noise_multiplier = lambda client: steps.NOISE_MULTIPLIER
    sources = Sources(noise.Seeded, ("bench", "batch"), ("bench", "noise"))
    mechanism = partial(dpsgd.build, {"rule": "fixed", "clip_norm": steps.CLIP_NORM})
    trainer = Trainer(
        flat=flat,
        clients=lambda n: Client(n, TensorDataset(*_examples(n)), BATCH / EXAMPLES, STEPS),
        holder=lambda n: PrivateSteps(n, mechanism(), ledger, sources),
        public=Public(torch.empty(0, 1, 28, 28), torch.empty(0, dtype=torch.long)),
        states=STATES["reset"](lambda: torch.optim.SGD([flat.flat], lr=steps.RATE)),
        ledger=ledger,
        weighting=lambda examples: 1.0,
    )
    return trainer.run_round


def loop(prepare: Callable) -> Round:
    """A loop that prepares every client anew, and averages what each has trained for one epoch."""
    server = _model()

    def run(participants: list[int]) -> None:
        total = 0
        for client in participants:
            local = deepcopy(server)
            examples = TensorDataset(*_examples(client))
            loader = DataLoader(examples, batch_size=BATCH, shuffle=True)
            model, optimizer, batches = prepare(local, loader)
            for inputs, targets in batches:
                steps.by_backward(model, optimizer, cross_entropy, inputs, targets)()
            total += parameters_to_vector(local.parameters()).detach()
        vector_to_parameters(total / len(participants), server.parameters())

    return run


LOOPS: dict[str, Callable[[], Round]] = {
    "non-private loop": partial(loop, lambda model, loader: (model, steps.sgd(model), loader)),
    "ours": ours,
    "Opacus make_private per client": partial(loop, steps.made_private),
}

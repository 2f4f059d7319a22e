"""How long the runs of a plan will take, for the line printed before they start."""

import math
from collections.abc import Iterable

from dpfl import plugins
from dpfl.planning.plan import Plan, judging, runs_with_trials
from dpfl.runs import state
from dpfl.runs.state import State

# CPU seconds of private training at batch 64, measured with a job on each of two server cores.
STARTUP_SECONDS = 3.0
STEP_SECONDS = 1.2e-3
EVALUATION = 0.35  # of a training example
PLAIN = 0.6  # a step without privacy, of one with it
MARGIN = 5
# The training process, and what stands around it in a scheduler's job: its parent process, and
# Snakemake twice. Some schedulers count what these share once for each.
PROCESSES_MB = 2000


def seconds(settings: dict) -> float:
    """Estimate the single-core seconds of a run."""
    dataset = plugins.load("data", settings["dataset"])
    steps, examples, a_step = WORK[settings["unit"]](settings, dataset.TRAIN_EXAMPLES)
    evaluated = settings["evaluation_examples"] + dataset.TEST_EXAMPLES
    cost = amount(settings["model"], "SECONDS", dataset.SHAPE)
    trained = _cost(settings["mechanism"]) * (steps * a_step + examples * cost)
    a_round = trained + EVALUATION * evaluated * cost
    return STARTUP_SECONDS + settings["federation"]["rounds"] * a_round


def core_hours(plan: Plan, paper: str) -> float:
    """Estimate the core-hours of the runs that judge a paper, trials too, to three digits."""
    return float(f"{hours(plan, runs_with_trials(plan, judging(plan, paper))):.3g}")


def hours(plan: Plan, runs: Iterable[str]) -> float:
    """Estimate the core-hours of some runs."""
    return sum(seconds(plan.runs[run]["settings"]) for run in runs) / 3600


def amount(model: str, what: str, shape: tuple[int, ...]) -> float:
    """Return an Amount that a model declares, for inputs of a shape."""
    declared = plugins.constant("models", model, what)
    if not isinstance(declared, dict):
        return declared
    inputs, pixels = math.prod(shape), math.prod(shape[1:])
    sizes = {"constant": 1, "inputs": inputs, "channels": shape[0], "pixels": pixels}
    return sum(share * sizes[of] for of, share in declared.items())


def _cost(mechanism: dict) -> float:
    """Return the cost of a mechanism's step, as a multiple of dpsgd's."""
    cost = plugins.constant("mechanisms", mechanism["estimator"], "COST")
    powers = cost if isinstance(cost, tuple) else (cost,)
    return sum(c * mechanism.get("rank", 0) ** n for n, c in enumerate(powers))


def _example_level(settings: dict, total: int) -> tuple[float, float, float]:
    """Return steps and examples of a round, and the seconds that a private step costs by itself."""
    federation, clients = settings["federation"], settings["partition"]["clients"]
    share = (federation["clients_per_round"] or clients) / clients
    examples = total * share * (federation["local_epochs"] or 0)
    steps = examples / federation["batch_size"] + share * clients * (federation["local_steps"] or 0)
    return steps, steps * federation["batch_size"], STEP_SECONDS


def _client_level(settings: dict, total: int) -> tuple[float, float, float]:
    """Return the same where clients train without noise, in batches of at most what they hold."""
    federation, clients = settings["federation"], settings["partition"]["clients"]
    batch = min(federation["batch_size"], max(1, total // clients))
    each = math.ceil(total / clients / batch)
    steps = federation["local_steps"] or federation["local_epochs"] * each
    steps *= federation["clients_per_round"] or clients
    return steps, steps * batch * PLAIN, PLAIN * STEP_SECONDS


WORK = {"example": _example_level, "client": _client_level}


def minutes(runs: list[dict]) -> int:
    """Return the runtime to ask a cluster for to train some runs: the estimate with a margin."""
    return int(10 + MARGIN * sum(map(seconds, runs)) / 60)


def memory_mb(settings: dict) -> int:
    """Return the memory to ask a cluster for: the processes, data in float32, and matrices."""
    dataset = plugins.load("data", settings["dataset"])
    examples = dataset.TRAIN_EXAMPLES + dataset.TEST_EXAMPLES
    floats = 3 * 4 * examples * math.prod(dataset.SHAPE)
    return int(PROCESSES_MB + (floats + _matrices(settings, dataset.SHAPE)) / 1e6)


def _matrices(settings: dict, shape: tuple[int, ...]) -> float:
    """Return the bytes of what a mechanism holds with a column for every parameter."""
    mechanism = settings["mechanism"]
    sizes = plugins.constant("mechanisms", mechanism["estimator"], "MEMORY")
    rows = {"rank": mechanism.get("rank", 0), "batch": settings["federation"]["batch_size"]}
    columns = amount(settings["model"], "PARAMETERS", shape)
    return sum(size * rows[of] * columns for of, size in sizes.items())


def summary(plan: Plan, todo: dict[str, State]) -> str:
    """Return how many runs a plan has, how many are open, and the core-hours of these.

    With a line for every reason to make results again.
    """
    lasting = f"about {hours(plan, todo):.3g} core-hours on CPU"
    counted = f"{len(plan.runs)} training runs, {len(todo)} without a result yet: {lasting}"
    return "\n".join([counted, *state.repeated(todo)])

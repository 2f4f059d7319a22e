"""Methods as named compositions: their components, and what a study varies of them."""

import copy
import itertools
import math
from collections.abc import Iterator
from typing import Any

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest

Epsilon = float | str
"""A privacy budget as JSON can hold it: a number, or "inf"."""
COMPONENTS = {
    "mechanism": "mechanisms",
    "optimizer": "optimizers",
    "clipping": "clippings",
    "budget": "budgets",
    "federation": "federations",
    "statistics": "statistics",
}
SECTIONS = {**COMPONENTS, "partition": "partitions"}
"""The section of the definitions that each part of a run is chosen from."""
PLUG_INS = {
    "partition": ("clients/partitions", "scheme"),
    "mechanism": ("mechanisms", "estimator"),
    "optimizer": ("optimizers", "algorithm"),
    "clipping": ("clippings", "rule"),
    "budget": ("privacy/budgets", "strategy"),
    "statistics": ("statistics", "rule"),
}
"""The package of each part's plug-ins, and what a run's settings call the file: in the
configuration it is always `uses`, but runs are named by their settings."""
SHORT = {
    "clip_norm": "clipping.clip_norm",
    "noise_multiplier": "budget.noise_multiplier",
    "clients": "federation.clients",
    "rounds": "federation.rounds",
    "batch_size": "federation.batch_size",
    "state": "federation.state",
    "partition": "federation.partition",
    "rank": "mechanism.rank",
    "rate": "optimizer.rate",
}
"""Short names of settings that studies vary often; any other is written as its dotted path."""


def unit_of(config: dict, method: str, variant: dict) -> str:
    """Return whom a method protects: one `example` of a client, or a whole `client`."""
    mechanism = variant.get("mechanism", config["methods"][method]["mechanism"])
    estimator = config["mechanisms"][mechanism]["uses"]
    return plugins.constant("mechanisms", estimator, "UNIT", "example")


def components(config: dict, method: str, variant: dict) -> dict[str, dict]:
    """Return the settings of a method's components and audit, with a variant's values in place.

    Raises UserError for a setting that the method does not have.
    """
    names = {k: variant.get(k, v) for k, v in config["methods"][method].items()}
    parts = {k: named(k, config[COMPONENTS[k]][n]) for k, n in names.items()}
    parts["audit"] = dict(config["audit"])
    for key, value in variant.items():
        if key not in COMPONENTS and key != "model":
            put(parts, key, value)
    return parts


def run_settings(
    config: dict, study: dict, method: str, variant: dict, epsilon: Epsilon, seed: int
) -> dict:
    """Resolve a run's settings: the method's components, with the variant's values in place."""
    parts = components(config, method, variant)
    federation = parts["federation"]
    if epsilon == "inf":
        parts["mechanism"] = {"estimator": "nonprivate"}
    partition = {
        **named("partition", config["partitions"][federation.pop("partition")]),
        "clients": federation.pop("clients"),
        "validation_fraction": study.get("validation_fraction", 0.0),
    }
    if study.get("public_examples"):  # it is part of the key that pairs runs of one seed
        partition["public_examples"] = study["public_examples"]
    return {
        "dataset": study["dataset"],
        "model": variant.get("model", config["models"][study["dataset"]]),
        "partition": partition,
        **parts,
        "unit": unit_of(config, method, variant),
        "epsilon": epsilon,
        "delta": config["delta"],
        "accountant": config["accountant"],
        "seed": seed,
        "noise": config["noise"],
        "device": config["device"],
        "evaluation_examples": config["evaluation_examples"],
    }


def named(part: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of the configuration as the settings of a run name it."""
    settings = copy.deepcopy(entry)
    if part not in PLUG_INS:
        return settings
    return {PLUG_INS[part][1]: settings.pop("uses")} | settings


def put(parts: dict[str, dict], key: str, value: Any) -> None:
    """Set what a study varies, such as `rank` or `optimizer.settings.final_lr`, in place."""
    *above, last = SHORT.get(key, key).split(".")
    place: Any = parts
    for step in above:
        place = place[step] if isinstance(place, dict) and step in place else None
    if not isinstance(place, dict) or last not in place:
        known = [*SHORT, *COMPONENTS, "model", *dict(settings_in(parts))]
        raise UserError(f"{key} is no setting; {nearest(key, known)}")
    place[last] = value


def settings_in(parts: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yield all settings with their dotted paths."""
    for key, value in parts.items():
        if isinstance(value, dict):
            yield from settings_in(value, f"{above}{key}.")
        else:
            yield f"{above}{key}", value


def variants(study: dict, method: str) -> list[dict]:
    """Return every combination of what a study varies, but for those that it leaves out.

    What is left out may name the `method` that it is left out for; a list means any of its values.
    """
    vary, left_out = study.get("vary", {}), study.get("leave_out", [])
    found = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    return [v for v in found if not any(_agrees(v | {"method": method}, part) for part in left_out)]


def _agrees(variant: dict, part: dict) -> bool:
    return all(variant.get(key) in values_of(value) for key, value in part.items())


def cells(study: dict) -> Iterator[tuple[str, dict, Epsilon]]:
    """Yield every cell of a study: a method, what is varied of it, and a privacy budget."""
    for method in study["methods"]:
        for variant in variants(study, method):
            for epsilon in map(epsilon_of, study["epsilons"]):
                yield method, variant, epsilon


def values_of(value: object) -> list:
    """Return the values that one entry of leave_out stands for."""
    return value if isinstance(value, list) else [value]


def remark(parts: dict[str, dict]) -> str:
    """Say what becomes of a rank that the batch, if that is what is factorised, does not have."""
    rank, solver = (parts["mechanism"].get(key) for key in ("rank", "solver"))
    batch, reading = parts["federation"]["batch_size"], parts["mechanism"].get("reading", "rows")
    if solver is None or reading != "rows" or rank <= batch:
        return ""
    words = {"gram": "gram stops at rank L", "funk": "funk is overcomplete"}
    return f"k > L = {batch}: {words[solver]}"


def epsilon_of(value: float | str) -> Epsilon:
    """Return a privacy budget of the configuration as a plan has it."""
    return "inf" if math.isinf(float(value)) else float(value)

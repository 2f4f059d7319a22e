"""Methods as named compositions: their components, and what a study varies of them."""

import copy
import itertools
import math
from typing import Any

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest

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
        known = [*SHORT, *COMPONENTS, "model", *paths(parts)]
        raise UserError(f"{key} is no setting; {nearest(key, known)}")
    place[last] = value


def paths(parts: dict[str, Any], above: str = "") -> list[str]:
    """Return the dotted paths of all settings."""
    found = []
    for key, value in parts.items():
        path = f"{above}{key}"
        found += paths(value, f"{path}.") if isinstance(value, dict) else [path]
    return found


def setting(parts: dict[str, dict], key: str) -> Any:
    """Return a setting by its short name or dotted path; KeyError if there is none."""
    place: Any = parts
    for step in SHORT.get(key, key).split("."):
        place = place[step]
    return place


def variants(study: dict, method: str) -> list[dict]:
    """Return every combination of what a study varies, but for those that it leaves out.

    What is left out may name the `method` that it is left out for; a list means any of its values.
    """
    vary, left_out = study.get("vary", {}), study.get("leave_out", [])
    found = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]

    def kept(variant: dict) -> bool:
        whole = {"method": method} | variant
        return not any(
            all(whole.get(key) in values_of(value) for key, value in part.items())
            for part in left_out
        )

    return [variant for variant in found if kept(variant)]


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


def epsilon_of(value: float | str) -> float | str:
    """Return a privacy budget as JSON can hold it: a number, or "inf"."""
    return "inf" if math.isinf(float(value)) else float(value)

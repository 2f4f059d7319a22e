"""Methods as named compositions: their components, and what a study varies of them."""

import itertools
import math

from dpfl import plugins

COMPONENTS = {
    "mechanism": "mechanisms",
    "optimizer": "optimizers",
    "clipping": "clippings",
    "budget": "budgets",
    "federation": "federations",
}
NUMBERS = {
    "clip_norm": "clipping",
    "noise_multiplier": "budget",
    "clients": "federation",
    "rounds": "federation",
    "batch_size": "federation",
    "rank": "mechanism",
}
"""What a study may vary within a component, beside the components themselves."""


def unit_of(config: dict, method: str, variant: dict) -> str:
    """Return whom a method protects: one `example` of a client, or a whole `client`."""
    mechanism = variant.get("mechanism", config["methods"][method]["mechanism"])
    estimator = config["mechanisms"][mechanism]["estimator"]
    return plugins.constant("mechanisms", estimator, "UNIT", "example")


def components(config: dict, method: str, variant: dict) -> dict[str, dict]:
    """Return the settings of a method's components, with a variant's values in place."""
    names = {k: variant.get(k, v) for k, v in config["methods"][method].items()}
    parts = {k: dict(config[COMPONENTS[k]][n]) for k, n in names.items()}
    for key, component in NUMBERS.items():
        if key in variant:
            parts[component][key] = variant[key]
    for key in ("state", "partition"):
        parts["federation"][key] = variant.get(key, parts["federation"][key])
    parts["optimizer"]["rate"] = variant.get("rate", parts["optimizer"]["rate"])
    return parts


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


def trials_for(grid: dict, method: str, variant: dict) -> list[dict]:
    """Return the variants of a grid of rates that agree with a variant in all but the rate."""
    wanted = (variant | {"rate": None}).items()
    return [found for found in variants(grid, method) if (found | {"rate": None}).items() <= wanted]


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

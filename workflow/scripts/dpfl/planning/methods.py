"""Methods as named compositions: their components, and what a study varies of them."""

import copy
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.contracts.federation import DEFAULT
from dpfl.contracts.points import Values
from dpfl.tuning.parts import stages

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
    "federation": ("federations", "rule"),
}
"""The package of each part's plug-ins, and what a run's settings call the file.

The configuration always calls it `uses`, but runs are named by their settings.
"""
PLAIN = {"sampling": "poisson", "charged": None, "factorization": None}
"""What the settings of a run leave unsaid of a federation."""
SHORT = {
    "clip_norm": "clipping.clip_norm",
    "noise_multiplier": "budget.noise_multiplier",
    **{key: f"federation.{key}" for key in ("clients", "rounds", "batch_size", "state")},
    "partition": "federation.partition",
    "rank": "mechanism.rank",
    "rate": "optimizer.rate",
}
"""Short names of settings that studies vary often; any other is written as its dotted path."""


@dataclass(frozen=True)
class Composition:
    """A method of a study, with a variant: one value of each setting that the study varies."""

    config: dict
    """That of the study's paper."""
    study: dict
    method: str
    variant: dict

    @property
    def names(self) -> dict[str, str]:
        """Return the names of the method's components in their sections."""
        own = self.config["methods"][self.method].items()
        return {part: self.variant.get(part, name) for part, name in own}

    @cached_property
    def parts(self) -> dict[str, dict]:
        """Return the settings of the components and of the audit, with the variant in place.

        Raises UserError for a setting that the method does not have.
        """
        parts = {k: named(k, self.config[COMPONENTS[k]][n]) for k, n in self.names.items()}
        parts["audit"] = dict(self.config["audit"])
        for key, value in self.variant.items():
            if key not in COMPONENTS and key != "model":
                put(parts, key, value)
        return parts

    @property
    def federation(self) -> dict:
        """Return the settings of the federation."""
        return self.parts["federation"]

    @property
    def model(self) -> str | None:
        """Return the network: that of the data set, if the study varies none."""
        return self.variant.get("model", self.config["models"].get(self.study["dataset"]))

    @property
    def unit(self) -> str:
        """Return whom the method protects: one `example` of a client, or a whole `client`."""
        estimator = self.parts["mechanism"]["estimator"]
        return plugins.constant("mechanisms", estimator, "UNIT", "example")

    def settings(self, epsilon: Epsilon, seed: int) -> dict:
        """Return the settings of a run."""
        config, study = self.config, self.study
        parts = {part: dict(own) for part, own in self.parts.items()}
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
            "model": self.model,
            "partition": partition,
            **parts,
            "unit": self.unit,
            "epsilon": epsilon,
            "delta": config["delta"],
            "accountant": config["accountant"],
            "seed": seed,
            **{key: config[key] for key in ("noise", "device", "evaluation_examples")},
        }


def compositions(config: dict, study: dict) -> Iterator[Composition]:
    """Yield every method of a study with every variant."""
    for method in study["methods"]:
        yield from (Composition(config, study, method, v) for v in variants(study, method))


def cells(config: dict, study: dict) -> Iterator[tuple[Composition, Epsilon]]:
    """Yield every cell of a study: a method with a variant, and a privacy budget."""
    for composition in compositions(config, study):
        yield from ((composition, epsilon) for epsilon in epsilons(study))


def named(part: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of the configuration as the settings of a run name it."""
    settings = copy.deepcopy(entry)
    told = {PLUG_INS[part][1]: settings.pop("uses")}
    if part == "federation":  # runs are named by their settings: the first rule adds none
        chosen = told | {"settings": settings.pop("settings")}
        plain = {key for key, usual in PLAIN.items() if settings[key] == usual}
        own = {key: value for key, value in settings.items() if key not in plain}
        return own | (chosen if told["rule"] != DEFAULT else {})
    return told | settings


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

    What is left out may name the `method` that it is left out for. A list means any of its values.
    """
    vary, left_out = study.get("vary", {}), study.get("leave_out", [])
    found = [dict(zip(vary, values, strict=True)) for values in itertools.product(*vary.values())]
    return [v for v in found if not any(_agrees(v | {"method": method}, part) for part in left_out)]


def grid_values(grid: dict, method: str, variant: dict) -> list[Values]:
    """Return the values that a grid tries of what it tunes, all else as in a variant."""
    over = stages.tuned_settings(grid)
    return [
        {key: found[key] for key in over}
        for found in variants(grid, method)
        if {k: v for k, v in found.items() if k not in over}.items() <= variant.items()
    ]


def _agrees(variant: dict, part: dict) -> bool:
    return all(variant.get(key) in values_of(value) for key, value in part.items())


def values_of(value: object) -> list:
    """Return the values that one entry of leave_out stands for."""
    return value if isinstance(value, list) else [value]


def epsilons(study: dict) -> list[Epsilon]:
    """Return the privacy budgets of a study as a plan has them."""
    return ["inf" if math.isinf(number) else number for number in map(float, study["epsilons"])]

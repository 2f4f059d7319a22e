"""Families of methods: one colour and one marker each, in all figures of all papers.

Members of a family share both and differ in shade, edge and size. The colours are apart for three
kinds of colour-blind readers, and stand out from white; a test measures both. Black is left for
printed numbers. A method of no family gets a look by its number in its paper (`looks`).
"""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Family:
    """How the methods of a family are drawn, and what each is called: {method: title}."""

    title: str
    colour: str
    marker: str
    members: dict[str, str]


FAMILIES = {
    "sgd": Family(
        "SGD with clipping and noise",
        "#2471AE",
        "o",
        {
            "sgd": "SGD",
            "dpsgd": "DP-SGD",
            "sgd-momentum": "SGD with momentum",
            "dpsgd-quantile": "DP-SGD with quantile clipping",
            "dpsgd-clip-0.3": "DP-SGD clipped at 0.3",
            "dpsgd-clip-0.1": "DP-SGD clipped at 0.1",
            "dpsgd-opacus": "DP-SGD by Opacus",
            "sgd-given": "SGD at given noise",
            "dpsgd-relevance": "DP-SGD with noise by relevance",
            "dpsgd-members": "DP-SGD with some held out",
        },
    ),
    "adam": Family(
        "Adam",
        "#B37837",
        "s",
        {
            "adam": "Adam",
            "dp-adamw": "AdamW",
            "dp-adambc": "Adam without noise bias",
            "adam-layerwise": "Adam clipped by layer",
        },
    ),
    "adabelief": Family("AdaBelief", "#7767D8", "v", {"adabelief": "AdaBelief"}),
    "adabound": Family(
        "AdaBound",
        "#597248",
        "<",
        {"adabound": "AdaBound", "adabound-final": "AdaBound by its final rate"},
    ),
    "cadabelief": Family(
        "CAdabelief",
        "#EF3461",
        "^",
        {"cadabelief": "CAdabelief", "cadabelief-final": "CAdabelief by its final rate"},
    ),
    "controls": Family(
        "CAdabelief without a part of it",
        "#92928A",
        "X",
        {"sgd-ema": "averaged SGD (control)", "cadabelief-scalar": "one bounded rate (control)"},
    ),
    "dpsgd-projected": Family(
        "DP-SGD that uses public data",
        "#139EAB",
        "P",
        {"pdpsgd": "PDP-SGD", "p3sgd": "P3SGD"},
    ),
    "fsdp": Family(
        "FSDP",
        "#E47316",
        "D",
        {
            "fsdp-central": "central FSDP",
            "fsdp-literal": "literal FSDP",
            "fsdp-published": "published FSDP",
            "fsdp-published-matrix": "published FSDP by matrix",
            "fsdp-central-funk": "central FSDP by Funk",
            "fsdp-central-1024": "central FSDP in batches of 1024",
            "fsdp-central-members": "central FSDP with some held out",
        },
    ),
    "fsdp-certified": Family(
        "FSDP with a proof", "#1D5B10", "*", {"fsdp-certified": "certified FSDP"}
    ),
    "strong": Family(
        "DP-SGD on strong features or large batches",
        "#212A6B",
        "h",
        {
            "strong": "strong DP-SGD",
            "strong-large": "strong DP-SGD in large batches",
            "whitened": "whitened features",
            "whitened-standardised": "whitened and standardised features",
            "standardised": "standardised features",
        },
    ),
    "client-level": Family(
        "DP-FedAvg, for whole clients",
        "#B5337D",
        ">",
        {"dp-fedavg": "DP-FedAvg", "dp-fedavg-median": "DP-FedAvg with median clipping"},
    ),
    "ablation": Family(
        "parts of FSDP, and parts put together",
        "#563427",
        "p",
        {
            "ablation": "no part",
            "ablation-m": "M",
            "ablation-r": "R",
            "ablation-c": "C",
            "ablation-mr": "M + R",
            "ablation-mc": "M + C",
            "ablation-rc": "R + C",
            "ablation-mrc": "M + R + C",
            "ablation-s": "S",
            "ablation-ms": "M + S",
            "ablation-sr": "S + R",
            "ablation-sc": "S + C",
            "ablation-msr": "M + S + R",
            "ablation-msc": "M + S + C",
            "ablation-src": "S + R + C",
            "ablation-msrc": "M + S + R + C",
            "alongside": "parts put together",
        },
    ),
}
"""M is matrix decomposition, S smooth sensitivity, R budgets by relevance, C adaptive clipping."""


def of(method: str) -> str | None:
    """Return the name of a method's family, None for a method of no family."""
    return next((name for name, one in FAMILIES.items() if method in one.members), None)


def title(method: str) -> str:
    """Return what a method is called for readers; its own name where it has no family."""
    name = of(method)
    return FAMILIES[name].members[method] if name else method


def named(text: str) -> str:
    """Return a text for readers, with titles where names of methods stand in it as whole words.

    A name that is a word of English too has its title as a side of `A against B`, and where nothing
    else stands in the text.
    """
    whole = title(text)
    return whole if whole != text else _NAMES.sub(lambda found: title(found[0]), text)


ENGLISH = frozenset({"ablation", "alongside", "standardised", "strong", "whitened"})
_MEMBERS = "|".join(
    re.escape(name) for one in FAMILIES.values() for name in one.members if name not in ENGLISH
)
_WORDS = "|".join(sorted(ENGLISH))
_SIDES = rf"(?<=against )(?:{_WORDS})|(?:{_WORDS})(?= against )"
_NAMES = re.compile(rf"(?<![\w=-])(?:{_MEMBERS}|{_SIDES})(?![\w-])")
"""A name that is the value of a setting, such as `mechanism=dpsgd`, is none of a method."""

"""Every private gradient estimator, found by file name, with every choice that it declares."""

from functools import partial

import declared
from fixtures_of_steps import EXPECTED, step_of

from dpfl import plugins
from dpfl.contracts.release import Release
from dpfl.privacy.release import of_step

CLIP, Z = 0.7, 1.3
SMALL = {"rank": 3, "basis_examples": 20}  # of settings, where a network has few coordinates
OTHER = {"rank": 6, "basis_examples": 9}  # two directions, and float32 shows the order of a batch
CLIPPINGS = {
    rule: {**declared.required("clippings", rule), "rule": rule, "clip_norm": CLIP}
    for rule in plugins.names("clippings")
}


def variants(always_small=False):
    """Yield (label, mechanism, settings) at the defaults, and with every choice declared."""
    for name in plugins.names("mechanisms"):
        needed = declared.required("mechanisms", name)
        fewer = SMALL.keys() & declared.parameters("mechanisms", name)
        small = {**needed, **{key: SMALL[key] for key in fewer}}
        yield name, name, small if always_small else needed
        for setting, value in declared.choices("mechanisms", name):
            yield f"{name}, {setting} {value}", name, {**small, setting: value}


def built(name, settings, rule="fixed", **clipping):
    return plugins.load("mechanisms", name).build({**CLIPPINGS[rule], **clipping}, **settings)


def small_builds(wanted=lambda name: True):
    """Return (build, unit, whether it has a proof) of every small variant with every rule.

    One more of each mechanism has other values of all its numbers.
    """
    found = {}
    for label, name, own in (v for v in variants(always_small=True) if wanted(v[1])):
        rules = plugins.constant("mechanisms", name, "CLIPPING_RULES")
        found.update({f"{label}, {rule}": partial(built, name, own, rule) for rule in rules})
        if label == name and (more := declared.others("mechanisms", name, own)):
            other = {**own, **more, **{key: OTHER[key] for key in OTHER.keys() & more}}
            found[f"{label}, other values"] = partial(built, name, other)
    unit = partial(plugins.constant, "mechanisms", variable="UNIT")
    return {label: (b, unit(b.args[0]), proven(b())) for label, b in found.items()}


def proven(mechanism):
    return isinstance(of_step(mechanism, Z, EXPECTED), Release)


VARIANTS = {
    label: (name, own)
    for label, name, own in variants()
    if plugins.constant("mechanisms", name, "UNIT") == "example"
}


def build(name, rule="fixed", **clipping):
    return built(*VARIANTS[name], rule, **clipping)


RULES = [
    (name, rule)
    for name, (estimator, _) in VARIANTS.items()
    for rule in plugins.constant("mechanisms", estimator, "CLIPPING_RULES")
]


def estimate(mechanism, *given, **more):
    """Return what a mechanism makes of a step of the fixtures."""
    return mechanism.estimate(step_of(*given, **more))

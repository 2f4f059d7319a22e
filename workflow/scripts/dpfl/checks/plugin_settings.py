"""Checks that every plug-in named in a configuration exists and takes the settings it is given."""

from collections.abc import Iterator

from dpfl import plugins
from dpfl.checks import lines_of
from dpfl.contracts import bounds, plugin_files
from dpfl.factorizations import Factorization
from dpfl.planning.methods import PLUG_INS, SECTIONS
from dpfl.plugins import analyses, declarations
from dpfl.tuning.parts import stages

PACKAGES = {section: PLUG_INS[part][0] for part, section in SECTIONS.items() if part in PLUG_INS}
"""The package of the plug-ins that the entries of a section use."""


def unknown_plug_ins(config: dict) -> Iterator[str]:
    """Find plug-ins that have no file."""
    for name, entry in config["analyses"].items():
        found = lines_of(analyses.package_of, config["paper"], entry["uses"])
        yield from (f"config: analyses.{name}: {line}" for line in found)
    for plug_in, where in dict(reversed([*_named(config)])).items():
        yield from (f"config: {where}: {line}" for line in lines_of(plugins.path_of, *plug_in))


def unfit_plug_ins(config: dict) -> Iterator[str]:
    """Find plug-in files that do not fit their Protocol."""
    for plug_in in dict(_named(config)):
        if plug_in[0] in plugin_files.FILES:
            yield from lines_of(declarations.errors, *plug_in)


def _named(config: dict) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield every plug-in that a configuration names, as (package, name), and where it stands."""
    yield ("privacy/accountants", config["accountant"]), "accountant"
    for dataset, model in config["models"].items():
        yield from ((pair, f"models.{dataset}") for pair in (("data", dataset), ("models", model)))
    for section, package in PACKAGES.items():
        for name, entry in config[section].items():
            yield (package, entry["uses"]), f"{section}.{name}"
    for name, entry in config["federations"].items():
        for sampling in filter(None, (entry["sampling"], entry["charged"])):
            yield ("samplings", sampling), f"federations.{name}"
        if entry["factorization"]:
            yield ("factorizations", entry["factorization"]["uses"]), f"federations.{name}"
    for name, entry in config["analyses"].items():
        for model in analyses.models_of(entry):
            yield ("models", model), f"analyses.{name}.settings.models"
    for name, study in config["studies"].items():
        where = f"studies.{name}"
        yield ("tuning", stages.rule_of(study)["uses"]), f"{where}.tuning.uses"
        yield from ((("figures/kinds", figure), where) for figure in study.get("figures", []))
        for model in study.get("vary", {}).get("model", []):
            yield ("models", model), f"{where}.vary.model"


def setting_errors(config: dict) -> Iterator[str]:
    """Find settings that a plug-in does not take, or that are outside of its bounds."""
    for name, analysis in config["analyses"].items():
        yield from _analysis_errors(config["paper"], f"config: analyses.{name}", analysis)
    for section in PACKAGES:
        for name, entry in config[section].items():
            yield from _setting_errors(section, name, entry)
    for name, entry in config["federations"].items():
        yield from sampling_errors(f"config: federations.{name}", entry)


def sampling_errors(where: str, federation: dict) -> Iterator[str]:
    """Find noise of a run that has no price with a sampling, and samplings that need such noise."""
    drawn, noise = federation.get("sampling", "poisson"), federation.get("factorization")
    charged = federation.get("charged") or drawn
    for name in (drawn, charged):
        if lines := list(lines_of(plugins.path_of, "samplings", name)):
            yield from (f"{where}.sampling: {line}" for line in lines)
            return
    if plugins.constant("samplings", charged, "BANDED") and not noise:
        yield f"{where}.sampling = {charged}, expected a factorization beside it"
    if not noise:
        return
    if charged != drawn or not plugins.constant("samplings", drawn, "CORRELATES"):
        told = f"{noise['uses']} has no price with sampling {drawn}, charged as {charged}"
        yield f"{where}.factorization: {told}; expected cyclic"
    settings = {key: own for key, own in noise.items() if key != "uses"}
    found = list(lines_of(Factorization, noise["uses"], settings))
    yield from (f"{where}.factorization: {line}" for line in found)
    banded = plugins.constant("samplings", drawn, "BANDED")
    if banded and not found and Factorization(noise["uses"], settings).bands is None:
        yield f"{where}.factorization = {noise['uses']}, expected a banded one, such as bsr"


def _analysis_errors(paper: str, where: str, entry: dict) -> Iterator[str]:
    """Check that an analysis has a data set exactly if it reads one, and its settings."""
    uses, given = entry["uses"], analyses.inputs_of(entry)
    needed = plugins.constant(analyses.package_of(paper, uses), uses, "NEEDS_DATASET", False)
    if needed != bool(given):
        found = f"missing, {uses} needs one" if needed else f"{given[0]}, {uses} reads none"
        yield f"{where}.dataset is {found}"
        return
    try:
        check = analyses.load(paper, uses).check
    except Exception as error:  # a file of a paper may do anything
        file = plugins.shown(analyses.package_of(paper, uses), uses)
        yield f"{file}: {type(error).__name__}: {' '.join(str(error).split())}"
        return
    yield from (f"{where}.settings: {e}" for e in lines_of(check, entry["settings"], *given))


def _setting_errors(section: str, name: str, entry: dict) -> Iterator[str]:
    """Compare the settings of an entry with what its plug-in takes, and with its bounds."""
    uses, where, found = entry["uses"], f"{section}.{name}", given(entry)
    if (key := entry.get("rate_key")) in entry.get("settings", ()):
        yield f"config: {where}.settings has {key!r}, which rate_key already gives"
    for setting, near in declarations.wrong_settings(PACKAGES[section], uses, found):
        wrong = f"unknown setting {setting!r} at {where}; {near}"
        yield f"config: {wrong if near else f'{where} lacks {setting!r}, which {uses} needs'}"
    yield from out_of_bounds(f"config: {where}", PACKAGES[section], uses, found)


def given(entry: dict) -> dict:
    """Return the settings that the plug-in of an entry is given, the rate by its own name."""
    if "settings" in entry:
        rate = {entry["rate_key"]: entry["rate"]} if "rate_key" in entry else {}
        return {**entry["settings"], **rate}
    return {key: value for key, value in entry.items() if key != "uses"}


def out_of_bounds(where: str, package: str, name: str, settings: dict) -> Iterator[str]:
    """Find a setting outside the bounds that its plug-in declares."""
    declared = plugins.constant(package, name, "SETTINGS")
    return lines_of(bounds.check, where, declared, settings)

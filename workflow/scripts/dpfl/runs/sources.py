"""Which code a job depends on, so that editing a file reruns exactly what it changes.

Snakemake does not see what a script imports: jobs have a digest of it as a parameter.
"""

from functools import cache
from typing import Any

from dpfl import plugins
from dpfl.contracts.federation import DEFAULT
from dpfl.runs import code


@cache
def of_driver(name: str, used: tuple[tuple[str, str], ...] = ()) -> str:
    """Return a digest of a driver's sources and of the plug-ins it uses, (package, name) pairs.

    Of the driver, the plug-ins, all that these import, and the data files that a plug-in declares
    as READS.
    """
    files = [plugins.path_of(package, plugin) for package, plugin in used]
    read = {file for pair in used for file in plugins.constant(*pair, "READS", ())}
    return code.digest(code.SCRIPTS / f"{name}.py", *files, read=read)


def of_run(settings: dict[str, Any]) -> str:
    """Return the digest of what trains a run of some settings: the version of the training code."""
    return of_driver("train", plug_ins_of(settings))


def plug_ins_of(settings: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the plug-ins that train a run, (package, name) pairs."""
    return (
        ("models", settings["model"]),
        ("mechanisms", settings["mechanism"]["estimator"]),
        ("clippings", settings["clipping"]["rule"]),
        ("optimizers", settings["optimizer"]["algorithm"]),
        ("federations", settings["federation"].get("rule", DEFAULT)),
        *(("samplings", each) for each in [settings["federation"].get("sampling")] if each),
        *(
            ("factorizations", each["uses"])
            for each in [settings["federation"].get("factorization")]
            if each
        ),
        *(("statistics", each["rule"]) for each in [settings.get("statistics")] if each),
    )


def of_data(dataset: str) -> str:
    """Return the digest of what prepares a data set; a derived one's, of its base and entry too."""
    base = plugins.constant("data", dataset, "BASE", dataset)
    code = of_driver("prepare_data", tuple(("data", n) for n in dict.fromkeys((dataset, base))))
    return " ".join([code, *map(str, filter(None, [plugins.derived("data").get(dataset)]))])


def of_partition(dataset: str, scheme: str) -> str:
    """Return the digest of what makes the clients of a data set."""
    return of_driver("partition", (("clients/partitions", scheme), ("data", dataset)))


def of_calibration(strategy: str, accountant: str) -> str:
    """Return the digest of what finds the noise of a budget."""
    used = (
        ("privacy/budgets", strategy),
        ("privacy/accountants", accountant),
        ("privacy/accountants", "rdp"),  # the adaptive budget's
    )
    return of_driver("calibrate", used)


def of_tuning(rule: str) -> str:
    """Return the digest of what chooses by a rule."""
    return of_driver("tune", (("tuning", rule),))


def before_run(settings: dict[str, Any]) -> dict[str, str]:
    """Return the digests of what makes the files that the training of some settings reads."""
    dataset, budget = settings["dataset"], settings["budget"]["strategy"]
    found = {
        "data": of_data(dataset),
        "partition": of_partition(dataset, settings["partition"]["scheme"]),
    }
    if settings["epsilon"] != "inf":
        found["calibration"] = of_calibration(budget, settings["accountant"])
    return found

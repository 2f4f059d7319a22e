"""What one run is: its settings, resolved from the configuration of its study."""

from dpfl.planning.methods import components, named, unit_of


def of(
    config: dict, study: dict, method: str, variant: dict, epsilon: float | str, seed: int
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

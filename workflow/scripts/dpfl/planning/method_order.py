"""The order of the methods of a paper, by which each keeps its colour over all its figures."""


def numbers(config: dict, study: str) -> dict[str, int]:
    """Return the number of each method of a study among all methods of the paper's studies.

    They are numbered as they are defined, so that a method that is added last changes no other's.
    """
    used = {method for own in config["studies"].values() for method in own["methods"]}
    ordered = [method for method in config["methods"] if method in used]
    return {m: ordered.index(m) for m in config["studies"][study]["methods"]}

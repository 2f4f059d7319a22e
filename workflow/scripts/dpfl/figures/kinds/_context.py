"""What a study is, in the note below its figures."""

from dpfl.figures import datasets, style
from dpfl.tables import results

UNITS = {"client": ", whole clients protected", "example": ""}


def about(study: dict) -> str:
    """Return a study's title, data set and δ, and whether it only demonstrates."""
    shown = " A demonstration: nothing is judged by it." * results.demonstrates(study)
    unit = UNITS[results.unit_of(study)]
    name, delta = datasets.of(study), style.delta_text(study["delta"])
    return f"{study['title']}. {name[0].upper()}{name[1:]}, δ = {delta}{unit}.{shown}"

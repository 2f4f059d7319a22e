"""The part that decides a claim: the one whose difference the claim as a whole shows."""

from collections.abc import Mapping, Sequence

from dpfl.figures import families
from dpfl.tables.numerals import known


def of(whole: Mapping, parts: Sequence[Mapping]) -> Mapping:
    """Return the row of that part, of one epsilon if there is one; else the claim as a whole."""
    if not known(whole["difference"]):
        return whole
    found = [part for part in _compared(parts) if part["difference"] == whole["difference"]]
    return next(iter(found), whole)


def words(whole: Mapping, parts: Sequence[Mapping]) -> str:
    """Return which part that is, such as `against SGD, ε 8, worst of 6`; nothing without any."""
    if not known(whole["difference"]) or known(whole["printed"]):
        return ""
    part, count = of(whole, parts), len(_compared(parts))
    name = part["about"] if part is whole else part["part"]
    return spelled(f"{name}, worst of {count}" if count > 1 else name)


def spelled(name: str) -> str:
    """Return the name of a part for readers: titles of methods, the sign of epsilon."""
    return families.named(name.replace("epsilon ", "ε "))


def _compared(parts: Sequence[Mapping]) -> list[Mapping]:
    """Return the parts that were compared at one epsilon, or all where none names one."""
    ran = [part for part in parts if known(part["difference"])]
    return [part for part in ran if known(part["epsilon"])] or ran

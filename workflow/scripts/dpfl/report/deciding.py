"""The part that decides a claim: the one whose numbers stand for the claim as a whole."""

from collections.abc import Mapping, Sequence

from dpfl.figures import families
from dpfl.seeds import conjunction
from dpfl.words.numerals import known
from dpfl.words.vocabulary import NOT_RUN


def of(whole: Mapping, parts: Sequence[Mapping]) -> Mapping:
    """Return the row of that part, of one epsilon if there is one; else the claim as a whole.

    Printed numbers, each with a verdict of its own, are told as a whole.
    """
    ran = _compared(parts)
    printed = any(known(row["printed"]) for row in (whole, *parts))
    if not ran or (printed and not known(whole["difference"])):
        return whole
    return conjunction.deciding(ran, whole["verdict"])


def words(whole: Mapping, parts: Sequence[Mapping]) -> str:
    """Return which part that is, such as `against SGD, ε 8, worst of 6`; nothing without any."""
    part, count = of(whole, parts), len(_compared(parts))
    if known(whole["printed"]) or (part is whole and not known(whole["difference"])):
        return ""
    name = part["about"] if part is whole else part["part"]
    return spelled(f"{name}, worst of {count}" if count > 1 else name)


def spelled(name: str) -> str:
    """Return the name of a part for readers: titles of methods, the sign of epsilon."""
    return families.named(name.replace("epsilon ", "ε "))


def _compared(parts: Sequence[Mapping]) -> list[Mapping]:
    """Return the parts that ran, those at one epsilon or all where none names one."""
    ran = [part for part in parts if part["verdict"] != NOT_RUN]
    return [part for part in ran if known(part["epsilon"])] or ran

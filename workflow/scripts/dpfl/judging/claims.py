"""Claims of a paper, judged: a kind of claim is one file, found by its name.

A kind offers REQUIRED, OPTIONAL, LISTS, CHOICES, NEEDS and ONE_OF (literals: the keys it takes,
which of them are lists, what a key may be, what other keys a choice needs, and of which keys it
takes exactly one) and `judge(claim, evidence)`. It may offer `seen(evidence)`, which yields what
each look sees, and `drawn()`, `unit()`, `words(row)` and `band(printed, margin)`, which say how a
page shows a difference.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.judging.evidence import Evidence
from dpfl.tables import results
from dpfl.words import numerals
from dpfl.words.vocabulary import NOT_JUDGED

PRIVACY = (
    *("eps_claimed", "eps_certified", "eps_audited", "audit_ceiling", "audit_level"),
    *("audit_estimator", "audit_status", "privacy", "privacy_reasons"),
)
"""What `seeds.audits` says of the cell that is worst off."""

COLUMNS = list(results.declared("claims"))
"""Of `judge`. `about` says what is compared; `failed` counts the runs that did not train, which are
in no mean and no pair (`seeds.outcomes`); `compared` says what stands beside a printed number,
`tuning` how two sides were tuned (`seeds.fairness`); numbers of accuracy are percentage points."""

COMMON = ("id", "where", "quote", "translation", "short", "kind", "study")
LEFT_OPEN = ("id", "where", "quote", "translation", "short", "status", "reason")
"""The keys of a claim that is not judged."""
METHODS = ("better", "worse", "method", "controls")
"""The keys of a claim, of whatever kind, that name methods; with `of` they are values of that."""

OPPONENTS = ("worse", "controls")
"""Those of them that `better` is compared with."""


def kinds() -> list[str]:
    """Return the kinds of claims there are."""
    return plugins.names("judging/kinds")


def seen(kind: str, evidence: Evidence) -> Iterable[Evidence]:
    """Return what each look sees, by default of every cell the first seeds."""
    return _offered(kind, "seen", Evidence.at_looks)(evidence)


def drawn(kind: str) -> str | None:
    """Return the column that is drawn, its interval in `_low` and `_high`; None: nothing is."""
    return _offered(kind, "drawn", lambda: "difference")()


def unit(kind: str) -> str:
    """Return the unit of differences, empty for bare numbers."""
    return _offered(kind, "unit", lambda: "points")()


def words(row: Mapping[str, Any]) -> str:
    """Return the difference of a row as its kind says it, by default with its unit."""
    if not numerals.known(row["difference"]):
        return numerals.difference(row, "")
    usual = partial(numerals.difference, unit=unit(row["kind"]))
    return _offered(row["kind"], "words", usual)(row)


def band(kind: str, printed: float, margin: float) -> tuple[float, float] | None:
    """Return from where to where the verdict draws its line, by default half the margin."""
    return _offered(kind, "band", lambda *_: (-margin / 2, margin / 2))(printed, margin)


def by_study(claim: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a claim once for every study that it is judged by; itself if it names none."""
    named = claim.get("study")
    return [claim | {"study": one} for one in named] if isinstance(named, list) else [claim]


def methods(claim: dict[str, Any]) -> list[str]:
    """Return the methods that a claim names."""
    named = [claim[key] for key in METHODS if key in claim]
    return [name for one in named for name in (one if isinstance(one, list) else [one])]


def check(claim: dict[str, Any]) -> None:
    """Raise a UserError for the first key of a claim that its kind lacks or does not know."""
    where = f"claim {claim.get('id', '?')}"
    if "status" in claim:
        told = f"{where}: status {claim['status']!r}, must be {NOT_JUDGED.verdict}"
        _expect(claim["status"] == NOT_JUDGED.verdict, told)
        _keys(where, claim, ("id", "where", "quote", "reason"), LEFT_OPEN)
        return
    _keys(where, claim, ("id", "where", "quote", "kind"), None)
    kind = claim["kind"]
    _expect(kind in kinds(), f"{where}: no kind {kind!r}: {nearest(str(kind), kinds())}")
    required, optional = (_literal(kind, name) for name in ("REQUIRED", "OPTIONAL"))
    either = _literal(kind, "ONE_OF")
    _keys(where, claim, required, (*COMMON, *required, *optional, *either))
    for key in _literal(kind, "LISTS"):
        given = claim.get(key, [None])
        listed = isinstance(given, list) and given
        _expect(listed, f"{where}: {key} is {given!r}, must be a list of at least one")
    for key in METHODS:
        single = key in _literal(kind, "LISTS") or not isinstance(claim.get(key), list)
        _expect(single, f"{where}: {key} is {claim.get(key)!r}, must be one name")
    for key, choices in _literal(kind, "CHOICES").items():
        told = f"{where}: {key} is {claim.get(key)!r}, must be one of {', '.join(choices)}"
        _expect(claim.get(key, choices[0]) in choices, told)
    for key, needs in _literal(kind, "NEEDS").items():
        choice = claim.get(key)
        _keys(f"{where}: {key} {choice}", claim, needs.get(choice, ()), None)
    _expect_apart(where, claim)
    count = sum(key in claim for key in either)
    _expect(count == 1 or not either, f"{where}: needs exactly one of {', '.join(either)}")


def _expect_apart(where: str, claim: dict[str, Any]) -> None:
    """Expect that no method, or value, is compared with itself."""
    for key in OPPONENTS:
        own, others = claim.get("better"), claim.get(key, [])
        apart = own is None or own not in (others if isinstance(others, list) else [others])
        _expect(apart, f"{where}: {key} has {own!r}, which is `better` itself")


def _offered(kind: str, name: str, usual: Callable) -> Callable:
    return getattr(plugins.load("judging/kinds", kind), name, usual)


def _literal(kind: str, name: str) -> Any:
    return plugins.constant("judging/kinds", kind, name)


def _keys(where: str, claim: dict, required: tuple, known: tuple | None) -> None:
    """Expect no other than the known keys, and all required ones."""
    for key in claim if known else ():
        _expect(key in known, f"{where}: unknown key {key!r}: {nearest(key, list(known))}")
    for key in required:
        _expect(key in claim, f"{where}: the key {key!r} is missing")


def _expect(holds: object, message: str) -> None:
    if not holds:
        raise UserError(message)

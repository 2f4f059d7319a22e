"""How one layer of definitions changes another: mappings are merged, all else is replaced."""

from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest, unknown

CHANGES = {"add", "remove"}


def merged(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping with another one's values in place.

    A list is replaced by a list, and changed by `{add: [...], remove: [...]}`, where one item may
    stand for a list of it. UserError for an item to remove that is not there.
    """
    return base | {key: _value(key, base.get(key), value) for key, value in change.items()}


def _value(key: str, base: Any, change: Any) -> Any:
    if not isinstance(change, dict):
        return change
    if not (isinstance(base, list) and _changes_a_list(change)):
        return merged(base if isinstance(base, dict) else {}, change)
    listed = {name: own if isinstance(own, list) else [own] for name, own in change.items()}
    removed, there = [str(item) for item in listed.get("remove", [])], list(map(str, base))
    for line in unknown(removed, there, f"config: {key}.remove has", ", which is not there"):
        raise UserError(line)
    kept = [item for item in base if str(item) not in removed]
    return kept + [item for item in listed.get("add", []) if item not in kept]


def extended(section: str, entries: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a section, each with what it says put over what it `extends`.

    What is added to a list that nobody has is that list. UserError for an entry that extends
    itself, or one that does not exist.
    """
    return {name: _settled(name, _resolved(section, entries, name)) for name in entries}


def _resolved(section: str, entries: dict[str, Any], name: str, *above: str) -> Any:
    if not isinstance(entries[name], dict) or "extends" not in entries[name]:
        return entries[name]
    own = dict(entries[name])
    base, where = own.pop("extends"), f"config: {section}.{name}.extends"
    if base in (*above, name):
        raise UserError(f"{where} = {base}, which extends {name} itself")
    if not isinstance(base, str) or base not in entries:
        raise UserError(f"{where} = {base}, expected a name of {section}; {nearest(base, entries)}")
    return merged(_resolved(section, entries, base, *above, name), own)


def _changes_a_list(change: dict[str, Any]) -> bool:
    return bool(change) and change.keys() <= CHANGES


def _settled(key: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if _changes_a_list(value):
        return _value(key, [], value)
    return {name: _settled(name, own) for name, own in value.items()}

"""How one layer of definitions changes another: mappings are merged, all else is replaced."""

from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest, shortened

CHANGES = {"add", "remove"}


def merged(base: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping with another one's values in place.

    A list is replaced by a list, and extended by `{add: [...], remove: [...]}`. UserError for one
    of these that is no list.
    """
    return base | {key: _value(key, base.get(key), value) for key, value in change.items()}


def _value(key: str, base: Any, change: Any) -> Any:
    if not isinstance(change, dict):
        return change
    if isinstance(base, list) and _changes_a_list(change):
        for name, items in change.items():
            if not isinstance(items, list):
                raise UserError(f"config: {key}.{name} = {shortened(items)}, expected a list")
        kept = [item for item in base if item not in change.get("remove", [])]
        return kept + [item for item in change.get("add", []) if item not in kept]
    return merged(base if isinstance(base, dict) else {}, change)


def extended(section: str, entries: dict[str, Any]) -> dict[str, Any]:
    """Return the entries of a section, each with what it says put over what it `extends`.

    What is added to a list that nobody has is that list. UserError for an entry that extends
    itself, or one that does not exist.
    """
    return {name: _settled(_resolved(section, entries, name, ())) for name in entries}


def _resolved(section: str, entries: dict[str, Any], name: str, above: tuple[str, ...]) -> Any:
    entry = entries[name]
    if not isinstance(entry, dict) or "extends" not in entry:
        return entry
    base, where = entry["extends"], f"config: {section}.{name}.extends"
    if base in (*above, name):
        raise UserError(f"{where} = {base}, which extends {name} itself")
    if not isinstance(base, str) or base not in entries:
        raise UserError(f"{where} = {base}, expected a name of {section}; {nearest(base, entries)}")
    own = {key: value for key, value in entry.items() if key != "extends"}
    return merged(_resolved(section, entries, base, (*above, name)), own)


def _changes_a_list(change: dict[str, Any]) -> bool:
    return bool(change) and change.keys() <= CHANGES


def _settled(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if _changes_a_list(value):
        return merged({"list": []}, {"list": value})["list"]
    return {key: _settled(own) for key, own in value.items()}

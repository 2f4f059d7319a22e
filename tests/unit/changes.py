"""Settings with one value changed, for the tests of mistakes in them."""

import json


def changed(settings: dict, path: str, value: object) -> dict:
    """Return the settings with one value replaced, or removed if it is None."""
    found = json.loads(json.dumps(settings))
    *parents, last = path.split(".")
    target = found
    for key in parents:
        target = target[int(key) if key.isdigit() else key]
    last = int(last) if last.isdigit() else last
    if value is None:
        del target[last]
    else:
        target[last] = value
    return found

"""Reads a YAML file that holds a mapping; every mistake in it is one line with file and place."""

import math
from pathlib import Path
from typing import Any

import yaml

from dpfl.base.errors import UserError

LARGEST = 1e6  # values of a file, with what its aliases repeat


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    """A safe loader that refuses a key which stands twice, where YAML keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = [key for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        seen = set()
        for key in keys:
            if isinstance(key.value, list):
                problem = "a key is no text, but a list or a mapping"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            if key.value in seen:
                problem = f"the key {key.value!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read(path: Path, where: str) -> dict[str, Any]:
    """Return the mapping; `where` names the file. UserError for one that cannot be read."""
    try:
        found = yaml.load(path.read_text(encoding="utf-8"), _Loader)
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: no text in UTF-8, at byte {error.start}") from error
    except yaml.YAMLError as error:
        raise UserError(f"{where}{_problem(error)}") from error
    except (ValueError, RecursionError) as error:  # a date that is none, lists without end
        raise UserError(f"{where}: no YAML: {' '.join(str(error).split())}") from error
    except OSError as error:
        raise UserError(f"{where}: {error.strerror}, expected a file in YAML") from error
    if not isinstance(found, dict):
        kind = "nothing" if found is None else type(found).__name__
        raise UserError(f"{where}: expected a mapping, found {kind}")
    _expect_tree(where, found)
    return found


def _problem(error: yaml.YAMLError) -> str:
    """Return line and problem of what YAML finds."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return f": no YAML: {' '.join(str(error).split())}"
    words = ", ".join(filter(None, (error.context, error.problem)))
    return f", line {error.problem_mark.line + 1}: {words}"


def _expect_tree(where: str, found: dict[str, Any]) -> None:
    """Raise a UserError for an alias inside its own anchor, and for aliases that mean too much."""
    sizes: dict[int, float] = {}  # by identity: what an alias repeats is counted once

    def size(value: Any) -> float:
        if not isinstance(value, dict | list):
            return 1
        if id(value) not in sizes:
            sizes[id(value)] = math.inf  # until it is known: seen again, it lies in itself
            parts = value.values() if isinstance(value, dict) else value
            sizes[id(value)] = 1 + sum(map(size, parts))
        return sizes[id(value)]

    if (values := size(found)) == math.inf:
        raise UserError(f"{where}: an alias stands inside its own anchor")
    if values > LARGEST:
        raise UserError(f"{where}: its aliases stand for {values:.2g} values, at most {LARGEST:g}")

"""Files that appear whole or not at all, on the disk too, and that are known when they are not.

A digest beside a file is compared whenever the file is read. It stands in SHA256SUMS of its folder
or in FILE.sha256, both as `sha256sum` writes them.
"""

import hashlib
import io
import json
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from dpfl.base.errors import UserError

SUMS, SUM = "SHA256SUMS", ".sha256"


@contextmanager
def atomic(path: Path | str, flush: bool = True) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it on success, remove it on failure.

    What is renamed lies on the disk, so a power cut leaves the old file or the new one. It does not
    lie there without `flush`, which takes some milliseconds.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(8)}{path.suffix}")
    try:
        yield temporary
        if flush:
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk is told without it
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path | str, text: str) -> None:
    """Write a text file whole or not at all."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def write_json(path: Path | str, value: Any) -> None:
    """Write strict JSON (no NaN, no Infinity) whole or not at all."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def write_sum(path: Path | str) -> None:
    """Write the digest of a file beside it."""
    path = Path(path)
    write_text(f"{path}{SUM}", f"{digest(path)}  {path.name}\n")


def write_table(path: Path | str, table: Any) -> None:
    """Write a DataFrame as CSV with its digest beside it, so that a change is known when read."""
    write_text(path, table.to_csv(index=False, lineterminator="\n"))
    write_sum(path)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sums(path: Path) -> dict[str, str]:
    """Read digests by the names of files; {} where there is no such file.

    UserError for one that is not whole.
    """
    try:
        lines = path.read_text(encoding="ascii", errors="replace").splitlines()
    except FileNotFoundError:
        return {}
    pairs = [line.split(maxsplit=1) for line in lines]
    if not all(len(pair) == 2 and len(pair[0]) == 64 for pair in pairs) or not pairs:
        raise _not_whole(path)
    return {name: found for found, name in pairs}


def check(path: Path | str) -> None:
    """Compare a file with the digest beside it, if there is one; UserError if they differ."""
    path = Path(path)
    known = sums(path.with_name(SUMS)) | sums(path.with_name(f"{path.name}{SUM}"))
    if path.name in known and digest(path) != known[path.name]:
        raise _not_whole(path)


def read_json(path: Path | str) -> Any:
    """Read a JSON file; UserError if it is not whole."""
    return read(path, lambda content: json.loads(content.read()))


def read_array(path: Path | str) -> Any:
    """Read the array of a .npy file; UserError if it is not whole."""
    import numpy as np

    return read(path, np.load)


def read_table(path: Path | str, **options: Any) -> Any:
    """Read a CSV file as a DataFrame, with options of pandas; UserError if it is not whole."""
    import pandas as pd

    return read(path, lambda content: pd.read_csv(content, **options))


def read_weights(path: Path | str) -> dict[str, Any]:
    """Read the tensors of a .safetensors file; UserError if it is not whole."""
    with open_tensors(path, "pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


@contextmanager
def open_tensors(path: Path | str, framework: str) -> Iterator[Any]:
    """Open a .safetensors file, whose tensors are read as they are asked for.

    UserError if it is not whole, or has no tensor that is asked for.
    """
    from safetensors import SafetensorError, safe_open

    check(path)
    try:
        with safe_open(path, framework) as file:
            yield file
    except SafetensorError as error:
        raise _not_whole(path) from error


def read(path: Path | str, parse: Callable[[io.BytesIO], Any]) -> Any:
    """Return what `parse` makes of a file; UserError if the file is not whole."""
    check(path)
    content = Path(path).read_bytes()
    try:
        return parse(io.BytesIO(content))
    except Exception as error:  # each format has exceptions of its own for what is not whole
        raise _not_whole(path) from error


def remove(path: Path) -> None:
    """Remove a file or a whole folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _not_whole(path: Path | str) -> UserError:
    return UserError(f"{path}: not whole; delete it and run again")

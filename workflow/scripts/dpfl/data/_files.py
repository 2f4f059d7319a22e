"""Files of public data sets: checked against their digests, downloaded when they are not there."""

import hashlib
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path

from dpfl.base.errors import UserError
from dpfl.base.files import atomic

ATTEMPTS = 3
BACKOFF_S = 2.0
TIMEOUT_S = 30.0


def verified(path: Path, algorithm: str, expected: str) -> bytes:
    """Return the bytes of a file; UserError unless they have the expected digest (hexadecimal)."""
    content = path.read_bytes()
    found = hashlib.new(algorithm, content, usedforsecurity=False).hexdigest()
    if found != expected:
        raise UserError(
            f"{path}: expected {algorithm} {expected}, found {found} ({len(content)} bytes): the "
            f"file is damaged; put a good copy there, or delete it and it is downloaded again"
        )
    return content


def download(urls: Sequence[str], path: Path, md5: str, by_hand: str) -> None:
    """Download a file from the first of its mirrors that answers, with retries.

    Where no mirror's name is known there is no network, and nothing is tried again. The file
    appears whole, with the expected MD5, or not at all, and no new folder either. UserError tells
    what could not be downloaded and, in the words of `by_hand`, how to do without.
    """
    made = [folder for folder in path.parents if not folder.exists()]
    for attempt in range(1, ATTEMPTS + 1):
        errors = []
        for url in urls:
            try:
                return _download_once(url, path, md5)
            except (RuntimeError, OSError, HTTPException) as error:
                errors.append((url, error))
        if all(isinstance(getattr(e, "reason", e), socket.gaierror) for _, e in errors):
            break
        if attempt < ATTEMPTS:
            time.sleep(BACKOFF_S * 2 ** (attempt - 1))
    for folder in made:
        with suppress(OSError):  # others may have put something there
            folder.rmdir()
    url, error = errors[-1]
    reason = f"{url}: {' '.join(str(error).split()) or type(error).__name__}"
    tried = f"in {attempt} attempts" if attempt > 1 else "without a network"
    raise UserError(f"could not download {path.name} {tried} (last: {reason}); {by_hand}")


def _download_once(url: str, path: Path, md5: str) -> None:
    from torchvision.datasets import utils

    with atomic(path) as temporary, _timeout(TIMEOUT_S):
        utils.download_url(url, temporary.parent, temporary.name, md5)


@contextmanager
def _timeout(seconds: float) -> Iterator[None]:
    """Give up on a silent server, for which torchvision would wait without end."""
    before = socket.getdefaulttimeout()
    socket.setdefaulttimeout(seconds)
    try:
        yield
    finally:
        socket.setdefaulttimeout(before)

"""Mistakes in a configuration, each told in one line before the first job."""

from collections.abc import Callable, Iterator
from typing import Any

from dpfl.base.errors import UserError


def lines_of(check: Callable[..., Any], *given: Any) -> Iterator[str]:
    """Yield the lines that a check yields, and that of the mistake which it raises."""
    try:
        found = check(*given)
        yield from found if isinstance(found, Iterator) else ()
    except UserError as error:
        yield str(error)

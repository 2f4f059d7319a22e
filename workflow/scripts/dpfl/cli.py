"""How the drivers report a user's mistake: one line on stderr, exit status 1."""

import sys
from collections.abc import Callable

from dpfl.errors import UserError


def main(function: Callable[[], None]) -> None:
    """Run a driver; a UserError or a missing file becomes one line, never a traceback."""
    try:
        function()
    except (UserError, OSError) as error:
        sys.exit(f"error: {error}")

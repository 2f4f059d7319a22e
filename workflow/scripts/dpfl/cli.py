"""How a mistake of the user is told: in one line on stderr, with exit status 1."""

import argparse
import sys
from collections.abc import Callable

from dpfl.errors import UserError


def main(function: Callable[[], None]) -> None:
    """Run a driver; a UserError or a missing file becomes one line, never a traceback."""
    try:
        function()
    except (UserError, OSError) as error:
        sys.exit(f"error: {error}")


class Parser(argparse.ArgumentParser):
    """Tells a mistake on the command line in one line, as every other mistake."""

    def error(self, message: str) -> None:
        """Raise a UserError in place of usage and exit status 2."""
        raise UserError(message)

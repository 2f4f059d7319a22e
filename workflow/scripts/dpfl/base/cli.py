"""How a mistake of the user, or a fault of the machine, is told: one line, exit status 1."""

import argparse
import errno
import sys
from collections.abc import Callable

from dpfl.base.errors import UserError

ADVICE = {
    errno.ENOSPC: "free some space and run again",
    errno.EDQUOT: "free some space and run again",
    errno.EROFS: "make it writable and run again",
    errno.EACCES: "allow it and run again",
}
NO_MEMORY = ("can't allocate memory", "out of memory")
"""What torch says in a RuntimeError: on the CPU, on a GPU."""


def main(function: Callable[[], None]) -> None:
    """Run a driver; a UserError, a file that fails or a lack of memory becomes one line."""
    try:
        function()
    except UserError as error:
        sys.exit(f"error: {error}")
    except OSError as error:
        sys.exit("; ".join(filter(None, [f"error: {error}", ADVICE.get(error.errno)])))
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not any(s in str(error) for s in NO_MEMORY):
            raise
        sys.exit(f"error: out of memory; {' '.join(str(error).split())}".removesuffix("; "))


class Parser(argparse.ArgumentParser):
    """Tells a mistake on the command line in one line, as every other mistake."""

    def error(self, message: str) -> None:
        """Raise a UserError in place of usage and exit status 2."""
        raise UserError(message)

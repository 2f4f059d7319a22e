"""Which Python the jobs run."""

import os
import sys
from pathlib import Path


def lead_path() -> None:
    """Put the interpreter that runs Snakemake first on PATH, whether or not it is activated.

    Jobs call `python`; a conda environment of theirs still goes before it.
    """
    os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

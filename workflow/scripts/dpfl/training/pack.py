"""Trains runs one after another, or some at a time, each in a child of one warm process.

A child starts with everything imported, ends without leaving anything behind for the next, and
fails alone.
"""

import multiprocessing
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.files import read_json, write_json
from dpfl.runs import sources
from dpfl.training.job import Job


def train(jobs: list[Job], at_once: int) -> dict[str, str]:
    """Train what is not finished of some runs; return the failed ones, each with a line of why."""
    todo = [job for job in jobs if not job.settle()]
    if not todo:
        return {}
    _import_once(todo)
    from dpfl.training import probe

    with probe.shared():
        return dict(_failures(todo, at_once))


def _import_once(jobs: list[Job]) -> None:
    """Import what the children need, which takes seconds; none of it starts a thread."""
    import torch._dynamo  # noqa: F401  # by the first step of an optimizer

    import dpfl.training.one

    for pair in {pair for job in jobs for pair in sources.plug_ins_of(job.settings)}:
        with suppress(Exception):  # a run whose plug-in fails fails alone, in its child
            plugins.load(*pair)

    if any(job.settings["epsilon"] != "inf" for job in jobs):
        import dpfl.audit.findings  # noqa: F401


def _failures(jobs: list[Job], at_once: int) -> Iterator[tuple[str, str]]:
    """Train the runs; yield those that fail, with a line of why."""
    todo, running = list(reversed(jobs)), {}
    children = multiprocessing.get_context("fork")
    with _ended(running):
        while todo or running:
            while todo and len(running) < at_once:
                job = todo.pop()
                child = children.Process(target=_child, args=(job,), daemon=True)
                child.start()
                running[child] = job
            wait([child.sentinel for child in running])
            for child in [child for child in running if not child.is_alive()]:
                job = running.pop(child)
                if child.exitcode:
                    yield job.run, _why(job, child.exitcode)


@contextmanager
def _ended(running: dict[BaseProcess, Job]) -> Iterator[None]:
    """End the children with their parent, also where a scheduler asks it to end."""
    before = signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        for child in running:
            child.terminate()
        signal.signal(signal.SIGTERM, before)


def _child(job: Job) -> None:
    """Train one run, with its own log; a failure is told there, on the terminal and in a file."""
    from dpfl.training import one

    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    terminal = os.dup(sys.stderr.fileno())
    _log_to(job.log)
    try:
        one.train(job, lambda line: print(line, file=sys.stderr, flush=True))
        job.failure.unlink(missing_ok=True)
    except KeyboardInterrupt:
        os._exit(128 + signal.SIGINT)
    except (UserError, OSError) as error:
        _fail(job, terminal, f"error: {error}")
    except Exception as error:
        with suppress(OSError):
            traceback.print_exc()
        _fail(job, terminal, f"{type(error).__name__}: {error}")


def _log_to(path: Path) -> None:
    """Let all that this process prints go to a file; where none can be written, to the terminal."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        for stream in (sys.stdout, sys.stderr):
            os.dup2(file, stream.fileno())


def _fail(job: Job, terminal: int, message: str) -> None:
    with suppress(OSError):
        os.write(terminal, f"{job.run}: {message}\n".encode())
    with suppress(OSError):
        print(message, file=sys.stderr, flush=True)
    with suppress(OSError):
        _write_failure(job, message)
    os._exit(1)


def _why(job: Job, status: int) -> str:
    """Return why a child failed; one that was killed could not say so itself."""
    if status < 0:
        with suppress(OSError):
            _write_failure(job, f"killed by {signal.Signals(-status).name}")
    try:
        return read_json(job.failure)["message"]
    except (OSError, ValueError, LookupError):
        return f"exit status {status}"


def _write_failure(job: Job, message: str) -> None:
    write_json(job.failure, {"run": job.run, "message": message, "log": str(job.log)})

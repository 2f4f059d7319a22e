"""A server and its clients as processes of this machine, on the loopback."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
QUIET = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}


def free_port() -> int:
    """Return a port of the loopback that nobody listens at."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Federation:
    """A SuperLink and SuperNodes, with a folder for what they write."""

    def __init__(self, folder: Path):
        self.folder, self.port = folder, free_port()
        self.nodes: dict[int, subprocess.Popen] = {}
        code = f"{ROOT / 'workflow/scripts'}:{ROOT / 'workflow'}"
        home, path = folder / "home", f"{BIN}:{os.environ['PATH']}"
        own = {"FLWR_HOME": str(home), "PATH": path, "PYTHONPATH": code, "OMP_NUM_THREADS": "1"}
        self._environment = os.environ | QUIET | own
        home.mkdir()
        connection = f'address = "127.0.0.1:{self.port}"\ninsecure = true\n'
        (home / "config.toml").write_text(f"[superlink.here]\n{connection}", encoding="utf-8")
        self._all: list[subprocess.Popen] = []
        self._start("superlink", "flower-superlink", "--insecure", "--port", self.port)
        self._await_port(self.port)

    def join(self, client: int, run: Path) -> None:
        """Start the node of a client."""
        where = f"127.0.0.1:{self.port}"
        given = ("--insecure", "--superlink", where, "--port", free_port())
        own = ("--node-config", f'client={client} run="{run}" state="{self.folder}/own-{client}"')
        self.nodes[client] = self._start(f"node-{client}", "flower-supernode", *given, *own)

    def submit(self, run: Path, results: Path, timeout: int) -> None:
        """Hand the app in, and note what its server prints."""
        config = f'run="{run}" results="{results}" timeout={timeout}.0'
        app = ROOT / "workflow" / "flower"
        self._start("server", "flwr", "run", app, "here", "--stream", "--run-config", config)

    def answered(self, client: int, times: int) -> None:
        """Wait until a node has answered so often."""
        self.wait(lambda: self.log(f"node-{client}").count("Sent successfully") >= times, 200)

    def prints(self, line: str) -> None:
        """Wait until the server has printed this in a line."""
        self.wait(lambda: any(line in own for own in self.log("server").splitlines()), 120)

    def log(self, name: str) -> str:
        """Return what a process, and those that it started, have printed so far."""
        return (self.folder / f"{name}.log").read_text(encoding="utf-8")

    def wait(self, found, seconds: float) -> None:
        """Wait until something is true; AssertionError, with all logs, if it never is."""
        until = time.monotonic() + seconds
        while not found():
            if time.monotonic() > until:
                logs = sorted(self.folder.glob("*.log"))
                raise AssertionError("\n".join(path.read_text(encoding="utf-8") for path in logs))
            time.sleep(0.2)

    def kill(self, client: int) -> None:
        """Kill a node with all that it started, at once."""
        os.killpg(self.nodes[client].pid, signal.SIGKILL)

    def stop(self) -> None:
        """End all processes."""
        for process in self._all:
            with suppress(ProcessLookupError):  # a leader may have left others behind
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, name: str, program: str, *options: object) -> subprocess.Popen:
        """Start a program, the leader of a process group, with its log."""
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [BIN / program, *map(str, options)],
                env=self._environment,
                cwd=self.folder,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._all.append(process)
        return process

    def _await_port(self, port: int) -> None:
        def listens() -> bool:
            with socket.socket() as tried:
                return tried.connect_ex(("127.0.0.1", port)) == 0

        self.wait(listens, 60)


@contextmanager
def federation(folder: Path) -> Iterator[Federation]:
    """Yield a server without nodes; all of it ends with the block."""
    made = Federation(folder)
    try:
        yield made
    finally:
        made.stop()

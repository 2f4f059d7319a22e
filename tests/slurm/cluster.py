"""A private Slurm of some nodes on this machine, which touches no other Slurm and leaves nothing.

Ports, folder and munge key are its own. A node is a slurmd in a process namespace of its own: to
kill the namespace is to cut the node's power, with all jobs on it. All daemons die with the process
that started them, however that ends.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

COMMANDS = ("munged", "slurmctld", "slurmd", "sbatch", "srun", "squeue", "scancel", "scontrol")
PACKAGES = ("slurm-wlm", "slurm-wlm-basic-plugins", "munge")
DEADLINE_S = 300
DIES_WITH_ITS_PARENT = ("setpriv", "--pdeathsig", "KILL")
# srun in a job finds slurm.conf where Debian has it, since Snakemake's jobs lose SLURM_CONF. Only
# the node's own namespaces see this folder there.
A_NODE = (
    *("unshare", "--pid", "--mount-proc", "--fork", "--kill-child"),
    *("sh", "-c", 'mount --bind "$0" /etc/slurm && slurmd -D -N "$1"'),
)

# A dead node is noticed within SlurmdTimeout, and its jobs are queued again (JobRequeue), to start
# after cred_expire at the earliest (120 s where it is not set).
CONFIGURATION = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=15
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool.%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
JobRequeue=1
KillWait=2
SlurmdTimeout=10
SlurmdParameters=config_overrides
ReturnToService=2
MpiDefault=none
"""
NODE = """\
NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} RealMemory={memory}
"""
PARTITION = """\
PartitionName=main Nodes=ALL Default=YES MaxTime=12:00:00 DefaultTime=00:10:00
"""


class NoSlurmError(Exception):
    """Why no private Slurm can run on this machine, in one line."""


@dataclass
class Cluster:
    """The daemons of a Slurm, and its commands."""

    folder: Path
    nodes: dict[str, subprocess.Popen] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """What makes Slurm's commands talk to this cluster."""
        return {
            **{name: value for name, value in os.environ.items() if not name.startswith("SLURM_")},
            "SLURM_CONF": str(self.folder / "slurm.conf"),
        }

    def command(self, *words: str) -> str:
        """Return what one of Slurm's commands prints; CalledProcessError if it fails."""
        return subprocess.run(
            words, env=self.environment, check=True, capture_output=True, text=True
        ).stdout

    def jobs(self, *states: str) -> list[str]:
        """Return the jobs in some states, by default running or waiting."""
        wanted = ",".join(states or ("RUNNING", "PENDING", "COMPLETING"))
        return self.command("squeue", "--noheader", "--format=%i", f"--states={wanted}").split()

    def details(self, job: str) -> dict[str, str]:
        """Return what Slurm knows of a job, by its names for it."""
        words = self.command("scontrol", "show", "--oneliner", "job", job).split()
        return dict(word.split("=", 1) for word in words if "=" in word)

    def start_node(self, name: str) -> None:
        """Start a node, or start it again."""
        command = (*A_NODE, str(self.folder), name)
        self.nodes[name] = _daemon(command, self.folder / f"slurmd.{name}.log", self.environment)

    def cut_power(self, name: str) -> None:
        """End a node at once with all that runs on it, as a power cut does."""
        node = self.nodes.pop(name)
        node.kill()
        node.wait()

    @contextmanager
    def only(self, count: int) -> Iterator[None]:
        """Give work to the first nodes alone."""
        others = ",".join(list(self.nodes)[count:])
        update = ("scontrol", "update", f"NodeName={others}")
        if others:
            self.command(*update, "State=DRAIN", "Reason=unused")
        yield
        if others:
            self.command(*update, "State=RESUME")

    def cancel_all(self) -> None:
        """Cancel all jobs and wait until none is left."""
        for job in self.jobs():
            self.command("scancel", job)
        until(lambda: not self.jobs(), "all jobs are cancelled")


@contextmanager
def started(nodes: int = 2) -> Iterator[Cluster]:
    """Start a cluster in a temporary folder, share the machine among its nodes, and end it.

    NoSlurmError if this machine has no Slurm and cannot install it.
    """
    install()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="slurm-")))
        folder.chmod(0o755)  # munged wants a socket that every user can reach; its key stays root's
        cluster = Cluster(folder)
        stack.callback(lambda: [cluster.cut_power(name) for name in list(cluster.nodes)])
        _configure(folder, nodes)
        for command in (_munged(folder), ("slurmctld", "-D")):
            daemon = _daemon(command, folder / f"{command[0]}.log", cluster.environment)
            stack.callback(_end, daemon)
        until((folder / "munge.socket").exists, "munged answers")
        for number in range(1, nodes + 1):
            cluster.start_node(f"node{number}")
        until(lambda: _idle(cluster) == nodes, "all nodes are idle")
        yield cluster


def install() -> None:
    """Install Debian's Slurm and munge, unless they are there; NoSlurmError if it fails."""
    if os.geteuid() != 0:
        raise NoSlurmError("a private Slurm needs root, which gives each node a process namespace")
    if all(map(shutil.which, COMMANDS)):
        return
    if not shutil.which("apt-get"):
        raise NoSlurmError(
            f"no Slurm and no apt-get here; install {', '.join(PACKAGES)} or the like"
        )
    for arguments in (("update",), ("install", "-y", "--no-install-recommends", *PACKAGES)):
        done = subprocess.run(
            ["apt-get", "-qq", *arguments],
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            reason = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise NoSlurmError(f"apt-get {arguments[0]} failed: {' '.join(reason)}")


def until(true: Callable[[], object], what: str, seconds: float = DEADLINE_S) -> None:
    """Wait until something is true; TimeoutError with its name."""
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            raise TimeoutError(f"after {seconds} s it is still not so that {what}")
        time.sleep(0.1)


def _configure(folder: Path, nodes: int) -> None:
    """Write slurm.conf and the key; every node gets an equal part of cores and memory."""
    host = socket.gethostname()
    ports = _free_ports(1 + nodes)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
    share = {"cpus": max(1, (os.cpu_count() or 1) // nodes), "memory": memory * 9 // 10 // nodes}
    lines = [CONFIGURATION.format(host=host, port=ports[0], user="root", folder=folder)]
    for number, port in enumerate(ports[1:], 1):
        lines.append(NODE.format(name=f"node{number}", host=host, port=port, **share))
    (folder / "state").mkdir()
    (folder / "slurm.conf").write_text("".join([*lines, PARTITION]), encoding="utf-8")
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(os.urandom(1024))


def _munged(folder: Path) -> tuple[str, ...]:
    names = {"key-file": "key", "socket": "socket", "pid-file": "pid", "seed-file": "seed"}
    return (
        *("munged", "--foreground", "--num-threads=2"),
        *(f"--{option}={folder}/munge.{name}" for option, name in names.items()),
    )


def _daemon(command: tuple[str, ...], log: Path, environment: dict[str, str]) -> subprocess.Popen:
    """Start a daemon that ends with this process, and not by a Ctrl-C that this process gets."""
    with log.open("ab") as file:
        return subprocess.Popen(
            [*DIES_WITH_ITS_PARENT, *command],
            env=environment,
            stdout=file,
            stderr=file,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )


def _end(daemon: subprocess.Popen) -> None:
    daemon.terminate()
    try:
        daemon.wait(timeout=10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def _idle(cluster: Cluster) -> int:
    """Return how many nodes are idle; none as long as the controller does not answer."""
    try:
        return cluster.command("sinfo", "--noheader", "--Node", "--format=%T").split().count("idle")
    except subprocess.CalledProcessError:
        return 0


def _free_ports(count: int) -> list[int]:
    """Return ports that nobody listens on now."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports

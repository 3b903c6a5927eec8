"""A private SLURM cluster on this host: munged, slurmctld and two slurmd with two fake GPUs each, on the loopback only.

Nothing under /etc is written; all state is in one folder; the daemons end by their process ids. There is no accounting
(as on some real clusters), while the `sacct` of Debian's package is there and cannot answer. Memory is looked at once a
second; a step that holds more than its job asked for is ended, as clusters do that have cgroups.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from tests.waiting import PATIENCE

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "srun")
PACKAGES = ("slurmctld", "slurmd", "slurm-client", "munge")
NODES = ("n1", "n2")
CPUS, MEMORY, GPUS = 6, 16_000, 2

CONF = """
ClusterName=stele
SlurmctldHost={host}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/munge.socket
CredType=cred/munge
SlurmctldPort={port}
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd-%n.log
StateSaveLocation={folder}/ctld
SlurmdSpoolDir={folder}/spool/%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0,sched_min_interval=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
ReturnToService=2
GresTypes=gpu
MinJobAge=86400
KillWait=10
InactiveLimit=0
SlurmctldTimeout=30
SlurmdTimeout=20
"""


def missing() -> list[str]:
    """Programs that this host lacks."""
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/usr/local/sbin"])
    return [name for name in PROGRAMS if shutil.which(name, path=path) is None]


def install() -> str | None:
    """Installs Debian's packages where they are missing; returns why there can be no cluster here, else None.

    One process at a time: two apt-get at once fail, and programs that are there may not be set up yet.
    """
    with (Path(tempfile.gettempdir()) / f"stele-apt-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not missing():
            return None
        if os.getuid() or not shutil.which("apt-get"):
            return (
                f"no {', '.join(missing())} here, and installing takes root and apt-get: "
                f"apt install {' '.join(PACKAGES)}"
            )
        environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "-y", "--no-install-recommends", *PACKAGES]):
            done = subprocess.run(
                ["apt-get", "-qq", *command], env=environment, capture_output=True, text=True, check=False
            )
            if done.returncode:
                return f"apt-get {command[0]} failed: {done.stderr.strip()[-300:]}"
        return f"no {', '.join(missing())} after installing {' '.join(PACKAGES)}" if missing() else None


def free_ports(number: int) -> list[int]:
    """Ports of the loopback that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def processes() -> dict[int, tuple[str, int]]:
    """Process -> its name and its parent."""
    collected = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = path.read_text().partition("(")[2].rpartition(") ")
            collected[int(path.parent.name)] = (name, int(rest.split()[1]))
    return collected


def below(root: int, tree: dict[int, tuple[str, int]]) -> list[int]:
    """The processes under one."""
    children = [pid for pid, (_, parent) in tree.items() if parent == root]
    return [pid for child in children for pid in (child, *below(child, tree))]


def settings(pid: int) -> set[bytes]:
    """A process' environment as it was when it started; empty for one that has ended."""
    with contextlib.suppress(OSError):
        return set(Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"))
    return set()


@dataclass
class Cluster:
    """A running cluster; `environment` is what its commands need."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    # --- up and down ------------------------------------------------------------------------------------------------
    def up(self) -> None:
        for name in ("munge", "ctld", "spool", "log", "dev", "bin"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "munge").chmod(0o711)
        sbin = ["/usr/sbin", "/usr/local/sbin"]
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"], *sbin])
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}
        self._munge()
        self._configure()
        self.start_controller()
        for node in NODES:
            self.start_node(node)
        self.wait_until_idle()

    def _munge(self) -> None:
        key, at = self.folder / "munge/munge.key", self.folder / "munge"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        options = [f"--key-file={key}", f"--socket={at}/munge.socket", f"--pid-file={at}/munged.pid"]
        self.run("munged", *options, f"--log-file={self.folder}/log/munged.log", f"--seed-file={at}/munged.seed")

    def _configure(self) -> None:
        host = socket.gethostname().partition(".")[0]
        user = self.run("id", "-un").strip()
        control, *ports = free_ports(1 + len(NODES))
        conf = [CONF.format(host=host, user=user, folder=self.folder, port=control)]
        generic = []
        for node, port in zip(NODES, ports, strict=True):
            (self.folder / "spool" / node).mkdir()
            for gpu in range(GPUS):  # a device that is always there; its name ends in the index
                (self.folder / f"dev/{node}-gpu{gpu}").symlink_to("/dev/null")
            conf.append(
                f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs={CPUS} Boards=1"
                f" SocketsPerBoard=1 CoresPerSocket={CPUS} ThreadsPerCore=1"
                f" RealMemory={MEMORY} Gres=gpu:fake:{GPUS} State=UNKNOWN"
            )
            generic.append(f"NodeName={node} Name=gpu Type=fake File={self.folder}/dev/{node}-gpu[0-{GPUS - 1}]")
        nodes = ",".join(NODES)
        for name, rank in (("cpu Default=YES", 1), ("gpu", 1), ("urgent", 10)):
            conf.append(
                f"PartitionName={name} Nodes={nodes} MaxTime=12:00:00 DefaultTime=10 State=UP PriorityTier={rank}"
            )
        (self.folder / "slurm.conf").write_text("\n".join([*conf, ""]))
        (self.folder / "gres.conf").write_text("\n".join([*generic, ""]))

    def start_controller(self) -> None:
        self.run("slurmctld", "-f", str(self.folder / "slurm.conf"))

    def stop_controller(self) -> None:
        self._end(self.folder / "slurmctld.pid", "slurmctld")

    def start_node(self, node: str) -> None:
        self.run("slurmd", "-f", str(self.folder / "slurm.conf"), "-N", node)

    def lose_node(self, node: str) -> None:
        """SIGKILL of a node's slurmd and of all that runs under it, as when a host loses power."""
        daemon = int((self.folder / f"slurmd-{node}.pid").read_text())
        tree = processes()
        settings_of_node = {
            b"SLURMD_NODENAME=" + node.encode(),
            b"SLURM_CONF=" + str(self.folder / "slurm.conf").encode(),
        }
        steps = {parent for pid, (name, parent) in tree.items() if tree.get(parent, ("",))[0] == "slurmstepd"}
        steps = {step for step in steps if any(settings_of_node <= settings(pid) for pid in below(step, tree))}
        for pid in [daemon, *steps, *(pid for step in steps for pid in below(step, tree))]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def state(self, node: str) -> str:
        """A node's state as the controller sees it, e.g. idle, mixed, down; a star is one that does not answer."""
        return self.run("sinfo", "-h", "-N", "-p", "cpu", "-n", node, "-o", "%t").strip()

    def down(self) -> None:
        with contextlib.suppress(RuntimeError, subprocess.TimeoutExpired):
            if ids := self.run("squeue", "-h", "-o", "%A").split():
                self.run("scancel", *ids)
            until = time.monotonic() + 60
            while self.run("squeue", "-h") and time.monotonic() < until:
                time.sleep(0.2)
        for node in NODES:
            self._end(self.folder / f"slurmd-{node}.pid", "slurmd")
        self.stop_controller()
        self._end(self.folder / "munge/munged.pid", "munged")

    def _end(self, file: Path, name: str) -> None:
        """Ends the daemon of a pid file, if it is the one that was started."""
        with contextlib.suppress(OSError, ValueError):
            pid = int(file.read_text())
            command = Path(f"/proc/{pid}/comm")
            for number, seconds in ((signal.SIGTERM, 10), (signal.SIGKILL, 5)):
                if command.read_text().strip() != name:
                    return
                os.kill(pid, number)
                until = time.monotonic() + seconds
                while command.exists() and time.monotonic() < until:
                    time.sleep(0.05)

    # --- asking -----------------------------------------------------------------------------------------------------
    def run(self, *command: str) -> str:
        """What a command of the cluster prints."""
        environment = os.environ | self.environment
        program = shutil.which(command[0], path=environment["PATH"])
        done = subprocess.run(
            [program, *command[1:]], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip() or done.returncode}")
        return done.stdout

    def wait_until_idle(self) -> None:
        until = time.monotonic() + PATIENCE
        while self.run("sinfo", "-h", "-N", "-p", "cpu", "-t", "idle", "-o", "%N").split() != list(NODES):
            if time.monotonic() > until:
                logs = [path.read_text()[-500:] for path in sorted((self.folder / "log").glob("*.log"))]
                raise RuntimeError("\n".join(["the nodes are not idle", *logs]))
            time.sleep(0.1)

    def jobs(self, *options: str, rule: str = "", folder: Path | None = None) -> list[dict[str, str]]:
        """Jobs that the controller knows, ended ones too, of a rule and a working folder; oldest first."""
        keys = {"id": "%i", "state": "%T", "comment": "%k", "folder": "%Z", "partition": "%P", "memory": "%m"}
        keys |= {"limit": "%l", "name": "%j", "gpus": "%b", "cpus": "%C", "nodes": "%N", "start": "%S"}
        text = self.run("squeue", "-h", "--states=all", "--sort=i", *options, "-o", "|".join(keys.values()))
        actual = [dict(zip(keys, line.split("|"), strict=True)) for line in text.splitlines()]
        return [
            job
            for job in actual
            if (job["comment"] + "_").startswith(f"rule_{rule}_" if rule else "")
            and (folder is None or job["folder"] == str(folder))
        ]

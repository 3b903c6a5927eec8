"""Starts a command in several processes, one per GPU: by torchrun on one node, by srun and torchrun on several.

The general options of the command line (`stele --nodes 2 --gpus 4 --cpus 32 STAGE COMMAND`) give a job's resources.
Each process reads its rank from the environment that torchrun sets (`stele.training.processes.process_context`).
"""

import logging
import os
import shutil
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from stele.command.arguments import Job
from stele.command.parent_watch import JOB, identity
from stele.command.parse import parse
from stele.errors import SteleError
from stele.files.formats import amount

log = logging.getLogger(__name__)

DEVICES = "CUDA_VISIBLE_DEVICES"
ALLOCATED = "SLURM_GPUS_ON_NODE"  # number of GPUs on this node that SLURM gave to the job's step
RENDEZVOUS = "STELE_RENDEZVOUS"  # host:port where the torchruns of several nodes find each other
# passed on to the ranks; torchrun's list lacks the last
SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1")
# seconds that ranks may take to save their state after a signal; a scheduler that is to end sooner kills them itself
SHUTDOWN_TIMEOUT = 600


class Resources(Job):
    """Resources of a job: nodes, and on each node GPUs (0: none requested) and CPU threads."""

    nodes: Annotated[int, Field(ge=1)] = 1
    gpus: Annotated[int, Field(ge=0)] = 0
    cpus: Annotated[int, Field(ge=1)] = 1

    @property
    def processes_per_node(self) -> int:
        """Number of processes on each node: one per GPU, at least one."""
        return max(self.gpus, 1)

    @property
    def processes(self) -> int:
        return self.nodes * self.processes_per_node


def options(argv: Sequence[str]) -> tuple[Resources, list[str]]:
    """Splits a command line into its general options, which come before the stage, and the remaining words.

    >>> options(["--nodes", "2", "--gpus", "4", "pretraining", "pretrain", "--seed", "0"])
    (Resources(nodes=2, gpus=4, cpus=1), ['pretraining', 'pretrain', '--seed', '0'])
    """
    rest = list(argv)
    general: list[str] = []
    while rest and rest[0].startswith("-"):
        size = 1 if "=" in rest[0] else 2
        general, rest = [*general, *rest[:size]], rest[size:]
    return parse(Resources, general) or Resources(), rest


def visible() -> list[str]:
    """The GPUs that a process started here would see, as CUDA_VISIBLE_DEVICES names them."""
    named = [name.strip() for name in os.environ.get(DEVICES, "").split(",") if name.strip()]
    if os.environ.get("STELE_DEVICE") == "cpu":  # a rehearsal on a machine without GPUs
        return named
    from torch import cuda

    number = cuda.device_count()
    return named[:number] or [str(index) for index in range(number)]


def with_gpus(resources: Resources, trains: bool) -> Resources:
    """The job's resources with the GPUs that it really gets; hides all other visible GPUs from it.

    Raises SteleError if a SLURM job sees fewer GPUs than it requested, or more that are not all its own, or if a
    training sees fewer. Other jobs on one node use any available GPUs, or none, with a warning: this changes their
    speed, not their results.
    """
    requested = resources.gpus
    if not requested:
        return resources
    seen, in_slurm = visible(), JOB in os.environ
    whole_node = not in_slurm or os.environ.get(ALLOCATED) == str(len(seen))  # in some partitions
    if len(seen) == requested or (len(seen) > requested and whole_node):
        os.environ[DEVICES] = ",".join(seen[:requested])
        return resources
    if not (in_slurm or trains) and resources.nodes == 1:
        log.warning("%s requested, %d here: this will take longer", amount(requested, "GPU"), len(seen))
        os.environ[DEVICES] = ",".join(seen)
        return resources.model_copy(update={"gpus": len(seen)})
    what = f"{socket.gethostname()}: this job requested {amount(requested, 'GPU')} and sees {len(seen)}"
    what += f" ({DEVICES}={os.environ[DEVICES]})" if DEVICES in os.environ else ""
    if in_slurm:
        way = "look at what SLURM gave (scontrol show job), at the driver (nvidia-smi) and at the torch in use"
    else:
        way = "request the visible ones: `gpus: {RULE: NUMBER}` in cluster.yaml, 0 for none"
    raise SteleError(f"{what}; {way}")


def thread_environment(resources: Resources) -> dict[str, str]:
    """Environment variables that limit a process to its share of the node's CPU threads."""
    each = max(1, resources.cpus // resources.processes_per_node)
    names = dict.fromkeys(("OMP_NUM_THREADS", "RAYON_NUM_THREADS"), str(each))
    return {**names, "TOKENIZERS_PARALLELISM": "true" if each > 1 else "false"}


def launch(resources: Resources, command: Sequence[str], trains: bool) -> int:
    """Runs a command (stage, command, flags) in all its processes. Returns the exit code, 0 if all succeeded."""
    if resources.nodes > 1 and RENDEZVOUS not in os.environ:
        _on_nodes(resources, command)
    resources = with_gpus(resources, trains)
    # ranks end when this process ends
    os.environ |= {**thread_environment(resources), "STELE_DRIVER": identity(os.getpid())}
    os.environ.pop("STELE_WORKER", None)
    if resources.nodes > 1:
        if "TMPDIR" in os.environ:  # made on the first node only
            os.makedirs(os.environ["TMPDIR"], exist_ok=True)
        rendezvous = [f"--rdzv-id={os.environ['SLURM_JOB_ID']}", "--rdzv-backend=c10d", "--rdzv-conf=read_timeout=600"]
        rendezvous += [f"--nnodes={resources.nodes}", f"--rdzv-endpoint={os.environ.pop(RENDEZVOUS)}"]
    else:
        rendezvous = ["--standalone", "--local-addr=localhost"]  # on a free port
    return _torchrun([*rendezvous, f"--nproc-per-node={resources.processes_per_node}"], command)


def _on_nodes(resources: Resources, command: Sequence[str]) -> None:
    """Replaces this process by an srun that runs its command line once on each node; this host is the first node."""
    if "SLURM_JOB_ID" not in os.environ:
        raise SteleError(f"--nodes {resources.nodes}: several nodes need a SLURM job: snakemake --profile slurm")
    if not shutil.which("srun"):
        raise SteleError(
            f"--nodes {resources.nodes}: found no srun (a container has none); use one node, or load it in `setup`"
        )
    with socket.socket() as free:
        free.bind(("", 0))
        os.environ[RENDEZVOUS] = f"{socket.gethostname()}:{free.getsockname()[1]}"
    # if one node ends, all end
    step = [f"--nodes={resources.nodes}", f"--ntasks={resources.nodes}", "--ntasks-per-node=1", "--kill-on-bad-exit=1"]
    step += [f"--cpus-per-task={resources.cpus}", *([f"--gres=gpu:{resources.gpus}"] if resources.gpus else [])]
    again = ["--nodes", resources.nodes, "--gpus", resources.gpus, "--cpus", resources.cpus, *command]
    sys.stdout.flush(), sys.stderr.flush()
    os.execvp("srun", ["srun", *step, sys.executable, "-m", "stele", *map(str, again)])


def _torchrun(rendezvous: Sequence[str], command: Sequence[str]) -> int:
    """Runs torchrun in this process: it starts this node's ranks, forwards signals, and ends all if one fails."""
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing import SignalException
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
    from torch.distributed.elastic.rendezvous import RendezvousError

    logging.disable(logging.ERROR)  # hides torchrun's messages, which repeat the ranks' errors
    # without signals that nohup ignores
    handled = ",".join(name for name in SIGNALS if signal.getsignal(signal.Signals[name]) != signal.SIG_IGN)
    settings = ["--max-restarts=0", f"--signals-to-handle={handled}", f"--shutdown-timeout={SHUTDOWN_TIMEOUT}"]
    quiet = ["--log-dir", os.devnull]  # else torchrun leaves a temporary folder
    try:
        run.run(run.parse_args([*rendezvous, *settings, *quiet, "--module", "stele", *command]))
    except SignalException as error:
        return _failed(f"stopped by {error.sigval.name}", 128 + error.sigval)
    except ChildFailedError as error:  # torchrun has ended the others
        rank, first = error.get_first_failure()
        return _failed(f"process {rank} ended {_exit_reason(first.exitcode)}", 1)
    except RendezvousError as error:
        where = next(text for text in rendezvous if "endpoint" in text or text.startswith("--local")).partition("=")[2]
        return _failed(f"the processes did not find each other at {where}: {error}", 1)
    return 0


def _exit_reason(code: int) -> str:
    """Describes how a process ended by its exit code, which is the negative signal number after a signal.

    >>> _exit_reason(-9), _exit_reason(1)
    ('by SIGKILL', 'with exit code 1')
    """
    return f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"


def _failed(what: str, code: int) -> int:
    print(f"stele: error: {what}; all processes on {socket.gethostname()} have ended", file=sys.stderr, flush=True)
    return code

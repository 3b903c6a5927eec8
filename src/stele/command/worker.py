"""An optional local worker: it has libraries loaded, torch where a job needs it, and forks a child for each command.

The worker loads third-party packages at its start, and Stele's own modules once a child has needed them. A child runs
the code as it is on disk: where a file of it has changed since the worker's start, it imports all of Stele anew.
`python -m stele` asks the worker named in `STELE_WORKER` and runs the command itself when there is none.

Protocol over a Unix socket: the client (`hand_over.py`) sends its request (its length, then strings that zeros part:
its Python's folder, its process, package, cwd, number of arguments, arguments, environment) with its three standard
file descriptors, then one line per signal it is sent; the worker answers with the exit code, or declines a client of
another Python. A client that goes away takes its child with it. While a child runs, a file beside the socket says whose
it is (`child_of`).
"""

import contextlib
import gc
import importlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from stele.command.hand_over import DECLINED, FORWARDED, SIZE

PRELOAD = (  # for every rule; those that Stele's modules import at their top are loaded with these
    "numpy",
    "pyarrow.csv",
    "pyarrow.pandas_compat",
    "pyarrow.parquet",
    "pandas",
    "numba",
    "nltk.tokenize.punkt",
    "encodings.utf_8_sig",
    "yaml",
    "cyclopts.help",
    "matplotlib.figure",
    "matplotlib.backends.backend_svg",
    "matplotlib.backends.backend_pdf",
    "jinja2",
)
TORCH = (  # for rules whose environment is `torch`
    "torch",
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.models.xlm_roberta.modeling_xlm_roberta",
    "transformers.models.bert.modeling_bert",
    "transformers.models.bert.tokenization_bert",
    "transformers.models.xlm_roberta.tokenization_xlm_roberta",
    "transformers.models.longformer.modeling_longformer",
    "faiss",
)
REQUEST_TIMEOUT = 10.0  # seconds that a client may take to say what it wants


def start(modules: Iterable[str]) -> str:
    """Starts a worker that loads some modules and ends with this process; returns the path of its socket.

    The socket is in a folder of /tmp that only this user can access, since the path of a socket has 107 bytes at most.
    """
    from stele.command.parent_watch import identity

    path = Path(tempfile.mkdtemp(prefix="stele-", dir="/tmp")) / "worker"
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(str(path))
    server.listen(64)
    environment = {**os.environ, "STELE_DRIVER": identity(os.getpid()), "TOKENIZERS_PARALLELISM": "false"}
    environment.pop("STELE_WORKER", None)
    subprocess.Popen(
        [sys.executable, "-m", "stele.command.worker", str(path), str(server.fileno()), *modules],
        pass_fds=[server.fileno()],
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
    )
    server.close()
    return str(path)


def child_of(path: str, client: int) -> int | None:
    """Id of the process that the worker at `path` runs for a client's process; None if there is none."""
    try:
        return int(_file_of_child(path, client).read_text())
    except (OSError, ValueError):
        return None


def _file_of_child(path: str, client: int) -> Path:
    return Path(f"{path}-{client}")


def serve(server: socket.socket, modules: Iterable[str]) -> None:
    """Accepts commands for as long as the driver lives; one process, no threads, so that forking is safe."""
    from stele.command.parent_watch import alive, identity

    driver, worker = os.environ.get("STELE_DRIVER", ""), identity(os.getpid())
    files = [path for ending in ("py", "yaml") for path in Path(__file__).parents[2].glob(f"stele*/**/*.{ending}")]
    versions = {str(path): _version(path) for path in files}  # some modules read facts when they are imported
    _load_libraries(modules)
    clients: dict[socket.socket, int] = {}  # connection -> child
    children: dict[int, Path] = {}  # child -> the file that names it
    ends: dict[int, socket.socket] = {}  # process file descriptor -> connection
    needed, needs = os.pipe2(os.O_NONBLOCK)  # names of the modules that children have imported
    run = partial(_run, versions=versions, needs=needs)
    while not driver or alive(driver):
        ready, _, _ = select.select([server, *clients, *ends], [], [], 1.0)
        for item in ready:
            if item is server:
                connection, _ = server.accept()
                if request := _request(connection):
                    request[0].environment["STELE_DRIVER"] = worker  # a child ends with the worker, whatever ends that
                    child = _fork(*request, run, sockets=(server, connection, *clients), pidfds=ends)
                    clients[connection] = child
                    children[child] = _file_of_child(server.getsockname(), request[0].client)
                    with contextlib.suppress(OSError):  # a full disk: the job is measured by its client
                        children[child].write_text(str(child))
                    ends[os.pidfd_open(child)] = connection
                else:
                    connection.close()
            elif isinstance(item, socket.socket):
                if item in clients:
                    _forward(item, clients[item])
            elif item in ends:
                with contextlib.suppress(OSError):  # no reason to end, and all jobs with it
                    children.pop(clients[ends[item]]).unlink()
                _finish(item, ends.pop(item), clients)
                _import_needed(needed)
    for child in clients.values():
        _kill(child, signal.SIGKILL)
    for path in children.values():
        with contextlib.suppress(OSError):
            path.unlink()


def _load_libraries(modules: Iterable[str]) -> None:
    for name in modules:
        with contextlib.suppress(ImportError):  # an environment without this package: its commands say so themselves
            importlib.import_module(name)
    if "transformers" in sys.modules:  # its table of all families' weights, made at the first loading of any
        with contextlib.suppress(ImportError, AttributeError):
            importlib.import_module("transformers.conversion_mapping").get_checkpoint_conversion_mapping("bert")
    if "numba" in sys.modules:  # its tables of all functions' types, made at the first compiled function of ranx or any
        with contextlib.suppress(ImportError, AttributeError):
            target = importlib.import_module("numba.core.registry").cpu_target
            target.typing_context.refresh()
            target.target_context.refresh()
    gc.freeze()  # a child's collections leave what is loaded here alone: else they copy all of its pages


class Request(NamedTuple):
    """What a client's process asks for: the command line of a package, in a folder and an environment."""

    package: str
    argv: list[str]
    folder: str
    environment: dict[str, str]
    client: int


def _request(connection: socket.socket) -> tuple[Request, list[int]] | None:
    """A client's request and file descriptors; None if it disconnected or uses another Python."""
    descriptors: list[int] = []
    try:
        connection.settimeout(REQUEST_TIMEOUT)
        message, descriptors, _, _ = socket.recv_fds(connection, 1 << 16, 3)
        while len(message) < SIZE or len(message) < SIZE + int.from_bytes(message[:SIZE], "big"):
            part = connection.recv(1 << 16)
            if not part:
                raise EOFError
            message += part
        prefix, client, package, folder, number, *rest = map(os.fsdecode, message[SIZE:].split(b"\0"))
        if prefix == sys.prefix:
            connection.settimeout(None)
            environment = dict(variable.split("=", 1) for variable in rest[int(number) :])
            return Request(package, rest[: int(number)], folder, environment, int(client)), descriptors
        connection.sendall(DECLINED)
    except (OSError, EOFError, ValueError):
        pass
    for descriptor in descriptors:
        os.close(descriptor)
    return None


def _version(path: str | Path) -> tuple[int, int]:
    """Time of change (nanoseconds) and size (bytes) of a file; zeros if it is gone."""
    try:
        stat = os.stat(path)
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_size


def _own_modules() -> set[str]:
    """Names of Stele's own modules that are loaded."""
    return {name for name in sys.modules if name.partition(".")[0] in ("stele", "stele_world")}


def _drop_changed(versions: Mapping[str, tuple[int, int]]) -> None:
    """Drops all of Stele's modules if a file has changed, so that they are imported as they are on disk."""
    if any(_version(path) != version for path, version in versions.items()):
        for name in _own_modules():
            del sys.modules[name]
        importlib.invalidate_caches()


def _import_needed(needed: int) -> None:
    """Imports the modules of Stele that children have needed, so that later children have them."""
    with contextlib.suppress(BlockingIOError):  # a killed child has written no names
        for name in os.read(needed, 1 << 20).decode().split():
            with contextlib.suppress(Exception):  # a file that was edited meanwhile: its next child tells the error
                importlib.import_module(name)
        with contextlib.suppress(Exception):  # as above: an error of these is for the child that needs them
            if records := sys.modules.get("stele.artifacts.records"):
                records.software()  # else each child asks git and reads the packages' metadata
            if metrics := sys.modules.get("stele.evaluation.ranx_metrics"):
                metrics.metrics_of_ranx()
            if parsing := sys.modules.get("stele.command.parse"):  # fills what cyclopts and pydantic remember
                parsing.parse(importlib.import_module("stele.command.arguments").ResumableJob, ["--state", "state"])
        gc.freeze()


def _fork(
    request: Request,
    descriptors: Sequence[int],
    run: Callable[[Request], int],
    sockets: Sequence[socket.socket],
    pidfds: Iterable[int],
) -> int:
    """Forks the child that runs a request; returns its process id. Sockets and pidfds are the worker's alone."""
    child = os.fork()
    if child:
        for descriptor in descriptors:
            os.close(descriptor)
        return child
    code = 1
    try:
        os.setsid()
        for number in FORWARDED:
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for connection in sockets:
            connection.close()
        for descriptor in pidfds:
            os.close(descriptor)
        for target, descriptor in enumerate(descriptors):
            os.dup2(descriptor, target)
            os.close(descriptor)
        code = run(request)
    except BaseException as error:  # the child must never return into the worker's loop
        code = _exit_code(error)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _run(request: Request, versions: Mapping[str, tuple[int, int]], needs: int) -> int:
    """Runs a request's command, and writes the names of the modules of Stele that it has imported to a pipe."""
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    sys.argv = [request.package, *request.argv]
    _drop_changed(versions)
    loaded = _own_modules()
    try:
        from stele.command.cli import main

        return main(request.argv, request.package)
    finally:
        with contextlib.suppress(BlockingIOError):  # a full pipe: another child tells
            for name in sorted(_own_modules() - loaded):
                os.write(needs, f"{name}\n".encode())


def _exit_code(error: BaseException) -> int:
    if isinstance(error, SystemExit):
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
            return 1
        return error.code or 0
    import traceback

    traceback.print_exception(error)
    return 130 if isinstance(error, KeyboardInterrupt) else 1


def _forward(connection: socket.socket, child: int) -> None:
    """Forwards a client's signals to its child, and kills the child if the client has disconnected."""
    received = connection.recv(64)
    if not received:
        _kill(child, signal.SIGKILL)
    for number in received.split():
        _kill(child, int(number))


def _finish(descriptor: int, connection: socket.socket, clients: dict[socket.socket, int]) -> None:
    """Answers a client with the exit code of its child (128 + signal for a killed one)."""
    child = clients.pop(connection)
    _, status = os.waitpid(child, 0)
    os.close(descriptor)
    code = os.waitstatus_to_exitcode(status)
    with contextlib.suppress(OSError):  # the client may be gone: nobody to tell
        connection.sendall(b"%d\n" % (code if code >= 0 else 128 - code))
    connection.close()


def _kill(child: int, number: int) -> None:
    """Signals the child's whole group: a command's own children go with it."""
    for send in (os.killpg, os.kill):
        try:
            send(child, number)
            return
        except ProcessLookupError:
            time.sleep(0)  # not yet leader of its group: signal the process itself


if __name__ == "__main__":
    path, descriptor = Path(sys.argv[1]), int(sys.argv[2])
    try:
        serve(socket.socket(fileno=descriptor), sys.argv[3:])
    finally:
        path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            path.parent.rmdir()

"""The local worker: the same command with and without it, signals and deaths passed on."""

import _signal
import _socket
import gc
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from stele.command import hand_over, worker
from stele.command.parent_watch import identity
from stele.command.worker import child_of
from tests.waiting import PATIENCE, wait_for

PROBE = '''"""A command for the tests."""
import os, sys, time
from stele.command.arguments import Job
class Probe(Job):
    sleep: float = 0
    code: int = 0
def run(args: Probe) -> None:
    print("torch" in sys.modules, os.getcwd(), os.environ.get("MARK"), flush=True)
    print("to stderr", file=sys.stderr, flush=True)
    if args.sleep: open("running", "w").write(str(os.getpid()))
    time.sleep(args.sleep)
    if args.sleep: open("finished", "w").close()
    if args.code: sys.exit(args.code)
'''


@pytest.fixture
def tree(tmp_path, root):
    """A copy of both packages with a command `probe`."""
    source = tmp_path / "src"
    subprocess.run(["cp", "-r", str(root / "src"), str(source)], check=True)
    for folder in ("stele/sources", "stele_world"):
        (source / folder / "probe.py").write_text(PROBE)
    return tmp_path


@pytest.fixture
def environment(tree, request):
    """The environment of clients of a running worker, whose driver is a process of this fixture.

    Its TMPDIR has as many more characters as the test's parameter says.
    """
    temporary = tree / ("t" * getattr(request, "param", 1))
    temporary.mkdir()
    env = {**os.environ, "PYTHONPATH": str(tree / "src"), "MARK": "mine", "TMPDIR": str(temporary)}
    env.pop("STELE_DRIVER", None)
    code = "import time; from stele.command.worker import start; print(start(['json']), flush=True); time.sleep(900)"
    driver = subprocess.Popen([sys.executable, "-c", code], env=env, stdout=subprocess.PIPE, text=True)
    yield {**env, "STELE_WORKER": driver.stdout.readline().strip(), "DRIVER": str(driver.pid)}
    driver.kill()
    driver.wait()


def stele(env, cwd, *arguments, call=("stele", "sources")):
    command = [sys.executable, "-m", *call, "probe", *arguments]
    return subprocess.Popen(command, env=env, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize(("code", "call"), [(0, ["stele", "sources"]), (3, ["stele_world"])])
def test_the_same_with_and_without(tree, environment, code, call):
    alone = {k: v for k, v in environment.items() if k != "STELE_WORKER"}
    results = []
    for env in (environment, alone):
        process = stele(env, tree, "--code", str(code), call=call)
        results.append((*process.communicate(timeout=PATIENCE), process.returncode))
    assert results[0] == results[1]
    assert results[0] == (f"False {tree} mine\n", "to stderr\n", code)


def test_code_is_loaded_once_and_anew_after_an_edit(tree, environment):
    """The edited file is one that the command imports: what imported it is loaded anew, too."""
    probe, constants = (tree / "src/stele/sources" / name for name in ("probe.py", "probed.py"))
    probe.write_text(PROBE + "from stele.sources.probed import TEXT\nprint('loaded', TEXT, flush=True)\n")
    printed = []
    for text in ("first", None, "second", "third"):
        if text:
            constants.write_text(f"TEXT = {text!r}\n")
        printed.append(stele(environment, tree).communicate(timeout=PATIENCE)[0].partition("False")[0])
    assert printed == ["loaded first\n", "", "loaded second\n", "loaded third\n"]


def test_the_software_is_read_once_and_anew_after_an_edit(tree, environment):
    probe = tree / "src/stele/sources/probe.py"
    counted = "    from stele.artifacts.records import software\n    print(software.cache_info().currsize)\n"
    read = []
    for code in (PROBE + counted, None, PROBE + counted + "    print()\n"):
        if code:
            probe.write_text(code)
        read.append(stele(environment, tree).communicate(timeout=PATIENCE)[0].split()[-1])
    assert read == ["0", "1", "0"]


def test_many_at_once(tree, environment):
    processes = [stele(environment, tree, "--code", str(n)) for n in range(8)]
    assert [p.wait(timeout=PATIENCE) for p in processes] == list(range(8))


@pytest.mark.parametrize("victim", ["client", "worker", "driver"])
def test_no_orphan_still_writes(tree, environment, victim):
    process = stele({**environment, "STELE_DRIVER": identity(os.getpid())}, tree, "--sleep", str(PATIENCE))
    wait_for((tree / "running").exists)
    child = Path("/proc", wait_for((tree / "running").read_text))
    worker = psutil.Process(int(child.name)).ppid()
    os.kill({"client": process.pid, "worker": worker, "driver": int(environment["DRIVER"])}[victim], signal.SIGKILL)
    wait_for(lambda: not child.exists(), "the end of the child")
    assert not (tree / "finished").exists()
    process.kill()


def test_a_child_is_known_by_its_client_for_as_long_as_it_runs(tree, environment):
    path = environment["STELE_WORKER"]
    process = stele(environment, tree, "--sleep", str(PATIENCE))
    wait_for((tree / "running").exists)
    assert child_of(path, process.pid) == int(wait_for((tree / "running").read_text))
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=PATIENCE) == 128 + signal.SIGTERM, "a signal reaches the child"
    assert child_of(path, process.pid) is None


def test_clients_that_die_before_they_have_said_what_they_want_or_say_something_else_disturb_nobody(tree, environment):
    prefix = os.fsencode(sys.prefix)
    strings = (b"", b"stele", prefix + b"\0one\0stele\0/\0" + b"0", prefix + b"\0" + b"1\0stele\0/\0" + b"0\0no value")
    for message in (b"", b"\0", *(len(text).to_bytes(hand_over.SIZE, "big") + text for text in strings)):
        client = socket.socket(socket.AF_UNIX)
        client.connect(environment["STELE_WORKER"])
        client.sendall(message)
        client.close()
    process = stele(environment, tree, "--nonsense")
    assert process.wait(timeout=PATIENCE) == 2 and "--nonsense" in process.stderr.read()
    assert Path(environment["STELE_WORKER"]).is_socket(), "the worker lives"


def test_code_that_cannot_be_prepared_ends_no_worker(monkeypatch):
    """As after an edit: the child that needs it tells the error."""
    monkeypatch.setitem(sys.modules, "stele.artifacts.records", SimpleNamespace(software=lambda: 1 / 0))
    read, write = os.pipe()
    os.write(write, b"json\n")
    worker._import_needed(read)
    gc.unfreeze()


@pytest.mark.parametrize(("prefix", "answer"), [(sys.prefix, "3"), ("/elsewhere", "None")])
def test_a_client_of_another_python_runs_its_command_itself(tree, environment, prefix, answer):
    """The worker has the packages of its own environment; another one may have others."""
    asking = "print(hand_over(os.environ['STELE_WORKER'], ['sources', 'probe', '--code', '3']))"
    code = f"import os, sys; from stele.command.hand_over import hand_over; sys.prefix = {prefix!r}; {asking}"
    done = subprocess.run([sys.executable, "-c", code], env=environment, cwd=tree, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == answer, done.stderr


def test_a_worker_that_declines_at_once_is_no_broken_pipe(tmp_path, monkeypatch):
    """It may have hung up before the client has looked whether anything is left to send."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "worker"))
        server.listen()

        class SlowClient(_socket.socket):
            def sendmsg(self, *given):
                sent = super().sendmsg(*given)
                connection, _ = server.accept()
                message, _, _, _ = connection.recvmsg(1 << 20, 1 << 10)
                assert len(message) == sent
                connection.sendall(hand_over.DECLINED)
                connection.close()
                return sent

        monkeypatch.setattr(_socket, "socket", SlowClient)
        monkeypatch.setattr(_signal, "signal", lambda *given: None)
        assert hand_over.hand_over(str(tmp_path / "worker"), ["sources", "probe"]) is None


def test_without_a_worker_the_command_runs_by_itself(tree, environment):
    process = stele({**environment, "STELE_WORKER": str(tree / "nobody")}, tree)
    assert process.wait(timeout=PATIENCE) == 0


@pytest.mark.parametrize("environment", [1, 130], indirect=True)
def test_a_tmpdir_too_long_for_a_socket_has_a_worker_too(environment, tree):
    assert (len(environment["STELE_WORKER"]) <= 107) and Path(environment["STELE_WORKER"]).is_socket()
    process = stele(environment, tree)
    assert process.communicate(timeout=PATIENCE)[0] == f"False {tree} mine\n" and process.returncode == 0
    assert Path(environment["STELE_WORKER"]).parent.stat().st_mode & 0o77 == 0, "nobody else may give it commands"

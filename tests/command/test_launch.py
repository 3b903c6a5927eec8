"""The launcher: what each of several processes is given and says, and that none outlives the others."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from stele import __main__
from stele.command import cli, launch
from stele.command.parent_watch import identity
from stele.errors import SteleError
from tests.waiting import PATIENCE, wait_for

# a command that several processes share, in place of the real one; --fail is what the second process does
PROBE = '''"""A command for the tests."""
import json, logging, os, pathlib, time
from stele.command.arguments import Job
from stele.errors import SteleError
class Probe(Job):
    fail: str = ""
    sleep: float = 0
def run(args: Probe) -> None:
    log, rank = logging.getLogger(__name__), os.environ["RANK"]
    log.info("begins"), log.warning("is warm")
    made = pathlib.Path(f"made.{rank}.json")
    made.with_suffix(".part").write_text(json.dumps({"pid": os.getpid(), "parent": os.getppid(), **os.environ}))
    made.with_suffix(".part").rename(made)
    if rank == "1" and args.fail == "mend":
        while not pathlib.Path("made.0.json").exists():  # the first one is killed as soon as this one fails
            time.sleep(0.02)
        raise SteleError("the second shard is damaged")
    time.sleep(900 if args.fail else args.sleep)
'''


@pytest.fixture(scope="module")
def tree(tmp_path_factory, root):
    """A copy of the package in which `retrieval retrieve` is the probe."""
    folder = tmp_path_factory.mktemp("tree")
    subprocess.run(["cp", "-r", str(root / "src"), str(folder)], check=True)
    (folder / "src/stele/retrieval/retrieve.py").write_text(PROBE)
    return folder


@pytest.fixture
def start(tree, tmp_path):
    """start(*arguments, **variables) -> the command in two processes, in a folder of the test."""
    started = []

    def run(*arguments, folder=tmp_path, gpus="0,1", **variables):
        variables = {"PYTHONPATH": str(tree / "src"), "STELE_DEVICE": "cpu", launch.DEVICES: gpus, **variables}
        command = [sys.executable, "-m", "stele", "--gpus", "2", "--cpus", "6", "retrieval", "retrieve", *arguments]
        folder.mkdir(exist_ok=True)
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("STELE_", "SLURM_"))} | variables
        with (folder / "log").open("w") as log:
            started.append(subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.wait()


def ranks(folder, number=2):
    """What each process found in its environment, once all are there."""
    wait_for(lambda: len(list(folder.glob("made.*.json"))) == number, "a process", (folder / "log").read_text)
    return [json.loads(path.read_text()) for path in sorted(folder.glob("made.*.json"))]


def gone(pids):
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids), "the end of all")


@pytest.mark.parametrize("argv", [["--nodes", "0"], ["--gpus", "x"], ["--cpus", "-1"], ["--gpu", "1"]])
def test_a_wrong_number_or_option_is_wrong_usage(argv, capsys):
    assert cli.main([*argv, "tables", "manifest"]) == 2
    assert argv[0] in capsys.readouterr().err


def test_the_local_worker_is_for_one_process(monkeypatch, capsys):
    handed = []
    monkeypatch.setenv("STELE_WORKER", "/nowhere")
    monkeypatch.setattr("stele.command.hand_over.hand_over", lambda path, argv, package: handed.append(argv) or 7)
    for gpus, code in (("1", 7), ("2", 2)):
        monkeypatch.setattr(sys, "argv", ["stele", "--gpus", gpus, "tables", "nonsense"])
        assert __main__.main() == code
    assert handed == [["--gpus", "1", "tables", "nonsense"]] and "nonsense" in capsys.readouterr().err


def test_a_command_that_is_not_for_several_processes_is_refused(capsys):
    assert cli.main(["--gpus", "2", "cluster", "cancel"]) == 1
    rules = "pretrain, finetune, retrieve, encode_collection, hard_negatives"
    assert f"cancel runs in one process; several can share {rules}" in capsys.readouterr().err


def test_a_command_in_one_process_starts_without_the_catalogue():
    """What is true of rules is read by those that several processes share: a start takes no parser of YAML."""
    code = "import stele.__main__, stele.command.cli, sys; print({'yaml', 'pydantic', 'torch'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "set()"


@pytest.fixture
def sees(monkeypatch):
    """sees(names, in_slurm=...): a process that sees such GPUs, in a job of a rule, or where one types a command in."""

    def call(given, in_slurm=False):
        variables = {"STELE_DEVICE": "cpu", launch.DEVICES: given, "SLURM_JOB_ID": "7"}
        for name in (launch.JOB, "SLURM_GPUS_ON_NODE"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {**variables, **({launch.JOB: "1"} if in_slurm else {})}.items():
            monkeypatch.setenv(name, value)

    return call


@pytest.mark.parametrize(
    ("given", "requested", "in_slurm", "left"),
    [
        ("0,1", 2, True, "0,1"),
        ("2, 3,5", 2, False, "2,3"),
        ("0,1", 0, True, "0,1"),
        ("0", 2, False, "requested 2 GPUs and sees 1 (CUDA_VISIBLE_DEVICES=0); request the visible ones"),
        ("", 1, True, "requested 1 GPU and sees 0"),
        ("0,1,2,3", 2, True, "requested 2 GPUs and sees 4 (CUDA_VISIBLE_DEVICES=0,1,2,3); look at what SLURM gave"),
    ],
)
def test_the_gpus_that_are_seen_are_those_that_were_asked_for(sees, given, requested, in_slurm, left):
    sees(given, in_slurm)
    resources = launch.Resources(gpus=requested)
    if "sees" in left:
        with pytest.raises(SteleError, match=re.escape(left)):
            launch.with_gpus(resources, trains=True)
    else:
        assert launch.with_gpus(resources, trains=True) == resources
        assert os.environ[launch.DEVICES] == left


def test_where_slurm_gives_whole_nodes_a_job_takes_what_it_asked_for(monkeypatch, sees):
    """All four are its own; on a node that is shared without isolation the others are of other jobs."""
    sees("0,1,2,3", in_slurm=True)
    monkeypatch.setenv("SLURM_GPUS_ON_NODE", "1")
    with pytest.raises(SteleError, match="requested 1 GPU and sees 4"):
        launch.with_gpus(launch.Resources(gpus=1), trains=True)
    monkeypatch.setenv("SLURM_GPUS_ON_NODE", "4")
    assert launch.with_gpus(launch.Resources(gpus=1), trains=True) == launch.Resources(gpus=1)
    assert os.environ[launch.DEVICES] == "0"


@pytest.mark.parametrize(("given", "there"), [("0", 1), ("", 0)])
def test_what_does_not_train_takes_the_gpus_that_are_there(sees, caplog, given, there):
    sees(given)
    assert launch.with_gpus(launch.Resources(gpus=2, cpus=8), trains=False) == launch.Resources(gpus=there, cpus=8)
    assert os.environ[launch.DEVICES] == given
    assert f"2 GPUs requested, {there} here: this will take longer" in caplog.text
    with pytest.raises(SteleError, match=f"requested 2 GPUs and sees {there}"):  # a node that others would wait for
        launch.with_gpus(launch.Resources(nodes=2, gpus=2), trains=False)
    sees(given, in_slurm=True)
    with pytest.raises(SteleError, match=f"requested 2 GPUs and sees {there}"):
        launch.with_gpus(launch.Resources(gpus=2), trains=False)


@pytest.mark.parametrize(("given", "left"), [(None, "0,1"), ("4,5,6", "4,5"), ("0,1,2,9", "0,1")])
def test_real_gpus_are_counted_by_torch(monkeypatch, sees, given, left):
    """Three are there; of the names that are given, torch takes those that it finds."""
    sees(given or "")
    for name in ("STELE_DEVICE", *([] if given else [launch.DEVICES])):
        monkeypatch.delenv(name)
    monkeypatch.setattr("torch.cuda.device_count", lambda: 3)
    launch.with_gpus(launch.Resources(gpus=2), trains=True)
    assert os.environ[launch.DEVICES] == left
    with pytest.raises(SteleError, match="requested 4 GPUs and sees 2"):
        monkeypatch.setattr("torch.cuda.device_count", lambda: 2)
        launch.with_gpus(launch.Resources(gpus=4), trains=True)


def test_two_jobs_at_once_each_with_its_own_two_processes(start, tmp_path):
    folders = [tmp_path / "one", tmp_path / "two"]
    processes = [start("--sleep", "2", folder=folder, STELE_WORKER="/nowhere") for folder in folders]
    assert [process.wait(PATIENCE) for process in processes] == [0, 0]
    for folder, process in zip(folders, processes, strict=True):
        actual = ranks(folder)
        assert [each["RANK"] for each in actual] == ["0", "1"] and {each["WORLD_SIZE"] for each in actual} == {"2"}
        for each in actual:
            assert each["parent"] == process.pid and each["STELE_DRIVER"].startswith(f"{process.pid}:")
            assert each["OMP_NUM_THREADS"] == each["RAYON_NUM_THREADS"] == "3"
            assert each["TOKENIZERS_PARALLELISM"] == "true" and "STELE_WORKER" not in each
            assert each["HF_HUB_OFFLINE"] == os.environ["HF_HUB_OFFLINE"]
        output = (folder / "log").read_text().splitlines()
        assert sorted(output) == ["begins", "is warm", "process 1: is warm"]
    assert ranks(folders[0])[0]["MASTER_PORT"] != ranks(folders[1])[0]["MASTER_PORT"]


def test_an_error_of_one_process_is_said_plainly_and_ends_all(start, tmp_path):
    assert start("--fail", "mend").wait(PATIENCE) == 1
    output = (tmp_path / "log").read_text()
    assert "stele: process 1: error: the second shard is damaged\n" in output
    assert "stele: error: process 1 ended with exit code 1; all processes on " in output
    assert "Traceback" not in output and "====" not in output
    gone([each["pid"] for each in ranks(tmp_path)])


@pytest.mark.parametrize("victim", ["rank", "launcher", "driver"])
def test_kill_9_leaves_nobody(start, tmp_path, victim):
    driver = subprocess.Popen(["sleep", str(PATIENCE)])
    try:
        process = start("--fail", "sleeping", STELE_DRIVER=identity(driver.pid))
        pids = [each["pid"] for each in ranks(tmp_path)]
        os.kill({"rank": pids[1], "launcher": process.pid, "driver": driver.pid}[victim], signal.SIGKILL)
        if victim == "driver":
            driver.wait()
        assert process.wait(PATIENCE) == {"rank": 1, "launcher": -signal.SIGKILL, "driver": 137}[victim]
        gone(pids)
    finally:
        driver.kill()
        driver.wait()
    if victim == "rank":
        assert "process 1 ended by SIGKILL" in (tmp_path / "log").read_text()


def test_where_two_gpus_are_not_there_slurms_job_starts_nothing_and_a_search_elsewhere_one_process(start, tmp_path):
    assert start(gpus="0", **{launch.JOB: "1"}).wait(PATIENCE) == 1
    assert "requested 2 GPUs and sees 1" in (tmp_path / "log").read_text() and not list(tmp_path.glob("made*"))
    assert start(gpus="").wait(PATIENCE) == 0
    (alone,) = ranks(tmp_path, 1)
    assert alone["WORLD_SIZE"] == "1" and alone[launch.DEVICES] == "" and alone["OMP_NUM_THREADS"] == "6"
    assert "2 GPUs requested" in (tmp_path / "log").read_text()


def test_several_nodes_take_one_srun_with_the_same_command_on_each(tmp_path, monkeypatch):
    """The second time, started by srun, it is told where the nodes meet, and looks at its own GPUs."""
    srun = tmp_path / "srun"
    srun.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" "meeting $STELE_RENDEZVOUS" > {tmp_path}/called\nexit 3\n')
    srun.chmod(0o755)
    variables = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "STELE_DEVICE": "cpu", launch.DEVICES: "0"}
    flags = ["benchmark", "languages", "encoder", "data", "state", "output"]
    line = ["retrieval", "retrieve", *(word for flag in flags for word in (f"--{flag}", "x"))]
    command = ["--nodes", "2", "--gpus", "2", "--cpus", "6", *line]

    def run(**more):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_")} | variables | more
        return subprocess.run(
            [sys.executable, "-m", "stele", *command], env=environment, capture_output=True, text=True, check=False
        )

    outside = run()
    assert outside.returncode == 1 and "several nodes need a SLURM job" in outside.stderr
    assert run(SLURM_JOB_ID="7").returncode == 3
    *called, meeting = (tmp_path / "called").read_text().splitlines()
    assert called[called.index(sys.executable) :] == [sys.executable, "-m", "stele", *command]
    options = {"--nodes=2", "--ntasks=2", "--ntasks-per-node=1", "--cpus-per-task=6", "--gres=gpu:2"}
    assert options <= set(called) and int(meeting.rpartition(":")[2]) > 0
    inside = run(SLURM_JOB_ID="7", STELE_RENDEZVOUS="somewhere:1")
    assert inside.returncode == 1 and "requested 2 GPUs and sees 1" in inside.stderr


def test_processes_without_gpus_know_each_other(tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    variables = {"WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    variables |= {launch.DEVICES: ""}
    text = "from stele.training.processes import process_context as own; print(own().rank, own().world)"

    def start(rank):
        environment = {k: v for k, v in os.environ.items() if k != "STELE_DEVICE"} | variables
        environment |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        return subprocess.Popen([sys.executable, "-c", text], env=environment, stdout=subprocess.PIPE, text=True)

    running = [start(rank) for rank in range(2)]
    assert [process.communicate(timeout=PATIENCE)[0].split() for process in running] == [["0", "2"], ["1", "2"]]

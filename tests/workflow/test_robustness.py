"""Laws 3, 4 and 8 on the short chain: kill -9 and go on, the same bytes, damage named and nothing lost."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from stele.files.atomic import MARK
from tests.cluster.edits import before
from tests.waiting import PATIENCE, wait_for
from tests.workflow.conftest import TABLE, clone, copy_project, environment, outputs, planned, shell, shorten, snakemake


def start(project, *arguments):
    """A run as a shell starts it in the background, with SIGINT ignored."""
    command = [sys.executable, "-m", "snakemake", *arguments]
    return subprocess.Popen(
        ["bash", "-c", 'trap "" INT; exec "$@"', "bash", *command],
        cwd=project,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def living_jobs(project):
    """Processes of Stele that work in this folder."""
    collected = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                command = Path(f"/proc/{entry.name}/cmdline").read_text()
                if os.readlink(f"/proc/{entry.name}/cwd") == str(project) and "stele" in command:
                    collected.append((entry.name, command))
            except OSError:
                continue
    return collected


@pytest.mark.slow
def test_kill_9_and_the_same_command_goes_on_to_the_same_bytes(root, chain, tmp_path):
    project = shorten(copy_project(root, tmp_path / "stele"))
    # what is built before the stages that are killed is taken from the built chain: its times say so
    for folder in ("resources", "work", ".snakemake"):
        subprocess.run(["cp", "-a", str(chain / folder), str(project / folder)], check=True)
    for folder in ("encoders", "finetuned"):
        shutil.rmtree(project / "work/tiny" / folder)
    states = [project / "state/tiny" / stage for stage in ("pretrain", "finetune")]
    for state in states:
        driver = start(project, TABLE)
        wait_for(lambda state=state: any(path.is_file() and path.name != MARK for path in state.rglob("*")))
        driver.kill()  # the driver alone: its jobs must notice
        driver.wait()
        wait_for(lambda: not living_jobs(project))
    run = snakemake(project, TABLE)
    assert run.returncode == 0, run.stdout[-4000:]
    assert "its locks are removed" in run.stdout
    assert outputs(project) == outputs(chain)
    left = [path for state in states for path in state.rglob("*") if path.is_file()]
    assert not left, "the state goes when the job is done"


def test_the_manifest_that_a_killed_run_did_not_write_is_written_by_the_next(built):
    """Killed after its last job, it leaves nothing to be done, so that no hook is called."""
    manifest = built / "results/manifest.json"
    before = manifest.read_bytes()
    manifest.write_text("{}")
    for name, text in {
        "locks/0.output.lock": TABLE,
        "stele-drivers/a.json": json.dumps({"process": f"999999:1@{socket.gethostname()}/x", "folder": str(built)}),
    }.items():
        (path := built / ".snakemake" / name).parent.mkdir(exist_ok=True)
        path.write_text(text)
    snakemake(built, "-n", TABLE)  # leaves the locks, by which the run knows of it
    run = snakemake(built, TABLE)
    assert run.returncode == 0 and "Nothing to be done" in run.stdout
    assert manifest.read_bytes() == before


def test_a_damaged_download_is_named_and_nothing_is_lost(built):
    mirrored = next((built / "resources/tiny/mirror").rglob("xor_dev_retrieve*"))
    data = bytearray(mirrored.read_bytes())
    data[len(data) // 2] ^= 1
    times = mirrored.stat()
    mirrored.write_bytes(bytes(data))
    os.utime(mirrored, ns=(times.st_atime_ns, times.st_mtime_ns))
    record = next((built / "resources/tiny/datasets").glob("xor_tydi/all/record.json"))
    before = outputs(built)
    record.unlink()
    run = snakemake(built, str(record.relative_to(built)))
    assert run.returncode != 0
    assert mirrored.name in run.stdout and "sha256" in run.stdout
    assert not record.exists()
    assert outputs(built) == before, "no table waits for this target, so none is touched"


def test_a_checkout_in_a_folder_of_any_name_builds_the_same_with_the_worker(chain, tmp_path):
    project = clone(chain, tmp_path / "a b {x} $HOME & 'q\" %j é")
    before(project / "src/stele/tables/table.py", 'import sys; open("worker", "w").write(str("nltk" in sys.modules))')
    for path in (TABLE, "results/xor_retrieve/msm/zero_shot_nq.json"):  # of one job no worker would be started
        (project / path).unlink()
    run = snakemake(project, TABLE)
    assert run.returncode == 0, run.stdout[-4000:]
    assert (project / "worker").read_text() == "True", "the worker has it loaded"
    assert outputs(project) == outputs(chain)


def broken(module):
    """Makes a command fail; returns how it was."""
    good = module.read_text()
    (head,) = re.findall(r"^def run\(args: \w+\) -> None:\n", good, re.M)
    module.write_text(good.replace(head, head + "    raise SystemExit('broken on purpose')\n"))
    return good


def test_a_failed_row_still_renders_and_the_next_run_builds_the_table(built):
    module = built / "src/stele/scoring/score.py"
    good = broken(module)
    shutil.rmtree(built / "results/xor_retrieve")
    run = snakemake(built, TABLE)
    assert run.returncode != 0
    assert "broken on purpose" in run.stdout, "the failed job's last log lines are shown"
    table = (built / TABLE).read_text()
    assert "failed" in table and r"score/xor\_retrieve.msm" in table
    assert (built / TABLE).stat().st_mtime < 10
    module.write_text(good)
    assert "table" in planned(built, TABLE)
    assert snakemake(built, TABLE).returncode == 0
    assert "broken" not in (built / TABLE).read_text()


def test_a_job_that_fails_far_upstream_fails_the_row_and_its_old_result_is_not_shown(built):
    before = (built / TABLE).read_text()
    module = built / "src/stele/pairs/mine.py"
    good = broken(module)
    assert snakemake(built, TABLE).returncode != 0
    assert (built / "results/xor_retrieve/msm/zero_shot_nq.json").exists()
    table = (built / TABLE).read_text()
    assert "failed" in table and "mine/" in table and not re.search(r"\d measured", table)
    module.write_text(good)
    assert "table" in planned(built, TABLE)
    # and where the old results are accepted, they are shown
    assert snakemake(built, "--touch", TABLE).returncode == 0
    assert planned(built, TABLE) == {}
    assert (built / TABLE).read_text() == before


def test_a_touch_does_not_make_an_unfinished_table_a_finished_one(built):
    (built / "src/stele/scoring/score.py").open("a").write("\nCHANGED = True\n")
    result = built / "results/xor_retrieve/msm/zero_shot_nq.json"
    result.unlink()
    assert snakemake(built, "--touch", TABLE).returncode == 0
    assert {"average", "table"} <= set(planned(built, TABLE))
    assert "not run" in (built / TABLE).read_text()
    assert snakemake(built, TABLE).returncode == 0
    assert result.exists() and planned(built, TABLE) == {}


def test_a_second_scale_is_refused_when_a_run_starts_not_by_n(built):
    assert snakemake(built, "-n", TABLE, "--config", "scale=miniature").returncode == 0
    run = snakemake(built, TABLE, "--config", "scale=miniature")
    assert run.returncode != 0
    assert "results_dir=" in run.stdout and "remove" in run.stdout


@pytest.fixture
def waiting(built):
    """waiting(first) -> a driver whose one job runs a line of code and waits for a file `go`; killed in the end."""
    drivers = []

    def run(first="pass"):
        (built / "results/tables/msm/table_10.md").unlink()
        (built / "src/stele/tables/table.py").open("a").write(
            f"\nimport os, signal, time\n\n_run = run\n\n\ndef run(args: Table):\n    {first}\n"
            "    open('waits', 'w').close()\n"
            "    while not os.path.exists('go'):\n        time.sleep(0.1)\n    _run(args)\n"
        )
        drivers.append(start(built, TABLE))
        wait_for((built / "waits").exists)
        return drivers[-1]

    yield run
    for driver in drivers:
        os.killpg(driver.pid, signal.SIGKILL) if driver.poll() is None else None


def test_a_living_driver_keeps_its_locks(built, waiting):
    driver = waiting()
    assert any((built / ".snakemake/locks").glob("*")) and any((built / ".snakemake/stele-drivers").glob("*"))
    second = snakemake(built, TABLE)
    assert second.returncode != 0 and "cannot be locked" not in second.stdout
    assert re.search(rf"another run \(process {driver.pid} on \S+, since [\d: -]+\) builds", second.stdout)
    (built / "go").touch()
    assert driver.wait(timeout=PATIENCE) == 0


DEAF = "signal.signal(signal.SIGINT, signal.SIG_IGN)"  # as a long call of a library


@pytest.mark.parametrize(("first", "seconds"), [("pass", 8), (DEAF, 20)], ids=["hears", "deaf"])
def test_kill_int_ends_a_run_in_the_background_with_its_jobs(built, waiting, first, seconds):
    driver = waiting(first)
    assert len(living_jobs(built)) > 1
    started = time.monotonic()
    driver.send_signal(signal.SIGINT)
    assert driver.wait(timeout=PATIENCE) == 1
    assert time.monotonic() - started < seconds
    wait_for(lambda: not living_jobs(built))
    assert not any((built / ".snakemake/locks").glob("*")) and not any((built / ".snakemake/stele-drivers").glob("*"))
    (built / "go").touch()
    assert snakemake(built, TABLE).returncode == 0


def test_one_job_runs_by_hand_on_a_few_queries(built):
    run = snakemake(built, "-n", "-p", "--forcerun", "retrieve", "--", TABLE)
    last = run.stdout.splitlines()[-1]
    assert re.match(r"Stele: about \d+ min on (one core|\d+ cores), [\d.]+ [MG]B on the disk", last)
    line = next(line for line in run.stdout.splitlines() if " retrieval retrieve --" in line)
    command = line[line.index("python -m") :].partition(" > ")[0].replace("results/xor_retrieve", "try") + " --limit 5"
    done = shell(built, command)
    assert done.returncode == 0, done.stderr
    record = json.loads(next((built / "try").rglob("retrieval.json")).read_text())
    assert "limited" in record["labels"]

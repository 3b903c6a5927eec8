"""A job ends with the driver that started it, and only where that driver can be seen."""

import os
import signal
import subprocess
import sys

import pytest

from stele.command import parent_watch
from tests.waiting import PATIENCE

JOB = """
import time
from stele.command.parent_watch import watch_driver
watch_driver()
print("started", flush=True)
time.sleep({seconds})
print("done", flush=True)
"""


def job(driver, seconds):
    return subprocess.Popen(
        [sys.executable, "-c", JOB.format(seconds=seconds)],
        env={**os.environ, "STELE_DRIVER": driver},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


@pytest.fixture
def driver():
    process = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({PATIENCE})"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.parametrize("disposition", ["", "-"])
def test_an_interrupt_is_heard_in_the_background_and_where_it_is_ignored_no_other_signal_is(disposition):
    """A shell hands SIGINT down as ignored to what it starts with `&`, and Python keeps that."""
    code = "import time; from stele.command.parent_watch import hear_interrupts; hear_interrupts(); "
    code += f"print('started', flush=True); time.sleep({PATIENCE})"
    command = ["bash", "-c", f'trap "{disposition}" INT; trap "" HUP; exec "$@"', "bash", sys.executable, "-c", code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGHUP)  # as nohup has it
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE) == -signal.SIGINT and "KeyboardInterrupt" in process.communicate()[1]


def test_a_process_is_alive_until_it_is_killed(driver):
    name = parent_watch.identity(driver.pid)
    assert parent_watch.alive(name) and parent_watch.is_here(name)
    pid, _, rest = name.partition(":")
    started, _, host = rest.partition("@")
    assert not parent_watch.alive(f"{pid}:{int(started) + 1}@{host}"), "an id that is used again"
    driver.kill()
    driver.wait()
    assert not parent_watch.alive(name)


def test_a_job_ends_with_its_driver(driver):
    process = job(parent_watch.identity(driver.pid), seconds=PATIENCE)
    assert process.stdout.readline() == "started\n"
    driver.kill()
    driver.wait()
    assert process.wait(timeout=PATIENCE) == -signal.SIGKILL


@pytest.mark.parametrize("change", ["another host", "the same name, started anew", "nothing"])
def test_a_job_whose_driver_cannot_be_seen_from_here_runs_to_its_end(driver, change):
    """On a cluster's node the driver's process id means nothing, or another process."""
    process, _, here = parent_watch.identity(driver.pid).partition("@")
    name, _, boot = here.partition("/")
    foreign = {
        "another host": f"{process}@login1/{boot}",
        "the same name, started anew": f"{process}@{name}/0",
        "nothing": "",
    }[change]
    driver.kill()
    driver.wait()
    running = job(foreign, seconds=3 * parent_watch.INTERVAL)
    out, _ = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out) == (0, "started\ndone\n")

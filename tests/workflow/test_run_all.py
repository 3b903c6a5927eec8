"""tests/run.sh: all groups of tests run, and the failure of any is the failure of the whole."""

import os
import signal
import subprocess

import pytest

from tests.waiting import PATIENCE, wait_for

# in place of Python: notes what it was asked for, and fails or waits where it is told to
PYTHON = """#!/bin/bash
echo "$@" >> {folder}/calls
echo "$STELE_TEST_CHAIN" >> {folder}/chains
case "$*" in
  *tests/cluster*) group=cluster ;;
  *) group=others ;;
esac
echo "said by $group"
if [ -e {folder}/waits-$group ]; then
  trap "echo $group >> {folder}/ended; exit 2" INT
  echo $group >> {folder}/waiting
  while true; do sleep 0.1; done
fi
[ ! -e {folder}/fails-$group ]
"""


@pytest.fixture
def start(root, tmp_path):
    program = tmp_path / "python"
    program.write_text(PYTHON.format(folder=tmp_path))
    program.chmod(0o755)
    command = [str(root / "tests/run.sh"), str(program), "all"]
    # as a shell starts it in the background, with SIGINT ignored
    background = ["bash", "-c", 'trap "" INT; exec "$@"', "bash", *command]
    return lambda: subprocess.Popen(
        background, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )


@pytest.mark.parametrize("failing", [None, "cluster", "others"])
def test_every_group_runs_and_none_fails_unnoticed(start, tmp_path, failing):
    if failing:
        (tmp_path / f"fails-{failing}").touch()
    run = start()
    output, _ = run.communicate(timeout=PATIENCE)
    assert (run.returncode == 0) == (failing is None)
    assert all(f"said by {group}\n" in output for group in ("cluster", "others"))
    calls = (tmp_path / "calls").read_text().splitlines()
    assert len(calls) == 2 and sum("tests/cluster -n 3" in call for call in calls) == 1
    (chain,) = set((tmp_path / "chains").read_text().split())
    assert not os.path.exists(chain), "what they shared is gone"


def test_an_interrupt_ends_the_clusters_tests_too(start, tmp_path):
    (tmp_path / "waits-cluster").touch()
    (tmp_path / "waits-others").touch()
    run = start()
    waiting = tmp_path / "waiting"
    wait_for(lambda: waiting.exists() and len(waiting.read_text().split()) == 2)
    os.killpg(run.pid, signal.SIGINT)  # as a terminal does
    assert run.wait(timeout=PATIENCE) == 130
    assert sorted((tmp_path / "ended").read_text().split()) == ["cluster", "others"]
    assert not os.path.exists((tmp_path / "chains").read_text().split()[0])


def test_each_folder_and_each_file_of_tests_is_in_one_group(start, root, tmp_path):
    start().communicate(timeout=PATIENCE)
    calls = (tmp_path / "calls").read_text().splitlines()
    named = [word.removeprefix("tests/") for call in calls for word in call.split() if word.startswith("tests/")]
    tests = {path.relative_to(root / "tests").parts[0] for path in (root / "tests").rglob("test_*.py")}
    assert tests <= set(named) and len(named) == len(set(named))
    (rest,) = [call for call in calls if "tests/cluster" not in call]
    assert " tests/workflow tests/speed tests/adapt " in rest, "what takes longest begins"

"""What a person at a terminal sees of a run: one live overview instead of Snakemake's lines, failures, a progress."""

import errno
import io
import os
import pty
import re
import subprocess
import sys
from types import SimpleNamespace

import pytest
from rich.console import Console

from stele.progress import bar
from stele.snakemake_support import summary
from stele.snakemake_support.progress import Overview, seconds_left
from tests.waiting import PATIENCE

# a run of two stages that goes through the same hooks; `estimate` stands in for the cost model of a real plan
SNAKEFILE = """
from types import SimpleNamespace
from unittest.mock import patch
from stele.cluster.work import Work
from stele.snakemake_support import progress, summary

progress.install(workflow)

onstart:
    with patch("stele.snakemake_support.progress.estimate", lambda plan, rule, wildcards: Work(cpu_seconds=2)):
        progress.begin(None, workflow)

onsuccess:
    progress.end()
    summary.show_summary(workflow)

onerror:
    progress.end()
    summary.show_summary(workflow)

rule table:
    input: expand("{n}.txt", n=range(4))
    output: csv="table.csv", html="table.html"
    shell: "printf 'row,state\\\\na,measured\\\\nb,measured\\\\nc,borrowed\\\\n' > {output.csv}; touch {output.html}"

include: "one.smk"
"""
ONE = """
rule one:
    output: "{n}.txt"
    log: "logs/{n}.log"
    message: "Make number {wildcards.n}"
    shell:
        "if [ -e fail_{wildcards.n} ]; then printf 'before\\\\nno room on the disk\\\\n' > {log}; exit 1; fi;"
        " touch {output}"
"""


@pytest.fixture
def project(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "one.smk").write_text(ONE)
    return tmp_path


def on_terminal(project, **variables):
    """Exit code and what a terminal of 80 columns gets to see, without what moves its cursor."""
    settings = {k: v for k, v in os.environ.items() if k != "NO_COLOR"}
    settings |= {"STELE_PROGRESS": "1", "TERM": "xterm", "COLUMNS": "80", "LINES": "24"} | variables
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "--keep-going", "table"]
    process = subprocess.Popen(command, cwd=project, env=settings, stdin=slave, stdout=slave, stderr=slave)
    os.close(slave)
    seen = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError as error:
            assert error.errno == errno.EIO  # the other side is closed
            break
        seen += part
    os.close(master)
    return process.wait(timeout=PATIENCE), seen.decode()


def plain(text):
    """Without what moves the cursor, blanks at the ends of lines and colours."""
    return re.sub(r" *\r?\n", "\n", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\r(?!\n)", "", text))


def at_the_end(text):
    """The overview as it was drawn last, and what stands below it."""
    return text[text.rindex("all  ") :]


@pytest.mark.slow
def test_a_terminal_shows_a_line_a_stage_and_at_the_end_what_to_open(project):
    code, seen = on_terminal(project)
    text = plain(seen)
    assert code == 0, text
    assert re.search(r"^all +\S+ 0/5 about 1 min left, until \d\d:\d\d$", text, re.M)
    last = at_the_end(text)
    assert re.search(r"^all +\S+ 5/5$", last, re.M)
    assert re.search(r"^one +\S+ +4/4", last, re.M) and re.search(r"^Snakefile +\S+ +1/1", last, re.M)
    assert re.search(r"^(\d+ min )?[\d.]+ s; jobs: 5 done$", last, re.M)
    assert "\ncells: 2 measured, 1 borrowed\nopen table.html\n" in last
    assert "rule one:" not in text and "Select jobs" not in text, "Snakemake's own lines are in its log"
    log = project / re.search(r"^whole log: (\S+)$", last, re.M)[1]
    assert "Select jobs" in log.read_text() and "Job 1: Make number" in log.read_text()
    assert seen.rpartition("\x1b[?25l")[2].count("\x1b[?25h"), "the cursor is there again"
    code, seen = on_terminal(project)
    assert code == 0 and "Nothing to be done" in seen and "open table.html" in seen


@pytest.mark.slow
def test_a_failed_job_is_shown_at_once_with_its_reason_and_its_log(project):
    (project / "fail_2").touch()
    code, seen = on_terminal(project, NO_COLOR="1")
    text = plain(seen)
    assert code == 1
    ended = at_the_end(text)
    assert "failed: Make number 2\n  no room on the disk\n  logs/2.log\n" in text.removesuffix(ended)
    assert re.search(r"^one +\S+ +3/4 +1 failed", ended, re.M)
    assert "jobs: 3 done, 1 failed, 1 not run\nfailed: Make number 2\n  logs/2.log\n" in ended and "open" not in ended
    assert "CalledProcessError" not in text, "the command stands in Snakemake's log"
    assert not re.search(r"\x1b\[[0-9;]*3\dm", seen), "no colour where none is wanted"


@pytest.mark.slow
def test_where_there_is_no_terminal_snakemakes_own_lines_stay(project):
    command = [sys.executable, "-m", "snakemake", "--cores", "2", "table"]
    settings = os.environ | {"STELE_PROGRESS": "1"}
    run = subprocess.run(command, cwd=project, env=settings, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0 and "Make number 1" in run.stderr and "\x1b" not in run.stderr
    assert "\nopen table.html\n" in run.stderr


def test_the_end_is_where_the_estimate_says_until_jobs_have_shown_how_fast_they_are():
    assert 590 < seconds_left(600, 6000, 6000, cores=1) < 610
    assert seconds_left(600, 6000, 600, cores=1) < 70, "ten times as fast as estimated"


def test_between_two_jobs_that_end_the_time_left_only_runs_down():
    now = [0.0]
    overview = Overview({"a": [1, 2], "b": [3]}, {1: 60, 2: 60, 3: 60}, cores=1, clock=lambda: now[0])
    assert overview.end == 180
    overview.note(1, "running")
    now[0] = 100.0
    assert overview.end == 180
    overview.note(1, "done")  # slower than estimated, so the others will be
    assert overview.end == pytest.approx(100 + 120 * 160 / 120)
    overview.note(2, "failed")
    assert overview.end == pytest.approx(100 + 60 * 160 / 120) and "running" not in overview.states.values()
    overview.note(2, "running")
    assert "failed" not in overview.states.values(), "it is tried again"


def test_of_many_failures_the_first_are_named():
    rule = SimpleNamespace(name="one")
    failed = [SimpleNamespace(jobid=n, message=f"Make {n}", rule=rule, log=[f"logs/{n}.log"]) for n in range(20)]
    dag = SimpleNamespace(jobs=failed, needrun=lambda job: True, finished=lambda job: False)
    lines = summary.summary_lines(SimpleNamespace(dag=dag, scheduler=SimpleNamespace(failed=failed)), 61)
    assert lines[0] == "1 min 1 s; jobs: 20 failed"
    assert sum(line.startswith("failed: ") for line in lines) == summary.LISTED
    assert lines[-1] == f"... and {20 - summary.LISTED} more that failed"


def test_a_cell_of_several_sources_is_one_cell(tmp_path):
    """A table of today's encoders has a line for each source of a cell; another cell may hold the same."""
    lines = ["row,column,state,source", "A,KO,measured,x", "A,KO,measured,y", "A,SW,measured,", "B,SW,not run,x"]
    (tmp_path / "today.csv").write_text("\n".join(lines))
    (tmp_path / "paper.csv").write_text("row,column,state\nA,KO,measured\nA,KO,measured\n")
    assert summary.states([tmp_path / "today.csv", tmp_path / "none.csv"]) == {"measured": 2, "not run": 1}
    assert summary.states([tmp_path / "paper.csv"]) == {"measured": 2}


def test_a_running_job_shows_its_log_and_the_last_line_of_it(tmp_path):
    log = tmp_path / "encode.log"
    log.write_text("x" * 10_000 + "\nencode collection all: 31% 4.10k/13.0k\n")
    overview = Overview({"a": [1, 2]}, {1: 60, 2: 60}, cores=1, logs={1: str(log), 2: "none.log"})
    shown = Console(width=300, record=True, file=io.StringIO())
    shown.print(overview)
    assert str(log) not in shown.export_text()
    overview.note(1, "running"), overview.note(2, "running")
    shown.print(overview)
    text = shown.export_text()
    assert f"{log}: encode collection all: 31% 4.10k/13.0k" in text and "none.log: nothing yet" in text


def test_a_count_in_a_log_begins_with_0_and_not_with_0_00(capsys):
    with bar(110, "train", "step") as shown:
        shown.update(110)
    first, last = capsys.readouterr().err.splitlines()
    assert " 0/110 " in first and " 110/110 " in last

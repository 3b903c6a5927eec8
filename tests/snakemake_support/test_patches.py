"""Each patch of private code: its upstream issue, the versions that it fits, what it does, another version."""

import importlib
import importlib.metadata
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from stele.errors import SteleError
from stele.snakemake_support import patches
from stele.snakemake_support.patches import dry_runs, planning, slurm_patches, snakemake_patches, submissions
from stele.snakemake_support.patches.snakemake_patches import missing_target
from tests.waiting import PATIENCE
from tests.workflow.conftest import copy_project, shorten, snakemake

MODULES = (dry_runs, planning, snakemake_patches, slurm_patches, submissions)
REASONS = Path(patches.__file__).with_name("README.md").read_text().split("\n## ")[1:]


@pytest.fixture
def installed(monkeypatch):
    """installed(package=version) -> as if that were installed; sentences are said anew."""
    version = importlib.metadata.version

    def pretend(package, number):
        monkeypatch.setattr(importlib.metadata, "version", lambda name: number if name == package else version(name))
        patches._warn.cache_clear()

    yield pretend
    patches._warn.cache_clear()


@pytest.mark.parametrize("reason", REASONS)
def test_a_patch_has_an_issue_or_the_text_of_one_and_its_end(reason):
    functions, about, title, body = f"{reason}\n\n".split("\n\n", 3)
    assert all(any(hasattr(module, name) for module in MODULES) for name in functions.split(", "))
    assert about.partition(":")[0] in patches.SERIES and "until " in " ".join(about.split())
    assert title.startswith("https://github.com/snakemake/") or (len(title) < 100 and len(body) > 150)


def test_the_patches_fit_the_locked_versions_and_each_name_that_they_replace_is_there(root):
    import snakemake_executor_plugin_slurm as slurm
    import snakemake_executor_plugin_slurm_jobstep as jobstep
    from snakemake.persistence import PersistenceBase

    for lock in (root / "envs").glob("?pu.lock.txt"):
        for package, series in patches.SERIES.items():
            assert f"\n{package}=={series}." in lock.read_text(), lock.name
    names = ("get_min_job_age", "query_job_status_squeue", "query_job_status_sacct", "query_job_status")
    assert all(callable(getattr(slurm, name)) for name in (*names, "get_job_wildcards", "SubmittedJobInfo"))
    methods = ("run_job", "cancel", "_report_job_submission_threadsafe", "_report_job_error_threadsafe")
    assert all(callable(getattr(slurm.Executor, name)) for name in methods)
    assert callable(jobstep.Executor.run_job) and callable(PersistenceBase.finished)


@pytest.mark.parametrize("number", ["9.26.4", "9.270.0"])
def test_another_snakemake_is_left_as_it_is_and_one_sentence_says_so(installed, capsys, number):
    importlib.import_module("snakemake.cli")  # its modules import each other: this one first
    from snakemake import benchmark, dag, rules
    from snakemake.persistence import PersistenceBase

    def patched():
        replaced = dag.MissingRuleException, rules.InputFunctionException
        return *replaced, PersistenceBase.finished, benchmark.BenchmarkTimer, dag.DAG.update_needrun

    installed("snakemake", number)
    before = patched()
    scheduler = types.SimpleNamespace(job_rate_limiter="its own")
    settings = types.SimpleNamespace(max_jobs_per_timespan=None)
    snakemake_patches.drop_rate_limit(types.SimpleNamespace(scheduler=scheduler, scheduling_settings=settings), True)
    snakemake_patches.name_nearest_targets(None, None)
    snakemake_patches.leave_out_tracebacks()
    snakemake_patches.make_removed_results_again()
    snakemake_patches.record_on_nodes()
    snakemake_patches.measure_children_of_worker("no worker")
    assert patched() == before
    assert scheduler.job_rate_limiter == "its own"
    told = capsys.readouterr().err
    assert told.count("Stele:") == 1 and f"snakemake {number}" in told and "9.27" in told
    with pytest.raises(SteleError, match=rf"{number}.*9\.27"), planning.planning_only(False):
        pass


def test_another_slurm_plugin_is_left_as_it_is_and_one_sentence_says_so(installed, capsys, monkeypatch):
    import snakemake_executor_plugin_slurm as slurm
    import snakemake_executor_plugin_slurm_jobstep as jobstep

    installed(patches.SLURM, "2.9.1")
    before = dict(vars(slurm))
    slurm_patches.patch_driver(types.SimpleNamespace())  # whose settings may be others too
    told = capsys.readouterr().err
    assert vars(slurm) == before and told.count("Stele:") == 1 and "2.9.1" in told and "2.8.*" in told
    installed(patches.JOBSTEP, "0.7.0")
    monkeypatch.setattr("sys.argv", ["snakemake", "--executor", "slurm-jobstep"])
    monkeypatch.setattr(slurm_patches, "record_on_nodes", lambda: None)
    before = dict(vars(jobstep)), jobstep.Executor.run_job
    slurm_patches.patch_node()
    told = capsys.readouterr().err
    assert (dict(vars(jobstep)), jobstep.Executor.run_job) == before and told.count("Stele:") == 1 and "0.7.0" in told


def installed_beside(folder, package, number) -> Path:
    """A folder for PYTHONPATH with the metadata of another version of a package."""
    facts = folder / f"{package.replace('-', '_')}-{number}.dist-info/METADATA"
    facts.parent.mkdir(parents=True)
    facts.write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {number}\n")
    return folder


@pytest.mark.slow
def test_a_run_with_another_snakemake_goes_on(root, tmp_path):
    project, site = copy_project(root, tmp_path / "stele"), installed_beside(tmp_path / "site", "snakemake", "9.99.1")
    run = snakemake(shorten(project), "context", PYTHONPATH=str(site))
    assert run.returncode == 0 and run.stdout.count("Stele's patches of it are not applied") == 1, run.stdout[-3000:]


def test_a_run_without_slurm_does_not_notice_another_version_of_its_plugin(root, tmp_path):
    """Snakemake loads all plugins that are installed, whichever of them it uses."""
    import snakemake_executor_plugin_slurm as slurm

    project, site = copy_project(root, tmp_path / "stele"), installed_beside(tmp_path / "site", patches.SLURM, "2.1.0")
    old = site / "snakemake_executor_plugin_slurm"
    shutil.copytree(Path(slurm.__file__).parent, old, ignore=shutil.ignore_patterns("__pycache__"))
    for module in old.glob("*.py"):
        module.write_text(module.read_text().replace("get_min_job_age", "other_name"))
    run = snakemake(project, "-n", "results/mrtydi/msm/zero_shot_nq.json", PYTHONPATH=str(site))
    assert run.returncode == 0 and "2.1.0" not in run.stdout, run.stdout[-3000:]


# --- the rate limit, questions that are asked once, and what is made again --------------------------------------------
JOBS = 24
# each job notes how many threads Snakemake, the parent of its shell, has then
SNAKEFILE = f"""
import threading
from stele.snakemake_support.patches.snakemake_patches import drop_rate_limit

timers = []

class Timer(threading.Timer):
    def __init__(self, *arguments):
        timers.append(arguments)
        super().__init__(*arguments)

threading.Timer = Timer

onstart:
    drop_rate_limit(workflow, local=config["local"])

onsuccess:
    with open("timers", "w") as handle:
        handle.write(str(len(timers)))

rule all:
    input: expand("{{n}}.txt", n=range({JOBS}))

rule one:
    output: "{{n}}.txt"
    shell: "grep Threads /proc/$PPID/status | cut -f 2 > {{output}}; date +%s.%N >> {{output}}; sleep 0.1"
"""


def build(folder, local, *arguments):
    """A run of the toy workflow: its timers, its most threads, and the seconds from its first job to its last."""
    (folder / "Snakefile").write_text(SNAKEFILE)
    command = [sys.executable, "-m", "snakemake", "--cores", "4", "--config", f"local={local}", *arguments]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE)
    assert run.returncode == 0, run.stderr
    made = [(folder / f"{n}.txt").read_text().split() for n in range(JOBS)]
    started = [float(time) for _, time in made]
    threads = max(int(threads) for threads, _ in made)
    return int((folder / "timers").read_text()), threads, max(started) - min(started)


@pytest.mark.slow
def test_a_run_here_has_no_timers(tmp_path):
    timers, threads, _ = build(tmp_path, True)
    assert timers == 0 and threads <= 12, "Snakemake itself, and a thread for each core and for five more"


@pytest.mark.slow
def test_on_a_cluster_only_a_limit_that_the_user_gives_holds(tmp_path):
    assert build(tmp_path, False)[0] == 0
    for made in tmp_path.glob("*.txt"):
        made.unlink()
    _, _, seconds = build(tmp_path, False, "--max-jobs-per-timespan", "4/1s")
    assert seconds >= 5 - 0.5, "24 jobs at 4 a second: the last ones wait for five seconds"


SHOWN = """
from stele.files.digests import digest
from stele.snakemake_support.patches.snakemake_patches import make_removed_results_again

make_removed_results_again()

rule all_tables:
    input: "table.md"
    output: "page.html"
    shell: "cp {input} {output}"

rule table:
    input: "result.json", "context.json"
    output: "table.md"
    shell: "cp {input[0]} {output}"

rule context:
    output: "context.json"
    params: digest=digest("of this plan\\n")
    shell: "echo of this plan > {output}"

rule average:
    input: "seed.json"
    output: "result.json"
    shell: "cp {input} {output}"

rule score:
    output: "seed.json"
    shell: "echo 1 > {output}"
"""


COMMAND = [sys.executable, "-m", "snakemake", "--cores", "1"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "removed", [["table.md"], ["result.json"], ["seed.json"], ["table.md", "result.json", "seed.json"], []]
)
def test_what_a_page_shows_is_made_again_if_it_was_removed(tmp_path, removed):
    (tmp_path / "Snakefile").write_text(SHOWN)
    for _ in range(2):
        run = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
        assert run.returncode == 0, run.stderr
        assert all((tmp_path / name).exists() for name in ("page.html", "table.md", "result.json", "seed.json"))
        for name in removed:
            (tmp_path / name).unlink(missing_ok=True)
    assert ("Nothing to be done" in run.stderr) == (not removed)


@pytest.mark.slow
def test_tables_do_not_follow_the_context_of_another_plan_that_came_with_its_results(tmp_path):
    (tmp_path / "Snakefile").write_text(SHOWN)
    for name in ("seed.json", "result.json", "context.json", "table.md", "page.html"):  # without metadata
        (tmp_path / name).write_text("of another plan\n")
    for left in ("context.json", "Nothing to be done"):
        run = subprocess.run(COMMAND, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
        assert run.returncode == 0 and left in run.stderr, run.stderr
    assert (tmp_path / "context.json").read_text() == "of this plan\n"
    assert (tmp_path / "result.json").read_text() == "of another plan\n", "results are kept"


# --- a mistyped target ------------------------------------------------------------------------------------------------
TABLES = [f"results/tables/{paper}/table_0{n}.md" for paper in ("msm", "kept") for n in (1, 5)] + [
    "results/tables/msm/table_15.md"
]


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("results/tables/msm/table_5.md", "did you mean results/tables/msm/table_05.md?"),
        ("table_5.md", "did you mean results/tables/msm/table_05.md or results/tables/kept/table_05.md?"),
        ("results/tables/msm/tabel_05.md", "did you mean results/tables/msm/table_05.md?"),
        (
            "results/tables/msm/table_15.md",
            "that may run makes 'results/tables/msm/table_15.md'; add its rule and those of its inputs to --allowed-",
        ),
        ("thesis.pdf", "no rule makes 'thesis.pdf'. A table is results/tables/PAPER/table_NN.md"),
    ],
)
def test_the_nearest_file_is_named_and_none_where_none_is_near(typed, message):
    assert message in missing_target(typed, TABLES)

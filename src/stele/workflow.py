"""What the Snakefile does around the rules: environment, stale locks, the local worker, unfinished tables."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stele import config as configuration
from stele.errors import SteleError
from stele.jobs import Jobs, row_name
from stele.plan import make_plan
from stele.watchdog import alive, identity

DRIVERS = Path(".snakemake/stele-drivers")
LOCKS = Path(".snakemake/locks")


def begin(values: Mapping[str, Any], workflow) -> Jobs:
    """Validates the configuration, prepares the environment of the jobs and returns the plan.

    Runs whenever the Snakefile is read: by the driver, for a dry run, and by each job on a cluster's node.
    """
    root = Path(workflow.basedir)
    _environment(root, main=workflow.is_main_process)
    try:
        found = make_plan(configuration.parse(values))
        plan = Jobs(found.config, found.scale, found.why, found.sizes)
        if workflow.is_main_process:
            print(f"Stele: scale {plan.scale} ({plan.why}): {plan.sizes['title']}", file=sys.stderr)
            clear_stale_locks()
        return plan
    except SteleError as error:
        raise _workflow_error(error) from None


def _workflow_error(error: SteleError) -> Exception:
    from snakemake.exceptions import WorkflowError

    return WorkflowError(str(error))


def _environment(root: Path, main: bool) -> None:
    """The jobs' environment: this interpreter first, this source tree, one thread unless a recipe says more."""
    environment = os.environ
    folders = environment.get("PATH", "").split(os.pathsep)
    own = str(Path(sys.executable).parent)
    if folders[0] != own:
        environment["PATH"] = os.pathsep.join([own, *folders])
    source = str(root / "src")
    paths = [p for p in environment.get("PYTHONPATH", "").split(os.pathsep) if p and p != source]
    environment["PYTHONPATH"] = os.pathsep.join([source, *paths])
    environment.setdefault("OMP_NUM_THREADS", "1")
    environment.setdefault("TOKENIZERS_PARALLELISM", "false")
    environment.setdefault("HF_HUB_OFFLINE", "1")  # downloads are the rules' business, never a library's
    # numba compiles for half a minute; a folder that stays makes that a matter of once
    environment.setdefault("NUMBA_CACHE_DIR", str(Path.cwd() / ".snakemake" / "numba"))
    if main:
        environment["STELE_DRIVER"] = identity(os.getpid())


# --- stale locks ------------------------------------------------------------------------------------------------------
def _drivers() -> list[tuple[Path, str, str]]:
    """(file, host, process) of the drivers that have worked in this folder."""
    found = []
    for path in DRIVERS.glob("*.json"):
        try:
            record = json.loads(path.read_text())
            found.append((path, record["host"], record["process"]))
        except (OSError, ValueError, KeyError):
            path.unlink(missing_ok=True)
    return found


def clear_stale_locks() -> None:
    """Removes the locks of a driver that was killed on this host; those of one that may live stay."""
    host, mine = socket.gethostname(), identity(os.getpid())
    dead = [path for path, where, process in _drivers() if where == host and process != mine and not alive(process)]
    living = [path for path, where, process in _drivers() if path not in dead and process != mine]
    for path in dead:
        path.unlink(missing_ok=True)
    if dead and not living and LOCKS.is_dir() and any(LOCKS.iterdir()):
        shutil.rmtree(LOCKS, ignore_errors=True)
        print("Stele: an earlier run was killed; its locks are removed and its work goes on", file=sys.stderr)


def running(plan: Jobs) -> None:
    """`onstart`: jobs are about to run. Refuses a second scale, notes the driver, starts the local worker."""
    try:
        configuration.check_stamp(Path(plan.config.results_dir), plan.scale)
    except SteleError as error:
        raise _workflow_error(error) from None
    DRIVERS.mkdir(parents=True, exist_ok=True)
    record = {"host": socket.gethostname(), "process": identity(os.getpid())}
    (DRIVERS / f"{os.getpid()}.json").write_text(json.dumps(record))
    if os.environ.get("STELE_USE_WORKER") == "1" and "STELE_WORKER" not in os.environ:
        from stele.worker import start

        os.environ["STELE_WORKER"] = start()


def finished(plan: Jobs, failed: bool) -> None:
    """`onsuccess` and `onerror`: a failed run still renders every table from what exists."""
    (DRIVERS / f"{os.getpid()}.json").unlink(missing_ok=True)
    os.environ.pop("STELE_WORKER", None)
    if failed:
        render_unfinished(plan)


def render_unfinished(plan: Jobs) -> None:
    """Renders the tables that miss rows, and dates them so old that the next run builds them again."""
    context = plan.table_context()
    waiting = {}
    for table, path in plan.specs.items():
        paper, _, number = table.partition("/")
        base = Path(plan.results(f"tables/{paper}/table_{number}"))
        missing = [result for result in plan.table_results(table) if not Path(result).exists()]
        if missing:
            waiting[base] = path
    if not waiting:
        return
    context["failed"] = failed_rows(plan)
    unfinished = Path(plan.state("unfinished-context.json"))
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    unfinished.write_text(json.dumps(context))
    for base, spec in waiting.items():
        outputs = {kind: base.with_suffix(f".{kind}") for kind in ("md", "tex", "csv")}
        command = [sys.executable, "-m", "stele", "tables", "table", "--spec", str(spec), "--context", str(unfinished)]
        command += ["--results-dir", plan.config.results_dir]
        for kind, path in outputs.items():
            command += [f"--output-{kind}", str(path)]
        if subprocess.run(command, check=False).returncode == 0:
            for path in outputs.values():
                os.utime(path, (1, 1))
    print(
        f"Stele: {len(waiting)} unfinished tables rendered from what exists; the next run builds them again",
        file=sys.stderr,
    )


def failed_rows(plan: Jobs) -> dict[str, str]:
    """Row -> log, for rows without a result whose own retrieval or scoring log ends with an error."""
    found = {}
    for row in plan.rows():
        if plan.row_problem(*row) is not None or Path(plan.result(*row)).exists():
            continue
        for log in _logs_of(plan, *row):
            if log.exists():
                found[row_name(*row)] = str(log)
                break
    return found


def _logs_of(plan: Jobs, benchmark: str, model: str, setting: str) -> list[Path]:
    """The logs of the jobs that a row waits for and that did not finish, the last stage first."""
    logs = []
    for seeds in plan.seeds(model):
        base = plan.results(f"{benchmark}/{model}/{setting}/{seeds}")
        stages = [(f"{base}.json", f"score/{benchmark}.{model}.{setting}.{seeds}")]
        stages.append((f"{base}/retrieval.json", f"retrieve/{benchmark}.{model}.{setting}.{seeds}"))
        for recipe in reversed(plan.chain(plan.setting_recipe(benchmark, setting))):
            stages.append((plan.finetuned(model, recipe, seeds), f"finetune/{model}.{recipe}.{seeds}"))
        if plan.is_trained(model):
            pt = seeds.removeprefix("pt").partition("-")[0]
            stages.append((plan.encoder(model, pt), f"pretrain/{model}.pt{pt}"))
        logs += [Path(plan.log(log)) for output, log in stages if not Path(output).exists()]
    return logs

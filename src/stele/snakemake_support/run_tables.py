"""Writes the table context that rule `context` reads, and renders tables whose rows were not all built.

The context is too long for a command line, so the plan passes it to the rule as a file. The rule is local: the process
that plans it runs it; its param is a digest of the context, which triggers it. After a run, tables with missing rows
are rendered from the existing results, and the next run builds them again.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from snakemake.iocontainers import InputFiles

from stele.files.atomic import atomic_file, atomic_write_json
from stele.files.digests import digest
from stele.files.formats import amount
from stele.plan.paths import as_json
from stele.plan.plan import Plan

RULE = "context"
# rules whose commands show any state of the results; in the order of their need
RENDERING = ("table", "figure", "cells", "all_tables", "today_tables")


def context_file(plan: Plan) -> str:
    """File that rule `context` copies, perhaps after hours; runs with another `results_dir` have another file."""
    return plan.paths.state(f"context-{digest(plan.settings.config.results_dir)}.json")


def context_digest(plan: Plan) -> str:
    return digest(_context(plan))


def is_of_this_plan(job) -> bool:
    """Whether the output of a job of rule `context`, if it exists, is the plan's context."""
    path = Path(job.output[0])
    return not path.exists() or digest(path.read_text(encoding="utf-8", errors="replace")) == job.params.digest


def write_context(plan: Plan, touch: bool) -> None:
    """Writes the plan's table context before the first job: for the rule, or as its output if `--touch` runs no job."""
    with atomic_file(plan.paths.context if touch else context_file(plan)) as handle:
        handle.write(_context(plan))


def _context(plan: Plan) -> str:
    return as_json(plan.requested.context()) + "\n"


def finish_tables(plan: Plan, workflow) -> None:
    """Renders the tables of this run that lack rows, and makes the next run build them again.

    With `--touch`, every job counts as done, and the run's tables are rendered from the existing results.
    """
    dag = workflow.dag
    jobs = sorted((job for job in dag.jobs if job.rule.name in RENDERING), key=lambda j: RENDERING.index(j.rule.name))
    tables = {job: _is_old(dag, job) or _misses(job) for job in jobs}
    if workflow.touch:
        tables = {job: misses for job, misses in tables.items() if dag.needrun(job) and Path(job.output[0]).exists()}
    else:
        tables = {job: True for job, misses in tables.items() if misses}
    if not tables:
        return
    written = Path(context_file(plan))
    context = written.with_name(f"unfinished-{written.name}")
    atomic_write_json(context, {**plan.requested.context(), **_rows(plan, workflow), "unfinished": True})
    rendered = [job for job in tables if _render(job, context)]
    for job in rendered:
        if tables[job]:
            for output in job.output:
                os.utime(output, (1, 1))  # older than any input,
            workflow.persistence.cleanup(job)  # and without the inputs' checksums: they count as changed
    unfinished = [job for job in rendered if tables[job] and job.rule.name in ("table", "figure")]
    if unfinished:
        text = amount(len(unfinished), "unfinished table or figure", "unfinished tables and figures")
        print(f"Stele: {text} rendered from existing results; the next run builds them again", file=sys.stderr)
    logs = [str(job.log[0]) for job in tables if job not in rendered]
    if logs:
        text = amount(len(logs), "table or figure", "tables and figures")
        print(f"Stele: {text} could not be rendered: {', '.join(logs)}", file=sys.stderr)


def _is_old(dag, job) -> bool:
    """Whether a job had to run and did not finish."""
    return dag.needrun(job) and not dag.finished(job)


def _misses(job) -> bool:
    return any(not Path(path).exists() for path in job.input)


def _render(job, context: Path) -> bool:
    """Runs the command of a job's rule with another context as its input."""
    inputs = InputFiles(toclone=job.input, custom_map=lambda path: str(context) if path == job.input.context else path)
    command = job.format_wildcards(job.rule.shellcmd, input=inputs)
    for log in job.log:  # Snakemake makes its folder when the job itself runs
        Path(log).parent.mkdir(parents=True, exist_ok=True)
    return subprocess.run(command, shell=True, check=False).returncode == 0


def _rows(plan: Plan, workflow) -> dict[str, Any]:
    """Rows that this run did not build, for a table's context: {"failed": row -> log, "outdated": other rows}.

    Both may have results of an earlier run, which are out of date and not shown.
    """
    rows = plan.requested.results()
    failed, outdated = {}, []
    for job in workflow.dag.jobs:
        names = [rows[path] for path in job.output if path in rows]
        if not names or not _is_old(workflow.dag, job):
            continue
        log = _failed_log(workflow, job)
        if log is None:
            outdated += names
        else:
            failed |= dict.fromkeys(names, log)
    return {"failed": failed, "outdated": sorted(outdated)}


def _failed_log(workflow, job) -> str | None:
    """Log of a failed job among a job and those upstream of it; None if none of them failed."""
    todo, seen = [job], set()
    while todo:
        upstream = todo.pop()
        if upstream in workflow.scheduler.failed:
            return str(upstream.log[0]) if upstream.log else upstream.rule.name
        if upstream not in seen and _is_old(workflow.dag, upstream):
            seen.add(upstream)
            todo += workflow.dag.dependencies[upstream]
    return None

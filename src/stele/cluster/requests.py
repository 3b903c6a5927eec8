"""Jobs of a run before it starts, with the resources that they request and estimates of their work and time."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from stele.catalogue.schema.costs import rule_facts
from stele.cluster import search_costs, settings, text_costs, training_costs  # noqa: F401 (register their formulas)
from stele.cluster.sinfo import Resources, size
from stele.cluster.sizes import NUMBER, NoFigures, costs, saved_bytes, shape_of
from stele.cluster.work import FORMULAS, Work, device, from_catalogue, is_users_text, seconds
from stele.plan.plan import Plan
from stele.plan.settings import cached_method


@dataclass(frozen=True)
class JobRequest:
    """A job before it runs.

    resources   the requests of its first attempt, of `attempts`
    resumes     whether an attempt resumes from the previous attempt's state
    local       whether it runs on the host where the workflow was started
    after       the logs of the jobs that it waits for
    work        its FLOPs and bytes; None: unknown
    seconds     its estimated duration; None: unknown
    catalogued  catalogue entries whose sizes the estimate uses; empty if all sizes are measured here
    """

    stage: str
    rule: str
    wildcards: Mapping[str, str]
    log: str
    outputs: tuple[str, ...]
    threads: int
    resources: Resources
    attempts: int = 1
    resumes: bool = False
    local: bool = False
    after: tuple[str, ...] = ()
    work: Work | None = None
    seconds: float | None = None
    catalogued: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Rule and name of the log ("score nq.msm.direct.pt0-ft0"), or the rule alone if both are the same."""
        log = Path(self.log)
        return self.rule if log.stem == self.rule else f"{self.rule} {log.name.removesuffix('.log')}"

    @property
    def devices(self) -> int:
        """Number of GPUs, summed over nodes."""
        return _devices(self.resources)


def _devices(resources: Resources) -> int:
    return size(resources, "gpus") * (size(resources, "nodes") or 1)


def job_requests(plan: Plan, dag: Any) -> list[JobRequest]:
    """Jobs of Snakemake's graph that must run and have outputs, in topological order."""
    on = device(settings.read().gpu_model)
    layers = dag.toposorted({job for job in dag.jobs if dag.needrun(job)})  # after a dry run all jobs count as finished
    jobs = [job for layer in layers for job in sorted(layer, key=lambda job: (job.rule.name, str(job.wildcards)))]
    return [_request(plan, dag, job, on) for job in jobs if job.log and job.output]


def _request(plan: Plan, dag: Any, job: Any, on: str) -> JobRequest:
    work, catalogued = None, []
    rule, wildcards, resources = job.rule.name, dict(job.wildcards_dict), dict(job.resources)
    try:
        work = estimate(plan, rule, wildcards)
        catalogued = from_catalogue(plan, rule, wildcards)
    except Exception as error:  # a failed estimate does not stop the run
        print(f"Stele: no estimate of {rule}: {type(error).__name__}: {error}", file=sys.stderr)
    return JobRequest(
        stage=Path(job.rule.snakefile).stem,
        rule=rule,
        wildcards=wildcards,
        log=str(job.log[0]),
        outputs=tuple(map(str, job.output)),
        threads=job.threads,
        resources=resources,
        attempts=1 + job.restart_times,
        resumes="state" in job.rule.params.keys(),  # noqa: SIM118 (iterated, it gives values)
        local=job.is_local,
        after=tuple(str(other.log[0]) for other in dag.dependencies[job] if other.log),
        work=work,
        seconds=None if work is None else seconds(work, on, _devices(resources), job.threads),
        catalogued=tuple(catalogued),
    )


def estimate(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> Work | None:
    """Estimates the work of one job: by cost formulas for real data, by the miniature's times for generated data.

    Returns None if costs.yaml has no figures for the job's benchmark or training set.
    """
    return _estimate(plan, rule, tuple(wildcards.items()))


@cached_method
def _estimate(plan: Plan, rule: str, named: tuple[tuple[str, str], ...]) -> Work | None:
    """Estimates a job's work once, since its time, memory and disk requests all use it."""
    wildcards = dict(named)
    try:
        generated = plan.settings.generated and not is_users_text(plan, rule, wildcards)
        if rule == "checkpoint":  # without a stand-in it is a download or the user's folder
            generated = plan.world.standin(wildcards["model"]) is not None
        return (_generated if generated else _formula)(plan, rule, wildcards)
    except NoFigures:
        return None


def _formula(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> Work:
    """Applies the rule's cost formula; a rule without one costs a fixed time."""
    if rule not in FORMULAS:
        return Work(cpu_seconds=costs().seconds.other)
    return FORMULAS[rule](plan, SimpleNamespace(**wildcards))


def _generated(plan: Plan, rule: str, wildcards: Mapping[str, str]) -> Work:
    """Work of a rule on generated data: seconds that grow with the world, and the FLOPs of trainings."""
    known, miniature = rule_facts(rule), costs().miniature
    growth = plan.settings.sizes.world.entities / miniature.entities
    base = miniature.other if known.miniature_seconds is None else known.miniature_seconds
    seconds = miniature.command + base * growth
    if not known.trains:
        return Work(cpu_seconds=seconds)
    work = _formula(plan, rule, wildcards)
    if "benchmark" in wildcards:  # the formula counts real topics; the generated internet has fewer
        return Work(cpu_seconds=seconds * _depth(plan, wildcards["model"]), kept=work.kept)
    return Work(work.flops, work.steps, seconds, kept=work.kept)


def _depth(plan: Plan, model: str) -> float:
    """Ratio of a model's layer weights to those of the miniature's encoder; 1 for a model without an encoder."""
    if not plan.models.all[model].has_encoder:
        return 1.0
    shape = shape_of(plan, model).shape
    return saved_bytes(shape._replace(vocabulary=0)) / NUMBER / costs().miniature.weights

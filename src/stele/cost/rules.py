"""What a job of any rule does: at the papers' sizes by arithmetic, at a generated scale by what the miniature took."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from stele.catalogue.schema.costs import RuleFacts, rule_facts
from stele.cost import answering, cpu_rules, gpu_rules, reranking
from stele.cost.counts import NoFigures, costs
from stele.cost.work import Work
from stele.errors import SteleError
from stele.plan.plan import Plan

MODULES = {"answering": answering, "cpu_rules": cpu_rules, "gpu_rules": gpu_rules, "reranking": reranking}


def formula(known: RuleFacts) -> Callable[[Plan, Any], Work]:
    """The cost formula that rules.yaml names; of a rule that has none, that of a short job."""
    if known.cost is None:
        return cpu_rules.short
    module, _, name = known.cost.partition(".")
    function = getattr(MODULES.get(module), name, None)
    if function is None:
        raise SteleError(f"catalogue/rules.yaml: cost: {known.cost}: there is no such function in stele/cost")
    return function


def work(plan: Plan, rule: str, wildcards: dict[str, str]) -> Work | None:
    """What one job of a rule does; None where costs.yaml has no figures for its benchmark or training set."""
    w, known = SimpleNamespace(**wildcards), rule_facts(rule)
    try:
        return _generated(plan, known, w) if plan.settings.generated else formula(known)(plan, w)
    except NoFigures:
        return None


def _generated(plan: Plan, known: RuleFacts, w: Any) -> Work:
    """Operations where there are any, and seconds that grow with the world."""
    miniature = costs().miniature
    growth = plan.settings.sizes.world.entities / miniature.entities
    base = miniature.other if known.miniature_seconds is None else known.miniature_seconds
    seconds = miniature.command + base * growth
    if not known.trains:
        return Work(cpu_seconds=seconds)
    job_work = formula(known)(plan, w)
    return Work(job_work.flops, job_work.steps, seconds, kept=job_work.kept)

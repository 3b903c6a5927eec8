"""What a job of any rule does: at the papers' sizes by arithmetic, at a generated scale by what the miniature took."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from stele import catalogue
from stele.cost import cpu_rules, gpu_rules
from stele.cost.shapes import saved_bytes, standin_shape
from stele.cost.work import Work
from stele.plan.plan import Plan
from stele.training.flops import encode

TRAINING = ("pretrain", "finetune")
BATCH, LENGTH, HIDDEN = 24, 32, 0.3  # of a stand-in's training, its recipe's own defaults


def work(plan: Plan, rule: str, wildcards: dict[str, str]) -> Work | None:
    """What one job of a rule does; None where costs.yaml has no figures for its benchmark or training set."""
    w = SimpleNamespace(**wildcards)
    if not _known(plan, rule, wildcards):
        return None
    if plan.settings.generated:
        return _generated(plan, rule, w)
    found = gpu_rules.RULES.get(rule) or cpu_rules.RULES.get(rule) or cpu_rules.short
    return found(plan, w)


def _known(plan: Plan, rule: str, wildcards: dict[str, str]) -> bool:
    """Whether costs.yaml has the benchmark or the training set of a job that trains or encodes."""
    costs = catalogue.load("costs")
    if rule == "finetune":
        return plan.finetuning.whole_recipe(wildcards["recipe"])["training_set"] in costs["training_sets"]
    if rule not in gpu_rules.RULES or plan.settings.generated:
        return True
    asked = {"benchmarks": wildcards.get("benchmark"), "training_sets": wildcards.get("training_set")}
    return all(name is None or name in costs[kind] for kind, name in asked.items())


def _generated(plan: Plan, rule: str, w: Any) -> Work:
    """Operations where there are any, and seconds that grow with the world."""
    known = catalogue.load("costs")["miniature"]
    growth = plan.settings.sizes["world"].get("entities", known["entities"]) / known["entities"]
    seconds = known["command"] + known["seconds"].get(rule, known["seconds"]["other"]) * growth
    if rule == "standin":
        return Work(
            {"training": _standin(plan, w.key)}, cpu_seconds=seconds, kept=saved_bytes(standin_shape(plan, w.key))
        )
    if rule in TRAINING:
        found = gpu_rules.RULES[rule](plan, w)
        return Work(found.flops, found.steps, seconds, kept=found.kept)
    return Work(cpu_seconds=seconds)


def _standin(plan: Plan, key: str) -> float:
    """Operations of a stand-in's training, as if all were masked language modelling."""
    shape, recipe = standin_shape(plan, key), plan.world.recipe(key)
    batch, length = recipe.get("batch", BATCH), recipe.get("length", LENGTH)
    head = HIDDEN * batch * length * 2 * shape.width * (shape.width + shape.vocabulary)
    return 3 * recipe["steps"] * (encode(batch, length, shape, first_only=False) + head)

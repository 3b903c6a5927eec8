"""What config.yaml and a scale of one's own say of recipes: checked by what takes them, before anything is built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stele import catalogue, recipes
from stele.config_files import Sources
from stele.encoders.spec import make_spec
from stele.errors import SteleError, unknown
from stele.finetuning.recipe import parse_recipe as parse_finetuning
from stele.jobs import Jobs, as_json
from stele.pairs._recipe import parse_recipe as parse_pairs
from stele.training.recipe import parse_recipe as parse_pretraining
from stele.world.sizes import world_sizes


def check(plan: Jobs, where: Sources) -> None:
    """Refuses values that a job would refuse hours later, and names that nothing reads."""
    if plan.scale not in catalogue.scale_names():
        check_scale(plan)
    for key, model in plan.config.models.items():
        if model.override or plan.is_trained(key):
            _check_pretraining(plan, key, model.override, where("models", key, "override"))


def _check_pretraining(plan: Jobs, key: str, changes: Mapping[str, Any], place: str) -> None:
    """Checks the recipe of a model, changed as `place` says."""
    if not plan.is_trained(key):
        raise SteleError(f"{place}: {key} is not pretrained here: give `base` and `recipe`, and no `checkpoint`")
    if isinstance(languages := changes.get("languages", []), str):
        _check_names("set of languages", [languages], catalogue.load("recipes")["languages"], f"{place}.languages")
    else:
        _check_names("language", languages, catalogue.load("languages"), f"{place}.languages")
    recipe = plan.pretraining_recipe(key)
    mining = recipe.pop("mining")
    if not isinstance(mining, Mapping):
        raise SteleError(f"{place}.mining: want a mining recipe by store, as {{msm: msm_blocks}} (found {mining!r})")
    _check_names("mining recipe", mining.values(), catalogue.load("recipes")["pairs"], f"{place}.mining")
    parse_pretraining(recipe, place)


def _check_names(kind: str, names: Any, valid: Mapping[str, Any], place: str) -> None:
    for name in names:
        if name not in valid:
            raise unknown(kind, str(name), valid, place)


def check_scale(plan: Jobs) -> None:
    """Checks a scale of one's own: every name and every value in it."""
    sizes, name, known = plan.sizes, plan.scale, catalogue.load("recipes")
    if plan.generated:
        possible = [code for code, entry in catalogue.load("languages").items() if "world" in entry]
        if not sizes["languages"]:
            raise SteleError(f"{name}: languages: a generated scale lists them; possible: {', '.join(possible)}")
        _check_names("generated language", sizes["languages"], dict.fromkeys(possible), f"{name}: languages")
        world_sizes(sizes["world"], f"{name}: world")
    _check_names("stand-in", sizes["standins"], catalogue.load("standins"), f"{name}: standins")
    _check_names("model", sizes["models"], plan.models, f"{name}: models")
    for section in ("pretraining", "finetuning", "pairs"):
        _check_names("recipe", sizes[section], known[section], f"{name}: {section}")
    make_spec({"pooling": "mean", **sizes["encoding"]}, f"{name}: encoding")
    for recipe in sizes["pretraining"]:
        found = recipes.pretraining(recipe, {"recipe": recipe}, {**sizes, "models": {}})
        found |= {"languages": recipes.languages(found["languages"])}
        # how long it trains may be another recipe's matter, which is checked as that one
        same_compute = {"equal_compute_to": {}} if "equal_compute_to" in found else {}
        del found["mining"]
        parse_pretraining(found | same_compute, f"{name}: pretraining.{recipe}")
    for key, changes in sizes["models"].items():
        _check_pretraining(plan, key, changes, f"{name}: models.{key}")
    for recipe in sizes["finetuning"]:
        parse_finetuning(plan.training_recipe(recipe), f"{name}: finetuning.{recipe}")
    for recipe in sizes["pairs"]:
        parse_pairs(as_json(plan.pairs_recipe(recipe)), f"{name}: pairs.{recipe}")

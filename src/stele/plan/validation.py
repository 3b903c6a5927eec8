"""What config.yaml and a scale of one's own say of recipes: checked by what takes them, before anything is built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stele import catalogue
from stele.catalogue import datasets
from stele.config.sources import Sources
from stele.errors import SteleError, unknown
from stele.plan.params import as_json
from stele.plan.plan import Plan
from stele.recipes import merge
from stele.recipes.encoding import make_spec
from stele.recipes.finetuning import parse_recipe as parse_finetuning
from stele.recipes.mining import parse_recipe as parse_pairs
from stele.recipes.pretraining import PretrainingRecipe
from stele.recipes.pretraining import parse_recipe as parse_pretraining
from stele.recipes.world import world_sizes

CORPORA = dict.fromkeys(("cc100", "wikipedia"))  # whose documents may be mined


def check(plan: Plan, where: Sources) -> None:
    """Refuses values that a job would refuse hours later, and names that nothing reads."""
    if plan.settings.scale not in catalogue.scale_names():
        check_scale(plan)
    for key, model in plan.settings.config.models.items():
        if model.override or plan.models.is_trained(key):
            _check_pretraining(plan, key, model.override, where("models", key, "override"))


def _check_pretraining(plan: Plan, key: str, changes: Mapping[str, Any], place: str) -> None:
    """Checks the recipe of a model, changed as `place` says."""
    if not plan.models.is_trained(key):
        raise SteleError(f"{place}: {key} is not pretrained here: give `base` and `recipe`, and no `checkpoint`")
    if isinstance(languages := changes.get("languages", []), str):
        _check_names("set of languages", [languages], catalogue.load("recipes")["languages"], f"{place}.languages")
    elif isinstance(languages, list):
        _check_languages(languages, f"{place}.languages")
    else:
        raise SteleError(f"{place}.languages: want codes, as [en, sw], or the name of a set (found {languages!r})")
    mining = changes.get("mining", {})
    if not isinstance(mining, Mapping):
        raise SteleError(f"{place}.mining: want a mining recipe by store, as {{msm: msm_blocks}} (found {mining!r})")
    _check_names("mining recipe", mining.values(), catalogue.load("recipes")["pairs"], f"{place}.mining")
    recipe = parse_pretraining(plan.pretraining.recipe(key), place)
    for store in sorted(_stores_read(recipe) - plan.pretraining.whole_recipe(key)["mining"].keys()):
        raise SteleError(f"{place}.mining: names no mining recipe for {store}, which {recipe.objective} reads")
    for store, name in merge.stores(plan.pretraining.whole_recipe(key)).items():
        if (method := plan.mining.recipe(name)["method"]) != store:
            raise SteleError(f"{place}.mining: {store}: want a recipe of the method {store}, found {name}, of {method}")
    _check_texts(plan, key, f"{place}.languages")


def _stores_read(recipe: PretrainingRecipe) -> set[str]:
    """The stores that the tasks of a recipe read, those of one that it is to equal in compute among them."""
    both = [one for one in (recipe, recipe.to_equal()) if one is not None]
    own = {one.store_of(task) for one in both for task in one.own_tasks()}
    return own | {"mlm" for one in both if one.mlm_share}


def _check_texts(plan: Plan, key: str, place: str) -> None:
    """Refuses languages in which there is no text of a kind that a model learns from."""
    for dataset, part in plan.pretraining.texts(key):
        have = datasets.parts(datasets.dataset(dataset))
        if part not in have:
            raise unknown(f"language of {dataset}", part, have, place)
    wanted = merge.languages(merge.pretraining(key, plan.models[key], plan.settings.sizes)["languages"])
    if reason := plan.pretraining.lacking(plan.pretraining.whole_recipe(key), wanted):
        raise SteleError(f"{place}: {reason}; give more, or `tasks` without it")


def _check_languages(codes: Iterable[str], place: str) -> None:
    for code in codes:
        if code not in (known := catalogue.load("languages")):
            more = "A language more is an entry of src/stele/catalogue/languages.yaml (CONTRIBUTING.md, A language)"
            raise SteleError(f"{unknown('language', str(code), known, place)}. {more}")


def _check_names(kind: str, names: Any, valid: Mapping[str, Any], place: str) -> None:
    for name in names:
        if name not in valid:
            raise unknown(kind, str(name), valid, place)


def check_scale(plan: Plan) -> None:
    """Checks a scale of one's own: every name and every value in it."""
    sizes, name, known = plan.settings.sizes, plan.settings.scale, catalogue.load("recipes")
    if plan.settings.generated:
        possible = [code for code, entry in catalogue.load("languages").items() if "world" in entry]
        if not sizes["languages"]:
            raise SteleError(f"{name}: languages: a generated scale lists them; possible: {', '.join(possible)}")
        _check_names("generated language", sizes["languages"], dict.fromkeys(possible), f"{name}: languages")
        world_sizes(sizes["world"], f"{name}: world")
    benchmarks = catalogue.load("benchmarks")
    _check_names("benchmark", sizes["benchmarks"], benchmarks, f"{name}: benchmarks")
    for benchmark, codes in sizes["benchmarks"].items():
        have = dict.fromkeys(benchmarks[benchmark]["languages"])
        _check_names(f"language of {benchmark}", codes, have, f"{name}: benchmarks.{benchmark}")
    _check_names("stand-in", sizes["standins"], catalogue.load("standins"), f"{name}: standins")
    _check_names("model", sizes["models"], plan.models.all, f"{name}: models")
    for section in ("pretraining", "finetuning", "pairs"):
        _check_names("recipe", sizes[section], known[section], f"{name}: {section}")
    make_spec({"pooling": "mean", **sizes["encoding"]}, f"{name}: encoding")
    for recipe in sizes["pretraining"]:
        found = merge.pretraining(recipe, {"recipe": recipe}, {**sizes, "models": {}})
        found |= {"languages": merge.languages(found["languages"])}
        # how long it trains may be another recipe's matter, which is checked as that one
        same_compute = {"equal_compute_to": {}} if "equal_compute_to" in found else {}
        del found["mining"]
        parse_pretraining(found | same_compute, f"{name}: pretraining.{recipe}")
    for key, changes in sizes["models"].items():
        _check_pretraining(plan, key, changes, f"{name}: models.{key}")
    for recipe in sizes["finetuning"]:
        parse_finetuning(plan.finetuning.recipe(recipe), f"{name}: finetuning.{recipe}")
    for recipe, changes in sizes["pairs"].items():
        if "parts" in changes:
            raise SteleError(f"{name}: pairs.{recipe}.parts: a scale has no say in it; leave it out")
        _check_names("corpus", [changes.get("corpus", "cc100")], CORPORA, f"{name}: pairs.{recipe}.corpus")
        parse_pairs(as_json(plan.mining.recipe(recipe)), f"{name}: pairs.{recipe}")

"""Checks models.yaml and the recipes that it names; finds training questions of a benchmark that a model saw."""

import re
from collections.abc import Iterator
from functools import cache

from stele import catalogue
from stele.catalogue import entries, load
from stele.catalogue.recipes import check_recipe
from stele.catalogue.schema import Facts, choice
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.datasets import Dataset
from stele.catalogue.schema.models import Model
from stele.files.strict import validate
from stele.recipes.pretraining import snapshot_step


def check_models(values: Facts, where: str) -> None:
    """Checks every model, and its recipe with the model's override applied. Raises SteleError with the key at fault."""
    validate(dict[str, Model], values, where)
    recipes, of_words = catalogue.load("recipes")["pretraining"], catalogue.load("recipes")["reranking"]
    trained = []
    for key, entry in values.items():
        for name in ("base", "tokenizer"):
            choice(entry, name, values, where, [key])
        if "recipe" in entry:
            trained.append(key)
            choice(entry, "recipe", recipes, where, [key])
            recipe = recipes[entry["recipe"]]
            check_recipe("pretraining", {**recipe, **entry.get("override", {})}, where, [key, "override"])
        if scorer := entry.get("word_scorer"):
            choice(scorer, "reranking", of_words, where, [key, "word_scorer"])
            choice(scorer, "vectors", catalogue.entries(Dataset), where, [key, "word_scorer"])
    for key, entry in values.items():
        choice(entry, "snapshot_of", trained, where, [key])
        if "snapshot_of" in entry:
            trained_model = values[entry["snapshot_of"]]
            whole = {**recipes[trained_model["recipe"]], **trained_model.get("override", {})}
            snapshot_step(whole, entry["epoch"], f"{where}: {key}.epoch")


@cache
def seen_questions(benchmark: str, model: str, setting: str) -> tuple[str, ...]:
    """Names of the question sets of a benchmark's training data that a model saw, as far as known.

    >>> seen_questions("miracl", "me5_base", "direct"), seen_questions("miracl", "msm", "multilingual")
    (('miracl', 'mrtydi'), ('miracl',))
    """
    known, entry = entries(Model).get(model), entries(Benchmark).get(benchmark)
    saw = {*((known and known.trained_on) or ()), *_fine_tuned_on(benchmark, setting)}
    return tuple(name for name in (entry.training_questions if entry else ()) if name in saw)


def _fine_tuned_on(benchmark: str, setting: str) -> Iterator[str]:
    """Yields the training sets of a setting's fine-tuning and of the earlier fine-tunings that it continues."""
    recipes = load("recipes")["finetuning"]
    name = load("settings")["settings"].get(benchmark, {}).get(setting, {}).get("recipe") or ""
    name = name.partition("-")[0]  # without a suffix for the training set's language
    while name in recipes:
        yield recipes[name]["training_set"]
        name = recipes[name].get("start")


def model_label(key: str) -> str:
    """Label of a model in tables; its key for a user's model, or if the label has no letter.

    >>> model_label("mbert"), model_label("msm_neg_256"), model_label("mine")
    ('mBERT', 'msm_neg_256', 'mine')
    """
    models = entries(Model)
    label = models[key].label if key in models else key
    return label if re.search("[A-Za-z]", label) else key

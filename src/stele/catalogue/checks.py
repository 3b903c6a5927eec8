"""Files whose entries name entries of other files: models.yaml, and scales, every recipe as the scale forces it."""

from __future__ import annotations

from stele import catalogue
from stele.catalogue.alike import whole_scale
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.datasets import Dataset
from stele.catalogue.schema.languages import Language
from stele.catalogue.schema.models import Model, check_standin
from stele.catalogue.schema.names import Facts, choice
from stele.catalogue.schema.recipes import READS, check_recipe
from stele.errors import SteleError, unknown
from stele.files.strict import validate
from stele.recipes.pretraining import snapshot_step
from stele.recipes.scale import Scale


def check_models(values: Facts, where: str) -> None:
    """Every entry, and the recipe of each as its override changes it."""
    validate(dict[str, Model], values, where)
    recipes, of_words = catalogue.load("recipes")["pretraining"], catalogue.load("recipes")["reranking"]
    for key, entry in values.items():
        for name in ("base", "tokenizer"):
            choice(entry, name, values, where, [key])
        if "recipe" in entry:
            choice(entry, "recipe", recipes, where, [key])
            recipe = recipes[entry["recipe"]]
            check_recipe("pretraining", {**recipe, **entry.get("override", {})}, where, [key, "override"])
        if scorer := entry.get("word_scorer"):
            choice(scorer, "reranking", of_words, where, [key, "word_scorer"])
            choice(scorer, "vectors", catalogue.entries(Dataset), where, [key, "word_scorer"])
    trained = {key for key, entry in values.items() if "recipe" in entry}
    for key, entry in values.items():
        choice(entry, "snapshot_of", trained, where, [key])
        if "snapshot_of" in entry:
            of = values[entry["snapshot_of"]]
            whole = {**recipes[of["recipe"]], **of.get("override", {})}
            snapshot_step(whole, entry["epoch"], f"{where}: {key}.epoch")


def check_scale(values: Facts, where: str) -> None:
    """The keys of a scale, the names in it, and what it forces; models of config.yaml are the plan's matter."""
    values = whole_scale(values, where)
    validate(Scale, values, where)
    recipes = catalogue.load("recipes")
    _check_languages(values, where)
    for benchmark, codes in values.get("benchmarks", {}).items():
        _known(benchmark, known := catalogue.entries(Benchmark), where, "benchmarks")
        for code in codes:
            choice({benchmark: code}, benchmark, known[benchmark].languages, where, ["benchmarks"])
    for recipe, codes in values.get("pretraining_languages", {}).items():
        _known(recipe, recipes["pretraining"], where, "pretraining_languages")
        for code in codes:
            choice({recipe: code}, recipe, values.get("languages") or (), where, ["pretraining_languages"])
    for key, forced in values.get("standins", {}).items():
        standins = catalogue.load("standins")
        _known(key, standins, where, "standins")
        check_standin({**standins[key], **forced}, where, ["standins", key])
    for section in READS:
        for name, forced in values.get(section, {}).items():
            _known(name, recipes[section], where, section)
            if section == "pairs" and "parts" in forced:
                raise SteleError(f"{where}: pairs.{name}.parts: a scale has no say in it; leave it out")
            check_recipe(section, {**recipes[section][name], **forced}, where, [section, name])
    for key, forced in values.get("models", {}).items():
        model = catalogue.entries(Model).get(key)
        if model and model.recipe:
            scaled = values.get("pretraining", {}).get(model.recipe, {})
            recipe = {**recipes["pretraining"][model.recipe], **scaled, **model.override, **forced}
            check_recipe("pretraining", recipe, where, ["models", key])


def _check_languages(values: Facts, where: str) -> None:
    known, chosen = catalogue.entries(Language), values.get("languages") or ()
    if values["generated"]:
        known = {code: entry for code, entry in known.items() if entry.world}
        if not chosen:
            raise SteleError(f"{where}: languages: a generated scale lists them; possible: {', '.join(known)}")
    for n, language in enumerate(chosen):
        if language not in known:
            kind = "generated language" if values["generated"] else "language"
            raise unknown(kind, language, known, f"{where}: languages.{n}")


def _known(name: str, valid: Facts, where: str, section: str) -> None:
    choice({section: name}, section, valid, where, [])

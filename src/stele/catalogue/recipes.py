"""Recipes as they are used: the catalogue's values, what the scale forces, what the user changes.

Each comes as two typed things: what it reads, which only the plan knows the files of, and what it does, which its
command is given.
"""

from __future__ import annotations

from stele import catalogue
from stele.catalogue.schema.benchmarks import TrainingSet
from stele.catalogue.schema.models import ModelKeys
from stele.catalogue.schema.recipes import (
    AnsweringReads,
    FinetuningReads,
    GeneratedQueriesReads,
    GeneratorOfLanguage,
    GeneratorReads,
    PairsReads,
    PretrainingReads,
    RerankingReads,
)
from stele.errors import unknown
from stele.files.strict import Strict, Values, validate
from stele.recipes import answering as of_answering
from stele.recipes import calibration as of_calibration
from stele.recipes import finetuning as of_finetuning
from stele.recipes import generated_queries as of_generated_queries
from stele.recipes import generator as of_generator
from stele.recipes import mining as of_mining
from stele.recipes import reranking as of_reranking
from stele.recipes import title_queries as of_title_queries
from stele.recipes.answering import AnsweringRecipe
from stele.recipes.calibration import CalibrationRecipe
from stele.recipes.finetuning import FinetuningRecipe
from stele.recipes.generated_queries import GeneratedQueriesRecipe
from stele.recipes.generator import GeneratorRecipe
from stele.recipes.mining import MiningRecipe
from stele.recipes.pretraining import recipe_model
from stele.recipes.reranking import RerankingRecipe, Trained
from stele.recipes.scale import Scale
from stele.recipes.title_queries import TitleQueriesRecipe


def pretraining(key: str, model: ModelKeys, sizes: Scale) -> tuple[PretrainingReads, Values]:
    """The recipe of the model `key`: the catalogue's, what the scale forces, the model's override, the scale's for it.

    What it does is typed by the plan, which knows its languages. A key that its objective does not have is an error
    that says the nearest.
    """
    name = model.recipe
    changes = {
        f"scale: pretraining.{name}": sizes.pretraining.get(name, {}),
        f"models.{key}.override": model.override,
        f"scale: models.{key}": sizes.models.get(key, {}),
    }
    recipe = {**_named("pretraining", "recipe", name, f"models.{key}.recipe"), "threads": sizes.threads}
    for values in changes.values():
        recipe |= values
    valid = {*recipe_model(recipe["objective"]).model_fields, "mining", "epoch_steps"}
    for where, values in changes.items():
        for wrong in sorted(values.keys() - valid):
            raise unknown("recipe key", wrong, valid, where)
    reads, does = _apart(recipe, PretrainingReads)
    return validate(PretrainingReads, reads, f"models.{key}.override"), does


def finetuning(name: str, sizes: Scale) -> tuple[FinetuningReads, FinetuningRecipe]:
    """A fine-tuning recipe with what the scale forces; its training sets with their modules and data.

    A name may end in a language of its training set ("wiki-ar"), which changes nothing of how it learns.
    """
    name = name.partition("-")[0]
    recipe = _named("finetuning", "fine-tuning recipe", name)
    where = f"recipes.yaml: finetuning.{name}"
    whole = {**recipe, **sizes.finetuning.get(name, {}), "threads": sizes.threads}
    reads, does = _apart(whole, FinetuningReads)
    sets = {key: _training_set(whole[key]) for key in ("training_set", "dev_set") if whole.get(key)}
    return validate(FinetuningReads, reads, where), of_finetuning.parse_recipe({**does, **sets}, where)


def pairs(name: str, sizes: Scale) -> tuple[PairsReads, MiningRecipe]:
    """A mining recipe with what the scale forces."""
    reads, does = _apart({**_named("pairs", "mining recipe", name), **sizes.pairs.get(name, {})}, PairsReads)
    where = f"recipes.yaml: pairs.{name}"
    return validate(PairsReads, reads, where), of_mining.parse_recipe(does, where)


def calibration(name: str, sizes: Scale) -> CalibrationRecipe:
    """A recipe of calibration with what the scale forces."""
    recipe = {**_named("calibration", "recipe of calibration", name), **sizes.calibration.get(name, {})}
    return of_calibration.parse_recipe({**recipe, "threads": sizes.threads}, f"recipes.yaml: calibration.{name}")


def title_queries(name: str, sizes: Scale) -> TitleQueriesRecipe:
    """A recipe of title queries with what the scale forces."""
    recipe = {**_named("title_queries", "recipe of title queries", name), **sizes.title_queries.get(name, {})}
    return of_title_queries.parse_recipe({**recipe, "threads": sizes.threads}, f"recipes.yaml: title_queries.{name}")


def generator(name: str, language: str, sizes: Scale) -> tuple[GeneratorOfLanguage, GeneratorRecipe]:
    """What the generator of a language is made of, and how, with what the scale forces."""
    whole = {**_named("generators", "generator", name), **sizes.generators.get(name, {}), "threads": sizes.threads}
    reads, does = _apart(whole, GeneratorReads)
    where = f"recipes.yaml: generators.{name}"
    of_languages = validate(GeneratorReads, reads, where).by_language
    if language not in of_languages:
        raise unknown("language", language, of_languages, where)
    own = of_languages[language]
    does |= {"training_set": _training_set(own.training_set), "language_code": own.code}
    return own, of_generator.parse_recipe(does, where)


def generator_models() -> set[str]:
    """The models that generators of queries go on from: they write text and encode none."""
    known = catalogue.load("recipes")["generators"].values()
    return {own["model"] for recipe in known for own in recipe["by_language"].values()}


def generated_queries(name: str, sizes: Scale) -> tuple[GeneratedQueriesReads, GeneratedQueriesRecipe]:
    """A recipe of generated queries with what the scale forces."""
    whole = _named("generated_queries", "recipe of generated queries", name)
    reads, does = _apart(
        {**whole, **sizes.generated_queries.get(name, {}), "threads": sizes.threads}, GeneratedQueriesReads
    )
    where = f"recipes.yaml: generated_queries.{name}"
    return validate(GeneratedQueriesReads, reads, where), of_generated_queries.parse_recipe(does, where)


def reranking(name: str, sizes: Scale, windows: bool = False) -> RerankingRecipe:
    """A re-ranking recipe with what the scale forces, for a model with `windows` of attention or without."""
    where = f"recipes.yaml: reranking.{name}"
    whole = {**_named("reranking", "re-ranking recipe", name), **sizes.reranking.get(name, {})}
    reads, recipe = _apart(whole, RerankingReads)
    if windows and reads.get("window_length"):
        recipe["length"] = reads["window_length"]
    threads = {"threads": sizes.threads} if issubclass(of_reranking.recipe_model(recipe["scorer"]), Trained) else {}
    return of_reranking.parse_recipe({**recipe, **threads}, where)


def answering(name: str, sizes: Scale) -> tuple[AnsweringReads, AnsweringRecipe]:
    """A recipe of question answering with what the scale forces; its training set with its module and data."""
    where = f"recipes.yaml: answering.{name}"
    recipe = {**_named("answering", "recipe of question answering", name), **sizes.answering.get(name, {})}
    reads, does = _apart({**recipe, "threads": sizes.threads}, AnsweringReads)
    does["training_set"] = _training_set(recipe["training_set"])
    return validate(AnsweringReads, reads, where), of_answering.parse_recipe(does, where)


def stores(reads: PretrainingReads, does: Values) -> dict[str, str]:
    """store -> mining recipe, of the stores that a pretraining recipe reads: those of its tasks, where it has tasks.

    A recipe that is to equal another in compute says in `mining` what that one reads, too: its texts decide its cost.
    """
    if not isinstance(does.get("tasks"), list) or reads.equal_compute_to is not None:
        return dict(reads.mining)
    model = recipe_model(does["objective"])
    read = {model.store_of(task) for task in does["tasks"]}
    return {store: name for store, name in reads.mining.items() if store in read}


def languages(chosen: list[str] | str) -> list[str]:
    """The languages of a recipe: a list of codes, or the name of a set of the catalogue's."""
    sets = catalogue.load("recipes")["languages"]
    if isinstance(chosen, str) and chosen not in sets:
        raise unknown("set of languages", chosen, sets)
    return list(sets[chosen] if isinstance(chosen, str) else chosen)


def names(section: str) -> list[str]:
    """The recipes of a section of recipes.yaml, or its sets of `languages`."""
    return list(catalogue.load("recipes")[section])


def _named(section: str, kind: str, name: str, where: str = "") -> Values:
    recipes = catalogue.load("recipes")[section]
    if name not in recipes:
        raise unknown(kind, name, recipes, where)
    return recipes[name]


def _apart(recipe: Values, reads: type[Strict]) -> tuple[Values, Values]:
    """(what it reads, what it does) of a recipe."""
    read = recipe.keys() & reads.model_fields.keys()
    return {key: recipe[key] for key in read}, {key: recipe[key] for key in recipe if key not in read}


def _training_set(name: str) -> Values:
    entry = catalogue.entry(TrainingSet, name)
    return {"module": entry.module, "data": [name] if entry.made else entry.data}

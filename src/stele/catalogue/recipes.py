"""Checks recipes.yaml; applies a scale and a model's override to a recipe, and validates the result.

The keys of a recipe are those of its class in stele/recipes; some of them only the plan reads (`plan_key`). Keys of the
scale replace the file's values; a model's `override` replaces both.
"""

from collections.abc import Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from pydantic import Field

from stele import catalogue
from stele.catalogue.schema import Facts, choice
from stele.catalogue.schema.benchmarks import TrainingSet
from stele.catalogue.schema.models import ModelKeys
from stele.errors import SteleError, unknown
from stele.files.strict import Strict, Values, validate
from stele.recipes import Recipe, mining
from stele.recipes.finetuning import KEPT, AnsweringRecipe, FinetuningRecipe, GeneratorRecipe
from stele.recipes.pretraining import OBJECTIVES, recipe_model
from stele.recipes.reranking import SCORERS, RerankingRecipe
from stele.recipes.scale import Scale
from stele.recipes.search import CalibrationRecipe
from stele.recipes.transfer import GeneratedQueriesRecipe, TitleQueriesRecipe
from stele.registry import module_names

KINDS = {  # section -> how an error calls its entries
    "pairs": "mining recipe",
    "pretraining": "recipe",
    "finetuning": "fine-tuning recipe",
    "calibration": "recipe of calibration",
    "title_queries": "recipe of title queries",
    "generators": "generator",
    "generated_queries": "recipe of generated queries",
    "reranking": "re-ranking recipe",
    "answering": "recipe of question answering",
}
CHOSEN_BY = {"pretraining": "objective", "pairs": "method", "reranking": "scorer"}  # section -> the key with its model
MODELS = {  # the other sections have one model each
    "finetuning": FinetuningRecipe,
    "calibration": CalibrationRecipe,
    "title_queries": TitleQueriesRecipe,
    "generators": GeneratorRecipe,
    "generated_queries": GeneratedQueriesRecipe,
    "answering": AnsweringRecipe,
}


# --- the file checked -------------------------------------------------------------------------------------------------
class Recipes(Strict):
    """Sections of recipes.yaml."""

    languages: dict[str, list[str]] = Field(description="name -> languages of a set")
    pairs: dict[str, Values] = Field(description="mining recipes")
    pretraining: dict[str, Values]
    finetuning: dict[str, Values]
    calibration: dict[str, Values]
    title_queries: dict[str, Values] = Field(description="transfer sets whose queries are the titles of a Wikipedia")
    generators: dict[str, Values] = Field(description="models that write a query for a passage")
    generated_queries: dict[str, Values] = Field(description="transfer sets whose queries are generated")
    reranking: dict[str, Values] = Field(description="scorers of judged documents, with their training")
    answering: dict[str, Values] = Field(description="training of models that find answers in paragraphs")


def check_recipes(values: Facts, where: str) -> None:
    """Checks the sections, every recipe, and the names by which recipes refer to others. Raises SteleError."""
    validate(Recipes, values, where)
    for section in KINDS:
        for name, entry in values[section].items():
            at = [section, name]
            if section == "finetuning" and "-" in name:
                raise SteleError(f"{where}: {'.'.join(at)}: a language follows a -; write {name.replace('-', '_')}")
            check_recipe(section, entry, where, at)
            for key in {"start", "miner", "equal_compute_to"} & entry.keys():
                choice(entry, key, values[section], where, at)
            choice(entry, "generator", values["generators"], where, at)
            for store in entry.get("mining", ()):
                choice(entry["mining"], store, values["pairs"], where, [*at, "mining"])
            if isinstance(entry.get("languages"), str):
                choice(entry, "languages", values["languages"], where, at)
    before = {name: {entry.get("start"), entry.get("miner")} - {None} for name, entry in values["finetuning"].items()}
    try:
        TopologicalSorter(before).prepare()
    except CycleError as error:
        circle = ", ".join(dict.fromkeys(error.args[1]))
        raise SteleError(f"{where}: finetuning: `start` and `miner` lead in a circle: {circle}; change one") from None


def check_recipe(section: str, entry: Facts, where: str, at: Sequence[str]) -> None:
    """Checks one whole recipe of a section; raises SteleError with the key at fault."""
    model = _model(section, entry, where, at)
    values = dict(entry)
    if isinstance(values.get("languages"), str):  # the name of a set
        values["languages"] = ["en"]
    for key in ("training_set", "dev_set"):
        choice(entry, key, catalogue.entries(TrainingSet), where, at)
    for key in model.CATALOGUE_KEYS:
        if key not in entry and entry.keys() <= model.model_fields.keys():  # else a misspelt key is reported below
            raise SteleError(f"{where}: {'.'.join((*at, key))}: Field required")
    validate(model, values, where, at)


def models(section: str) -> dict[str, type[Recipe]]:
    """Recipe classes of a section, by the value of the key that chooses one; {"": class} for a section with one."""
    if section == "pretraining":
        return {name: recipe_model(name) for name in module_names(OBJECTIVES)}
    return {"pairs": mining.methods(), "reranking": SCORERS}.get(section) or {"": MODELS[section]}


def _model(section: str, entry: Facts, where: str, at: Sequence[str]) -> type[Recipe]:
    """Returns the class of a recipe: its section's, or the one that its objective, method or scorer names."""
    if section in MODELS:
        return MODELS[section]
    if section == "pretraining":
        return recipe_model(choice(entry, CHOSEN_BY[section], module_names(OBJECTIVES), where, at, required=True))
    known = models(section)
    return known[choice(entry, CHOSEN_BY[section], known, where, at, required=True)]


# --- a recipe, scaled and typed ---------------------------------------------------------------------------------------
def names(section: str) -> list[str]:
    """Names of the recipes in a section of recipes.yaml, or of the language sets in its section `languages`."""
    return list(catalogue.load("recipes")[section])


def languages(chosen: list[str] | str) -> list[str]:
    """Language codes of a recipe, which gives a list of codes or the name of a set. Raises SteleError if unknown."""
    sets = catalogue.load("recipes")["languages"]
    if isinstance(chosen, str) and chosen not in sets:
        raise unknown("set of languages", chosen, sets)
    return list(sets[chosen] if isinstance(chosen, str) else chosen)


def generator_models() -> set[str]:
    """Models from which generators of queries start; they write text and do not encode it."""
    entries = catalogue.load("recipes")["generators"].values()
    return {language["model"] for recipe in entries for language in recipe["by_language"].values()}


def pretraining(key: str, model: ModelKeys, sizes: Scale) -> Values:
    """Returns the pretraining recipe of the model `key` in all its languages; the caller validates its values.

    In this order, later values replace earlier ones: the catalogue's, the scale's for the recipe, the model's override.
    Raises SteleError for a key that the objective does not have.
    """
    name = model.recipe
    changes = {
        f"scale: pretraining.{name}": sizes.pretraining.get(name, {}),
        f"models.{key}.override": model.override,
    }
    recipe = {**_named("pretraining", name, f"models.{key}.recipe"), "threads": sizes.threads}
    for values in changes.values():
        recipe |= values
    valid = recipe_model(recipe["objective"]).model_fields.keys() - {"expect"}
    for where, values in changes.items():
        for wrong in sorted(values.keys() - valid):
            raise unknown("recipe key", wrong, valid, where)
    if isinstance(recipe["languages"], str):
        recipe["languages"] = languages(recipe["languages"])
    return recipe


def finetuning(name: str, sizes: Scale) -> FinetuningRecipe:
    """Returns a fine-tuning recipe; a name with a language of its training set ("wiki-ar") gives the recipe "wiki".

    Keys that the encoder keeps from its `start` are the start's if the recipe lacks them.
    """
    name = name.partition("-")[0]
    recipe = scaled("finetuning", name, sizes)
    if not recipe.start:
        return recipe
    start = finetuning(recipe.start, sizes)
    lacking = start.model_fields_set.intersection(KEPT) - recipe.model_fields_set
    return scaled("finetuning", name, sizes, **{key: getattr(start, key) for key in lacking})


def generator(name: str, language: str, sizes: Scale) -> GeneratorRecipe:
    """Returns the recipe of the query generator of one language. Raises SteleError if it has none."""
    by_language = scaled("generators", name, sizes).by_language
    if language not in by_language:
        raise unknown("language", language, by_language, f"recipes.yaml: generators.{name}")
    entry = by_language[language]
    return scaled("generators", name, sizes, training_set=entry.training_set, language_code=entry.code)


def reranking(name: str, sizes: Scale, windows: bool = False) -> RerankingRecipe:
    """Returns a re-ranking recipe; a model with attention `windows` gets the recipe's `window_length` as its length."""
    recipe = {**_named("reranking", name), **sizes.reranking.get(name, {})}
    length = recipe.get("window_length")
    return scaled("reranking", name, sizes, **({"length": length} if windows and length else {}))


def scaled(section: str, name: str, sizes: Scale, **changes: Any) -> Any:
    """Returns a recipe of a section: the file's values, the scale's and `changes`, with its training sets' entries.

    Raises SteleError for an unknown name or an invalid value.
    """
    where = f"recipes.yaml: {section}.{name}"
    recipe = {**_named(section, name), **getattr(sizes, section).get(name, {}), **changes}
    model = _model(section, recipe, where, [])
    if "threads" in model.model_fields:
        recipe["threads"] = sizes.threads
    for key in ("training_set", "dev_set"):
        if name_of_set := recipe.pop(key, None):
            entry = catalogue.entry(TrainingSet, name_of_set)
            # the module and datasets for the command, the name for the plan
            data = [name_of_set] if entry.made else entry.data
            recipe[key] = {"module": entry.module, "data": data, "entry": name_of_set}
    return validate(model, recipe, where)


def _named(section: str, name: str, where: str = "") -> Values:
    recipes = catalogue.load("recipes")[section]
    if name not in recipes:
        raise unknown(KINDS[section], name, recipes, where)
    return recipes[name]

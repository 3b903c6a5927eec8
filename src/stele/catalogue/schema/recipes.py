"""recipes.yaml: what an entry does is its recipe's own model (stele/recipes); what it reads, only the plan knows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from stele.catalogue.schema.names import Facts, choice
from stele.files.strict import Strict, Values, validate
from stele.recipes import mining, reranking
from stele.recipes.answering import AnsweringRecipe
from stele.recipes.calibration import CalibrationRecipe
from stele.recipes.finetuning import FinetuningRecipe
from stele.recipes.generated_queries import GeneratedQueriesRecipe
from stele.recipes.generator import GeneratorRecipe
from stele.recipes.pretraining import RECIPES, recipe_model
from stele.recipes.title_queries import TitleQueriesRecipe
from stele.registry import module_names

# the key that says which file does it
NAMED = {"pretraining": ("objective", RECIPES), "pairs": ("method", mining.RECIPES)}


class Recipes(Strict):
    """The sections of the file."""

    languages: dict[str, list[str]] = Field(description="sets of languages, by name")
    pairs: dict[str, Values] = Field(description="mining recipes")
    pretraining: dict[str, Values]
    finetuning: dict[str, Values]
    calibration: dict[str, Values]
    title_queries: dict[str, Values] = Field(description="transfer sets of a Wikipedia's titles")
    generators: dict[str, Values] = Field(description="what writes a query for a passage")
    generated_queries: dict[str, Values] = Field(description="transfer sets of queries that are generated")
    reranking: dict[str, Values] = Field(description="scorers of judged documents, and how they are trained")
    answering: dict[str, Values] = Field(description="how a model learns to find answers in paragraphs")


class PairsReads(Strict):
    """What a mining recipe reads."""

    corpus: Literal["cc100", "wikipedia", "wikitext103"] = Field("cc100", description="whose documents")
    parts: Literal["languages", "language_pairs"] | None = Field(
        None, description="the knowledge base, a language or two a job; None: the documents of `corpus`"
    )
    vectors: str | None = Field(None, description="a dataset of aligned words' vectors: sections are paired by them")


class Expected(Strict):
    """What a paper says that a run took."""

    hours: float = Field(gt=0)
    gpus: str = Field(description="how many of which")


class PretrainingReads(Strict):
    """What a pretraining recipe reads, and what is told of it."""

    expect: Expected | None = None
    epoch_steps: int | None = Field(None, ge=1, description="steps of what its paper calls an epoch")

    mining: dict[str, str] = Field(description="store -> the mining recipe that fills it")
    languages: str | list[str] = Field(description="a set of the file's, or codes")
    equal_compute_to: str | None = Field(None, description="the recipe whose FLOPs decide this one's steps")


class FinetuningReads(Strict):
    """What a fine-tuning recipe reads."""

    start: str | None = Field(description="the fine-tuning that it goes on from; null: the model itself")
    training_set: str = Field(description="a name of training_sets.yaml")
    dev_set: str | None = Field(None, description="a name of training_sets.yaml: what a checkpoint is chosen by")
    miner: str | None = Field(None, description="the fine-tuning whose model mines hard negatives")


class GeneratorOfLanguage(Strict):
    """Where a generator of a language comes from."""

    model: str = Field(description="a name of models.yaml: what is fine-tuned")
    code: str = Field(description="how that model calls the language")
    training_set: str = Field(description="a name of training_sets.yaml: queries and passages in the language")


class GeneratorReads(Strict):
    """What a generator's recipe reads."""

    by_language: dict[str, GeneratorOfLanguage]


class GeneratedQueriesReads(Strict):
    """What a recipe of generated queries reads."""

    generator: str = Field(description="a recipe of `generators`")
    collections: dict[str, str] = Field(description="language -> the benchmark for whose documents queries are written")


class RerankingReads(Strict):
    """What the plan settles of a re-ranking recipe, by the model that a scorer starts from."""

    window_length: int | None = Field(None, ge=8, description="`length` where the model has windows of attention")


class AnsweringReads(Strict):
    """What a recipe of question answering reads."""

    training_set: str = Field(description="a name of training_sets.yaml")


READS = {
    "pairs": PairsReads,
    "pretraining": PretrainingReads,
    "finetuning": FinetuningReads,
    "calibration": Strict,  # nothing that a recipe names
    "title_queries": Strict,
    "generators": GeneratorReads,
    "generated_queries": GeneratedQueriesReads,
    "reranking": RerankingReads,
    "answering": AnsweringReads,
}
OF_ONE_KIND = {
    "finetuning": FinetuningRecipe,
    "calibration": CalibrationRecipe,
    "title_queries": TitleQueriesRecipe,
    "generators": GeneratorRecipe,
    "generated_queries": GeneratedQueriesRecipe,
    "answering": AnsweringRecipe,
}


def check_recipes(values: Facts, where: str) -> None:
    """The sections, every recipe in them, and the names by which recipes call each other."""
    validate(Recipes, values, where)
    for section in READS:
        for name, entry in values[section].items():
            at = [section, name]
            check_recipe(section, entry, where, at)
            for key in {"start", "miner", "equal_compute_to"} & entry.keys():
                choice(entry, key, values[section], where, at)
            choice(entry, "generator", values["generators"], where, at)
            for store in entry.get("mining", ()):
                choice(entry["mining"], store, values["pairs"], where, [*at, "mining"])
            if isinstance(entry.get("languages"), str):
                choice(entry, "languages", values["languages"], where, at)


def check_recipe(section: str, entry: Facts, where: str, at: Sequence[str]) -> None:
    """One whole recipe of a section."""
    does, reads = _does(section, entry, where, at), READS[section]
    read = {key: value for key, value in entry.items() if key in reads.model_fields}
    rest = {key: value for key, value in entry.items() if key not in reads.model_fields}
    # a recipe holds what the names stand for
    if entry.get("equal_compute_to") is not None:
        rest["equal_compute_to"] = {}
    if "languages" in entry:
        rest["languages"] = ["en"]
    if section == "generators":
        rest["training_set"] = ""
    if section in ("finetuning", "answering"):
        rest |= {
            key: None if entry[key] is None else str(entry[key]) for key in ("training_set", "dev_set") if key in entry
        }
    validate(does, rest, where, at, reads.model_fields)
    validate(reads, read, where, at, does.model_fields)


def _does(section: str, entry: Facts, where: str, at: Sequence[str]) -> type[Strict]:
    """The model of what a recipe does."""
    if section in OF_ONE_KIND:
        return OF_ONE_KIND[section]
    if section == "reranking":
        return reranking.recipe_model(choice(entry, "scorer", reranking.SCORERS, where, at, required=True))
    key, package = NAMED[section]
    name = choice(entry, key, module_names(package), where, at, required=True)
    return recipe_model(name) if section == "pretraining" else mining.recipe_model(name)

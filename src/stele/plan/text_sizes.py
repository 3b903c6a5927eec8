"""Bytes of the texts that are mined, and what is kept of them: from the catalogue's sizes and the scale's caps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from stele import catalogue
from stele.recipes import merge
from stele.recipes.pretraining import parse_recipe
from stele.training import draws
from stele.training.sampling import language_probabilities

if TYPE_CHECKING:
    from stele.plan.mined import Mined


def _costs() -> dict[str, Any]:
    return catalogue.load("costs")


def web_bytes(plan: Mined, language: str) -> float:
    """Bytes of a language's CC-100 that are read, compressed; 0 where it has none."""
    whole = catalogue.load("cc100_sizes").get(catalogue.get("languages", language).get("cc100"), 0)
    first = plan.first("cc100")
    return whole if first is None else min(whole, first * _costs()["web_document"] / _costs()["cc100_text"])


def text_bytes(plan: Mined, mining: str, language: str) -> float:
    """Bytes of plain text that a mining recipe reads in a language."""
    if plan.corpus_of(mining, language) == "wikipedia":
        return float(plan.dump_mb(language) << 20) * _costs()["wikipedia_text"]
    return web_bytes(plan, language) * _costs()["cc100_text"]


def example_bytes(plan: Mined, mining: str) -> float:
    """Bytes of plain text behind an example of a mining recipe."""
    return _costs()["example_text"][plan.pairs_recipe(mining)["method"]]


def _shares(plan: Mined, mining: str, recipe: Mapping[str, Any]) -> dict[str, float]:
    """language -> its share of the draws; 1 where nobody knows how large texts are."""
    languages = recipe["languages"]
    corpora = {plan.corpus_of(mining, language) for language in languages}
    if plan.generated or any(plan.users_folder(corpus) for corpus in corpora):
        return dict.fromkeys(languages, 1.0)
    sizes = {language: text_bytes(plan, mining, language) for language in languages}
    known = {language: size for language, size in sizes.items() if size}
    shares = language_probabilities(known, recipe["sampling_alpha"]) if known else {}
    return {language: shares.get(language, 1.0) for language in languages}


def store_caps(plan: Mined) -> dict[tuple[str, str, str], int]:
    """(mining recipe, tokenizer, language) -> the most examples that a store of it keeps.

    That is what the model that draws most of it can draw, of all models that there are: which of them are built has no
    say, so that another table reruns no mining.
    """
    most: dict[tuple[str, str, str], float] = {}
    for model in filter(plan.is_trained, plan.models):
        recipe = plan.pretraining_recipe(model)
        drawn = draws.drawn(parse_recipe(plan.objective_recipe(model), f"models.{model}"))
        for store, mining in merge.stores(recipe).items():
            if plan.mines_knowledge(mining) or store not in drawn:
                continue
            for language, share in _shares(plan, mining, recipe).items():
                key = mining, plan.tokenizer(model), language
                most[key] = max(most.get(key, 0), draws.most(drawn[store], share))
    return {key: draws.cap(number) for key, number in most.items()}

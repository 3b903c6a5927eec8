"""Recipes as they are used: the catalogue's values, what the scale forces, what the user changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stele import catalogue
from stele.errors import unknown
from stele.recipes.pretraining import recipe_model

Sizes = Mapping[str, Any]  # a scale's
EXPECT = "expect"  # what the paper says that a run took: words about a recipe, which no job gets


def pretraining(key: str, model: Mapping[str, Any], sizes: Sizes) -> dict[str, Any]:
    """The recipe of the model `key`: the catalogue's, what the scale forces, the model's override, the scale's for it.

    A key that its objective does not have is an error that says the nearest.
    """
    name = model["recipe"]
    changes = {
        f"scale: pretraining.{name}": sizes["pretraining"].get(name, {}),
        f"models.{key}.override": model.get("override", {}),
        f"scale: models.{key}": sizes["models"].get(key, {}),
    }
    recipe = _named("pretraining", "recipe", name, f"models.{key}.recipe") | {"threads": sizes["threads"]}
    for values in changes.values():
        recipe |= values
    valid = {*recipe_model(recipe["objective"]).model_fields, "mining"}
    for where, values in changes.items():
        for wrong in sorted(values.keys() - valid):
            raise unknown("recipe key", wrong, valid, where)
    return recipe


def finetuning(name: str, sizes: Sizes) -> dict[str, Any]:
    """A fine-tuning recipe with what the scale forces."""
    recipe = _named("finetuning", "fine-tuning recipe", name)
    return {**recipe, **sizes["finetuning"].get(name, {}), "threads": sizes["threads"]}


def pairs(method: str, sizes: Sizes) -> dict[str, Any]:
    """A mining recipe with what the scale forces."""
    return {**_named("pairs", "mining recipe", method), **sizes["pairs"].get(method, {})}


def stores(recipe: Mapping[str, Any]) -> dict[str, str]:
    """store -> mining recipe, of the stores that a pretraining recipe reads: those of its tasks, where it has tasks.

    A recipe that is to equal another in compute says in `mining` what that one reads, too: its texts decide its cost.
    """
    if not isinstance(recipe.get("tasks"), list) or "equal_compute_to" in recipe:
        return dict(recipe["mining"])
    model = recipe_model(recipe["objective"])
    read = {model.store_of(task) for task in recipe["tasks"]}
    return {store: name for store, name in recipe["mining"].items() if store in read}


def languages(chosen: list[str] | str) -> list[str]:
    """The languages of a recipe: a list of codes, or the name of a set of the catalogue's."""
    sets = catalogue.load("recipes")["languages"]
    if isinstance(chosen, str) and chosen not in sets:
        raise unknown("set of languages", chosen, sets)
    return list(sets[chosen] if isinstance(chosen, str) else chosen)


def _named(section: str, kind: str, name: str, where: str = "") -> dict[str, Any]:
    recipes = catalogue.load("recipes")[section]
    if name not in recipes:
        raise unknown(kind, name, recipes, where)
    return {key: value for key, value in recipes[name].items() if key != EXPECT}

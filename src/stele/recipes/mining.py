"""What a mining recipe may say: the keys of all methods; a method's own stand in recipes/pairs/{method}.py."""

from __future__ import annotations

from stele.errors import SteleError, unknown
from stele.files.strict import Strict, Values, validate
from stele.registry import load_named, module_names

RECIPES = "stele.recipes.pairs"
SPECIAL = 2  # special tokens that training puts around a segment: lengths in recipes count them, stores leave them out


class MiningRecipe(Strict):
    """Keys of a mining method; each method adds its own."""

    method: str

    def text(self, sentence: str) -> str:
        """What of a sentence is tokenised: all of it, unless a method cuts sentences by words."""
        return sentence


def recipe_model(method: str) -> type[MiningRecipe]:
    """The recipe of a mining method, a file of recipes/pairs; nothing that mines is needed for it."""
    return load_named(RECIPES, method, "mining method").Recipe


def parse_recipe(values: Values, where: str = "--recipe") -> MiningRecipe:
    """Validates a recipe with the model of its method; what is wrong is said with the key and what is valid."""
    methods = module_names(RECIPES)
    if not isinstance(values.get("method"), str):
        raise SteleError(f"{where}: want an object with the key `method`, one of {', '.join(methods)}")
    if values["method"] not in methods:
        raise unknown("mining method", values["method"], methods, where)
    return validate(recipe_model(values["method"]), values, where)

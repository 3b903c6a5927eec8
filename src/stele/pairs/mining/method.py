"""The method that a mining recipe names: a file of pairs/methods."""

from __future__ import annotations

from types import ModuleType

from stele.errors import SteleError
from stele.files.reading import parse_object
from stele.recipes.mining import MiningRecipe, parse_recipe
from stele.registry import load_named

METHODS = "stele.pairs.methods"
COMMANDS = {"examples": "mine", "candidates": "knowledge_pairs", "matches": "section_pairs"}  # by what a method has


def load_method(text: str, step: str) -> tuple[ModuleType, MiningRecipe]:
    """(module of the method, its recipe) from the JSON text of --recipe.

    `step` names the function that the method must have: `examples` for `pairs mine`, `candidates` for `pairs
    knowledge_pairs` and `matches` for `pairs section_pairs`, and what follows each.
    """
    recipe = parse_recipe(parse_object(text, "--recipe"))
    module = load_named(METHODS, recipe.method, "mining method")
    if not hasattr(module, step):
        other = next(command for own, command in COMMANDS.items() if hasattr(module, own))
        raise SteleError(f"--recipe: {recipe.method} examples are made by `pairs {other}`, not by this command")
    return module, recipe

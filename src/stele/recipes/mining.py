"""Mining recipes: what all methods share, and how a recipe is read."""

from __future__ import annotations

from types import ModuleType

from stele.errors import SteleError, unknown
from stele.files.reading import parse_object
from stele.files.strict import Strict, validate
from stele.registry import load_named, module_names

METHODS = "stele.pairs.methods"
SPECIAL = 2  # special tokens that training puts around a segment: lengths in recipes count them, stores leave them out


class MiningRecipe(Strict):
    """Keys of a mining method; each method adds its own."""

    method: str

    def text(self, sentence: str) -> str:
        """What of a sentence is tokenised: all of it, unless a method cuts sentences by words."""
        return sentence


def parse_recipe(text: str, where: str = "--recipe", step: str = "") -> tuple[ModuleType, MiningRecipe]:
    """(module of the method, its recipe) from JSON text; what is wrong is said with the key and what is valid.

    `step` names the function that the method must have: `examples` for `pairs mine`, `candidates` for `pairs
    knowledge_pairs` and what follows.
    """
    values = parse_object(text, where)
    methods = module_names(METHODS)
    if not isinstance(values.get("method"), str):
        raise SteleError(
            f"{where}: want an object with the key `method`, one of {', '.join(methods)}; found {text[:80]!r}"
        )
    if values["method"] not in methods:
        raise unknown("mining method", values["method"], methods, where)
    module = load_named(METHODS, values["method"], "mining method")
    if step and not hasattr(module, step):
        other = "mine" if step == "candidates" else "knowledge_pairs"
        raise SteleError(f"{where}: {values['method']} examples are made by `pairs {other}`, not by this command")
    return module, validate(module.Recipe, values, where)

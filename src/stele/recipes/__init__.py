"""Recipes: the keys of training, mining and search jobs. The papers' values are in catalogue/recipes.yaml."""

from typing import Any, ClassVar

from pydantic import Field

from stele.files.strict import Strict


class Recipe(Strict):
    """Base of all recipes: the keys that a command takes, and those that only the plan reads (`plan_key`).

    CATALOGUE_KEYS   keys that an entry of recipes.yaml must have, although they are optional for a command
    """

    CATALOGUE_KEYS: ClassVar[tuple[str, ...]] = ()


def plan_key(default: Any = None, **constraints: Any) -> Any:
    """Declares a key that only the plan reads, since it names other entries of the catalogue.

    Commands do not get the key, records do not contain it, and no job reruns when it changes.
    """
    return Field(default, exclude=True, **constraints)

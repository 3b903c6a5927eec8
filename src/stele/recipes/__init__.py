"""Recipes: what each job of training, mining and searching may be told. The papers' values: catalogue/recipes.yaml."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from stele.files.strict import Strict


class Recipe(Strict):
    """A recipe of recipes.yaml, as its command is given it and with the keys that the plan alone reads (`plan_key`).

    CATALOGUE_KEYS   keys that an entry of recipes.yaml must have, although a command need not be given them
    """

    CATALOGUE_KEYS: ClassVar[tuple[str, ...]] = ()


def plan_key(default: Any = None, **constraints: Any) -> Any:
    """A key that the plan alone reads, since it names other entries of the catalogue.

    No command is given it; it is in no record, and no job reruns for it.
    """
    return Field(default, exclude=True, **constraints)

"""The generated internet: stand-ins for public checkpoints, and the facts that generated texts depend on."""

from __future__ import annotations

from dataclasses import dataclass

from stele import catalogue
from stele.catalogue.datasets import dataset, languages_of
from stele.catalogue.schema.languages import Language
from stele.errors import unknown
from stele.files.digests import digest
from stele.plan.cached_method import cached_method
from stele.plan.models import Models
from stele.plan.paths import Paths
from stele.plan.settings import Settings
from stele.recipes.standins import Recipe, parse_recipe


@dataclass(frozen=True, eq=False, repr=False)
class World:
    settings: Settings
    paths: Paths
    models: Models

    def standin(self, model: str) -> str | None:
        """The stand-in for a model's checkpoint at a generated scale, None where the user's or a public one is used."""
        standins, config = catalogue.load("standins"), self.settings.config
        released, own = self.models.released(model), config.models.get(model)
        if released in config.user_data or (own and own.checkpoint not in (None, "released")):
            return None
        key = released if released in standins else model
        return key if self.settings.generated and key in standins else None

    def bases(self, w) -> list[str]:
        """The records of the stand-ins that one is trained from."""
        return [self.paths.standin(base) for base in self.recipe(w.key).bases]

    @cached_method
    def recipe(self, key: str) -> Recipe:
        """How a stand-in is made, with what the scale forces: what the command is given."""
        standins, sizes = catalogue.load("standins"), self.settings.sizes
        if key not in standins:
            raise unknown("standin", key, standins, "catalogue/standins.yaml")
        forced = {**sizes.standins.get(key, {}), "threads": sizes.threads}
        return parse_recipe({**standins[key], **forced}, f"standins.yaml: {key}")

    def language_facts(self) -> str:
        """A digest of the facts about the generated languages and those that lend them words; of no other language.

        NeuCLIRBench's are generated at every scale.
        """
        table, facts = catalogue.entries(Language), {}
        todo = [*(self.settings.sizes.languages or ()), *languages_of(dataset("neuclir_corpus"), table)]
        while todo:
            code = todo.pop()
            if code in table and code not in facts:
                facts[code] = table[code].given()
                todo += table[code].world.cognates if table[code].world else ()
        return digest(facts)

    # --- layers -------------------------------------------------------------------------------------------------------
    def layer(self, model: str, layer: int, of: int) -> int:
        """A layer of a public model of so many; of its stand-in, which has fewer, that at this share of the depth."""
        key = self.standin(model)
        return max(1, round(self._layers(key) * layer / of)) if key else layer

    def _layers(self, key: str) -> int:
        """How many layers a stand-in has: its own, or those of the one that it continues from."""
        recipe = self.recipe(key)
        return recipe.own_layers or self._layers(recipe.bases[0])

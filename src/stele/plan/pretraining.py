"""Pretraining: each model's recipe, the texts behind it, and the mined examples that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stele.errors import SteleError
from stele.plan.data import Data
from stele.plan.mining import Mining
from stele.plan.models import Models, Problem
from stele.plan.paths import Paths
from stele.plan.per_instance import once
from stele.plan.settings import Settings
from stele.recipes import merge

Recipe = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Pretraining:
    settings: Settings
    paths: Paths
    models: Models
    data: Data
    mining: Mining

    # --- recipes ------------------------------------------------------------------------------------------------------
    @once
    def whole_recipe(self, model: str) -> Recipe:
        """A model's recipe with what it is mined from (`mining`), in the languages that are built."""
        recipe = merge.pretraining(model, self.models[model], self.settings.sizes)
        chosen = merge.languages(recipe["languages"])
        in_scale = self.data.in_scale({name for name, _ in self._texts(recipe | {"languages": chosen})})
        recipe["languages"] = [code for code in chosen if in_scale is None or code in in_scale]
        if "equal_compute_to" in recipe:
            recipe["equal_compute_to"] = self.recipe(recipe["equal_compute_to"])
        return recipe

    @once
    def recipe(self, model: str) -> dict[str, Any]:
        """What the pretraining command is given: how a model learns."""
        return {name: value for name, value in self.whole_recipe(model).items() if name != "mining"}

    def modules(self, model: str) -> list[str]:
        """The modules that are chosen by the names of a model's objectives."""
        recipe = self.whole_recipe(model)
        same_compute = recipe.get("equal_compute_to", recipe)["objective"]
        names = sorted({recipe["objective"], same_compute, "mlm"})
        return [f"{kind}.{name}" for kind in ("training.objectives", "recipes.objectives") for name in names]

    # --- texts --------------------------------------------------------------------------------------------------------
    def _texts(self, recipe: Recipe) -> set[tuple[str, str]]:
        """(dataset, part) of all texts that a recipe is mined from."""
        texts = set()
        for mining in merge.stores(recipe).values():
            if self.mining.reads_knowledge(mining):
                texts |= {("wikipedia", code) for code in recipe["languages"]} | {("wikidata_items", "all")}
            else:
                texts |= {(self.mining.corpus(mining, code), code) for code in recipe["languages"]}
        return texts

    @once
    def texts(self, model: str) -> list[tuple[str, str]]:
        """(dataset, part) of all texts that a model's own pretraining is mined from."""
        return sorted(self._texts(self.whole_recipe(model)))

    def problem(self, model: str) -> Problem | None:
        """`not in scale` where a scale leaves a model no text that its pretraining wants."""
        recipe = self.whole_recipe(model)
        reason = self.lacking(recipe, recipe["languages"])
        return ("not in scale", f"{model}: of the languages of its recipe in scale, {reason}") if reason else None

    def lacking(self, recipe: Recipe, languages: list[str]) -> str | None:
        """What a recipe is mined from and some languages are too few for; None where they are enough."""
        for mining in merge.stores(recipe).values():
            if not self.mining.parts(mining, languages):
                wanted = "two" if self.mining.pairs_languages(mining) else "one at least"
                return f"{mining} wants {wanted} (found {', '.join(languages) or 'none'})"
        return None

    # --- jobs ---------------------------------------------------------------------------------------------------------
    def pairs(self, w) -> dict[str, str]:
        """`store:part` -> record of the mined examples."""
        recipe, tokenizer = self.whole_recipe(w.model), self.models.tokenizer(w.model)
        return {
            f"{store}:{part}": self.paths.pairs(mining, tokenizer, part)
            for store, mining in merge.stores(recipe).items()
            for part in self.mining.parts(mining, recipe["languages"])
        }

    def knowledge_pairs(self, model: str) -> set[tuple[str, str]]:
        """(mining recipe, record) of the knowledge pairs that a model is pretrained on."""
        recipe = self.whole_recipe(model)
        return {
            (mining, self.paths.knowledge_pairs(mining, part))
            for mining in merge.stores(recipe).values()
            if self.mining.reads_knowledge(mining)
            for part in self.mining.parts(mining, recipe["languages"])
        }

    def inputs(self, w) -> dict[str, Any]:
        if not self.models.is_trained(w.model):
            source = self.models.checkpoint_source(w.model) or "it has no recipe"
            raise SteleError(f"{w.model} is not pretrained here: {source}")
        if problem := self.problem(w.model):
            raise SteleError(f"encoders/{w.model}: {problem[0]}: {problem[1]}")
        base = self.models.encoder(self.models[w.model]["base"], w.pt)
        return {"base": base, "pairs": list(self.pairs(w).values())}

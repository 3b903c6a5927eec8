"""What a fine-tuning reads besides a training set: hard negatives that an earlier fine-tuning has mined for it."""

from __future__ import annotations

from typing import Any

from stele.errors import SteleError
from stele.plan.base import Plan


class Tuned(Plan):
    """The plan with the mining of hard negatives.

    A fine-tuning recipe names its `miner`, the recipe whose model mines for it; the training set names the collection
    that is mined.
    """

    def mined_sets(self, training_set: str) -> list[str]:
        """The datasets that hard negatives of a training set are mined with: its own, and the collection."""
        entry = self.training_set(training_set)
        if "mined" not in entry:
            raise SteleError(f"training set {training_set}: training_sets.yaml names no collection of it (`mined`)")
        return [*entry["data"], *entry["mined"]["corpus"]]

    def mined_set(self, recipe: str) -> str | None:
        """The training set that a recipe wants hard negatives mined for; None where it has no miner."""
        resolved = self.finetuning_recipe(recipe)
        return resolved["training_set"] if resolved.get("miner") else None

    def mining_data(self, training_set: str) -> dict[str, str]:
        """`dataset:part` -> record of all that mining the hard negatives of a training set reads."""
        return dict(sorted(self.data(self.mined_sets(training_set), self.training_languages(training_set)).items()))

    def hard_negatives(self, model: str, recipe: str, training_set: str, seeds: str) -> str:
        """The record of what the model of a recipe mined."""
        return self.work(f"hard_negatives/{model}/{recipe}/{training_set}/{seeds}/record.json")

    # --- retrieval.smk ----------------------------------------------------------------------------------------------
    def hard_negatives_input(self, w) -> dict[str, Any]:
        encoder = self.finetuned(w.model, w.recipe, w.seeds)
        return {"encoder": encoder, "data": list(self.mining_data(w.training_set).values())}

    # --- finetuning.smk ---------------------------------------------------------------------------------------------
    def mined_negatives(self, w) -> list[str]:
        """The record of the hard negatives that a fine-tuning takes up; none where its recipe has no miner."""
        if not (mined := self.mined_set(w.recipe)):
            return []
        return [self.hard_negatives(w.model, self.finetuning_recipe(w.recipe)["miner"], mined, w.seeds)]

    def negatives_argument(self, w) -> str:
        return "".join(f"--negatives {record}" for record in self.mined_negatives(w))

"""Fine-tuning: recipes and their chains, training sets, mined hard negatives.

A recipe may be meant for one language of its training set, in which its name then ends: "wiki-ar" learns as "wiki"
does, from the Arabic part.
"""

from __future__ import annotations

from dataclasses import dataclass

from stele.catalogue import recipes
from stele.errors import SteleError, unknown
from stele.plan.data import Data
from stele.plan.models import Models
from stele.plan.paths import Inputs, Paths, pretraining_seed
from stele.plan.settings import Settings, cached_method
from stele.plan.transfer import Transfer
from stele.recipes.finetuning import FinetuningRecipe


@dataclass(frozen=True, eq=False, repr=False)
class Finetuning:
    settings: Settings
    paths: Paths
    models: Models
    data: Data
    transfer: Transfer

    # --- recipes ------------------------------------------------------------------------------------------------------
    @cached_method
    def recipe(self, name: str) -> FinetuningRecipe:
        """The recipe as this scale has it; its command is given all but the keys of the plan."""
        return recipes.finetuning(name, self.settings.sizes)

    def modules(self, recipe: str) -> list[str]:
        """The modules that read its training sets."""
        return sorted({f"benchmarks.{self.data.training_set(name).module}" for name in self.training_sets(recipe)})

    @cached_method
    def chain(self, recipe: str | None) -> list[str]:
        """The recipes that a recipe goes through, first to last, those whose models mine for it among them."""
        if recipe is None:
            return []
        whole = self.recipe(recipe)
        before = [*self.chain(whole.start), *self.chain(whole.miner)]
        return [*dict.fromkeys(before), recipe]

    # --- training data ------------------------------------------------------------------------------------------------
    def train_and_dev(self, recipe: str) -> tuple[str, str]:
        """The set that a fine-tuning trains on, and the one that chooses its checkpoint, the same if none is named."""
        whole = self.recipe(recipe)
        return whole.training_set.entry, (whole.dev_set or whole.training_set).entry

    @cached_method
    def training_sets(self, recipe: str) -> list[str]:
        """Both, each once."""
        return sorted({*self.train_and_dev(recipe)})

    @cached_method
    def languages(self, recipe: str, training_set: str) -> list[str]:
        """The languages of a training set's parts that a recipe reads: all in scale, or the one that it is for."""
        _, dash, language = recipe.partition("-")
        have = self.data.training_languages(training_set)
        if not dash or not self.data.training_set(training_set).languages:
            return have
        if language not in have:
            raise unknown("language", language, have, f"fine-tuning recipe {recipe!r}: training set {training_set}")
        return [language]

    def lacking(self, recipe: str) -> str | None:
        """Why a recipe cannot be learnt at this scale, None where it can: its training set lacks its language."""
        _, dash, language = recipe.partition("-")
        for name in self.training_sets(recipe) if dash else ():
            all_languages = self.data.training_set(name).languages or ()
            if language in all_languages and language not in self.data.training_languages(name):
                return f"training set {name} is not built in {language}"
        return None

    @cached_method
    def training_data(self, recipe: str) -> dict[str, str]:
        """`dataset:part` -> record of all that a fine-tuning reads (training and selection); `set:language` if made."""
        records: dict[str, str] = {}
        for name in self.training_sets(recipe):
            codes = self.languages(recipe, name)
            if rule := self.data.training_set(name).made:
                records |= {f"{name}:{code}": self.paths.transfer_set(rule, name, code) for code in codes}
            else:
                records |= self.data.records(self.data.training_set(name).data, codes)
        return dict(sorted(records.items()))

    def datasets(self, recipe: str) -> dict[str, list[str]]:
        """The datasets that a fine-tuning's training sets are, or are made of, by what reads them."""
        groups = {}
        for name in self.training_sets(recipe):
            if self.data.training_set(name).made:
                made = {code: self.transfer.datasets(name, code) for code in self.languages(recipe, name)}
                groups |= {f"training set {name} in {code}": names for code, names in made.items()}
            else:
                groups[f"training set {name}"] = self.data.training_set(name).data
        return groups

    def written_by(self, recipe: str) -> set[str]:
        """The models that the queries of its training sets are written by."""
        sets = ((name, code) for name in self.training_sets(recipe) for code in self.languages(recipe, name))
        return {model for name, code in sets if (model := self.transfer.written_by(name, code))}

    def downloads(self, recipe: str) -> set[str]:
        """The records of the datasets and models that a fine-tuning's training sets are, or are made of."""
        records: set[str] = set()
        for name in self.training_sets(recipe):
            codes, entry = self.languages(recipe, name), self.data.training_set(name)
            if entry.made:
                records.update(*(self.transfer.downloads(name, code) for code in codes))
            else:
                records.update(self.data.records(entry.data, codes).values())
        return records

    # --- hard negatives -----------------------------------------------------------------------------------------------
    def mined_set(self, recipe: str) -> str | None:
        """The training set that a recipe wants hard negatives mined for; None where it has no miner."""
        whole = self.recipe(recipe)
        return whole.training_set.entry if whole.miner else None

    def mined_datasets(self, training_set: str) -> list[str]:
        """The datasets that hard negatives of a training set are mined with: its own, and the collection."""
        entry = self.data.training_set(training_set)
        if entry.mined is None:
            raise SteleError(f"training set {training_set}: training_sets.yaml names no collection of it (`mined`)")
        return [*entry.data, *entry.mined.corpus]

    def mining_data(self, training_set: str) -> dict[str, str]:
        """`dataset:part` -> record of all that mining the hard negatives of a training set reads."""
        languages = self.data.training_languages(training_set)
        return dict(sorted(self.data.records(self.mined_datasets(training_set), languages).items()))

    def mined_negatives(self, w) -> list[str]:
        """The record of the hard negatives that a fine-tuning takes up; none where its recipe has no miner."""
        if not (mined := self.mined_set(w.recipe)):
            return []
        return [self.paths.hard_negatives(w.model, self.recipe(w.recipe).miner, mined, w.seeds)]

    # --- jobs ---------------------------------------------------------------------------------------------------------
    def encoder(self, model: str, recipe: str | None, seeds: str) -> str:
        """The record of a model after a recipe; without one, of the model as it is."""
        if recipe is None:
            return self.models.encoder(model, pretraining_seed(seeds))
        return self.paths.finetuned(model, recipe, seeds)

    def inputs(self, w) -> Inputs:
        start = self.recipe(w.recipe).start
        return {
            "encoder": self.encoder(w.model, start, w.seeds),
            "data": list(self.training_data(w.recipe).values()),
            "negatives": self.mined_negatives(w),
        }

    def mining_inputs(self, w) -> Inputs:
        encoder = self.paths.finetuned(w.model, w.recipe, w.seeds)
        return {"encoder": encoder, "data": list(self.mining_data(w.training_set).values())}

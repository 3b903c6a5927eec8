"""Fine-tuning: recipes and their chains, training sets, mined hard negatives.

A recipe may be restricted to one language of its training set by the end of its name: "wiki-ar" is the recipe "wiki"
on the Arabic part.
"""

from collections import defaultdict
from dataclasses import dataclass

from stele.benchmarks.reader import CollectionReader, TrainingReader
from stele.catalogue import recipes
from stele.errors import SteleError, check_known, unknown
from stele.plan.data import Data, reader_of
from stele.plan.models import Models
from stele.plan.paths import Inputs, Paths, Reads, pretraining_seed
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
        """The fine-tuning recipe at this scale. Its command takes all keys except those that only the plan reads.

        Raises SteleError for a name that ends in a language if the training set has no parts by language, and for a
        recipe that has one of `miner` and `negatives: mined` without the other, or reads a set without training
        examples.
        """
        whole = recipes.finetuning(name, self.settings.sizes)
        if "-" in name and not self.data.training_set(training_set := whole.training_set.entry).languages:
            where = f"training set {training_set} has no parts by language"
            raise unknown("fine-tuning recipe", name, recipes.names("finetuning"), where)
        if (whole.negatives == "mined") != (whole.miner is not None):
            keys = ("miner", "negatives: mined")
            present, missing = keys if whole.miner else reversed(keys)
            raise SteleError(f"fine-tuning recipe {name!r}: `{missing}` is missing; give it, or leave out `{present}`")
        for training_set in filter(None, (whole.training_set, whole.dev_set)):
            reader_of(training_set.module, TrainingReader)
        return whole

    def modules(self, recipe: str) -> list[str]:
        """The modules that read a recipe's training sets."""
        return sorted({f"benchmarks.{self.data.training_set(name).module}" for name in self.training_sets(recipe)})

    @cached_method
    def chain(self, recipe: str | None) -> list[str]:
        """The fine-tuning recipes that a recipe builds on, in order and itself last, with those of its miners."""
        if recipe is None:
            return []
        whole = self.recipe(recipe)
        before = [*self.chain(whole.start), *self.chain(whole.miner)]
        return [*dict.fromkeys(before), recipe]

    # --- training data ------------------------------------------------------------------------------------------------
    def train_and_dev(self, recipe: str) -> tuple[str, str]:
        """Training and development set of a recipe; the latter selects the checkpoint (default: the training set)."""
        whole = self.recipe(recipe)
        return whole.training_set.entry, (whole.dev_set or whole.training_set).entry

    @cached_method
    def training_sets(self, recipe: str) -> list[str]:
        """The training set and the development set of a recipe, without duplicates, sorted."""
        return sorted({*self.train_and_dev(recipe)})

    @cached_method
    def languages(self, recipe: str, training_set: str) -> list[str]:
        """Languages of a training set that a recipe reads: all in scale, or the one in the recipe's name."""
        _, dash, language = recipe.partition("-")
        have = self.data.training_languages(training_set)
        if not dash or not self.data.training_set(training_set).languages:
            return have
        check_known("language", language, have, f"fine-tuning recipe {recipe!r}: training set {training_set}")
        return [language]

    def lacking(self, recipe: str) -> str | None:
        """The reason why a recipe cannot be run at this scale (its language is not in scale), else None."""
        _, dash, language = recipe.partition("-")
        for name in self.training_sets(recipe) if dash else ():
            all_languages = self.data.training_set(name).languages or ()
            if language in all_languages and language not in self.data.training_languages(name):
                return f"training set {name} is not built in {language}"
        return None

    def contradiction(self, recipe: str) -> str | None:
        """The reason why a recipe cannot train the encoder of its start further, else None."""
        whole = self.recipe(recipe)
        reason = whole.contradiction(self.recipe(whole.start).spec()) if whole.start else None
        return reason and f"fine-tuning recipe {recipe}: its start {whole.start} has {reason}"

    @cached_method
    def training_data(self, recipe: str) -> dict[str, str]:
        """Records of the training and development data, by `dataset:part` (`set:language` if made here)."""
        records: dict[str, str] = {}
        for name in self.training_sets(recipe):
            codes = self.languages(recipe, name)
            if rule := self.data.training_set(name).made:
                records |= {f"{name}:{code}": self.paths.transfer_set(rule, name, code) for code in codes}
            else:
                records |= self.data.records(self.data.training_set(name).data, codes)
        return dict(sorted(records.items()))

    @cached_method
    def reads(self, recipe: str | None) -> Reads:
        """Records of a chain's training sets, or of the data that they and hard negatives are made from."""
        reads: Reads = defaultdict(dict)
        for name in self.chain(recipe):
            for training_set in self.training_sets(name):
                codes, entry = self.languages(name, training_set), self.data.training_set(training_set)
                for code in codes if entry.made else ():
                    reads[f"training set {training_set} in {code}"] |= self.transfer.reads(training_set, code)
                if not entry.made:
                    reads[f"training set {training_set}"] |= self.data.records(entry.data, codes)
            if mined := self.mined_set(name):
                reads[f"hard negatives of {mined}"] |= self.mining_data(mined)
        return reads

    def written_by(self, recipe: str) -> set[str]:
        """The models that generate the queries of a recipe's training sets."""
        sets = ((name, code) for name in self.training_sets(recipe) for code in self.languages(recipe, name))
        return {model for name, code in sets if (model := self.transfer.written_by(name, code))}

    # --- hard negatives -----------------------------------------------------------------------------------------------
    def mined_set(self, recipe: str) -> str | None:
        """The training set for which a recipe needs mined hard negatives; None if the recipe has no miner."""
        whole = self.recipe(recipe)
        return whole.training_set.entry if whole.miner else None

    def mining_data(self, training_set: str) -> dict[str, str]:
        """Records by `dataset:part` of a set's own data and the collection from which its hard negatives are mined.

        Raises SteleError if the set names no collection, or its module reads none.
        """
        entry = self.data.training_set(training_set)
        if entry.mined is None:
            raise SteleError(f"training_sets.yaml: {training_set}: no `mined`; name the collection to mine from there")
        reader_of(entry.module, CollectionReader)
        records = self.data.records([*entry.data, *entry.mined.corpus], self.data.training_languages(training_set))
        return dict(sorted(records.items()))

    def mined_negatives(self, w) -> list[str]:
        """Record of the mined hard negatives that a fine-tuning reads, in a list; empty if its recipe has no miner."""
        if not (mined := self.mined_set(w.recipe)):
            return []
        return [self.paths.hard_negatives(w.model, self.recipe(w.recipe).miner, mined, w.seeds)]

    def encoder(self, model: str, recipe: str | None, seeds: str) -> str:
        """Record of a model fine-tuned with a recipe; with `recipe` None, of the model before any fine-tuning."""
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

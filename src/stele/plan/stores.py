"""Stores of mined examples: which models share one, how many examples it keeps, and what a pretraining reads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

from stele import catalogue
from stele.catalogue.schema.models import Model
from stele.errors import SteleError
from stele.plan.paths import Inputs
from stele.plan.pretraining import Pretraining
from stele.plan.settings import cached_method
from stele.plan.text_sizes import TextSizes
from stele.training import run_sizes
from stele.training.sampling import language_probabilities

Caps = dict[tuple[str, str, str], int]  # largest number of examples, by (mining recipe, name of the store, language)


@dataclass(frozen=True, eq=False, repr=False)
class Stores:
    pretraining: Pretraining
    text_sizes: TextSizes

    @cached_method
    def name(self, mining: str, model: str) -> str:
        """The name of the store that a model reads: that of its tokenizer, whose store other models read, too.

        An added model that draws more examples than all models of the catalogue has a store of its own: a larger
        shared store would change what the others are trained on.
        """
        tokenizer = self.pretraining.models.tokenizer(model)
        if model in catalogue.entries(Model):
            return tokenizer
        drawn = self._caps([model], lambda of_mining, of_model: tokenizer)
        is_larger = any(cap > self._shared.get(key, cap) for key, cap in drawn.items() if key[0] == mining)
        return model if is_larger else tokenizer

    @cached_property
    def _shared(self) -> Caps:
        """Largest numbers that models of the catalogue can draw, whether built or not: no other table reruns mining."""
        models = self.pretraining.models
        known = [model for model in models.all if model in catalogue.entries(Model)]
        return self._caps(known, lambda mining, model: models.tokenizer(model))

    @cached_property
    def caps(self) -> Caps:
        """Largest number of examples that each store keeps, which is what training can draw."""
        return self._caps(self.pretraining.models.all, self.name)

    def _caps(self, models: Iterable[str], name: Callable[[str, str], str]) -> Caps:
        most: dict[tuple[str, str, str], float] = {}
        for model in filter(self.pretraining.models.is_trained, models):
            drawn = run_sizes.drawn(self.pretraining.recipe(model))
            for store, mining in self.pretraining.stores(model).items():
                if self.pretraining.mining.reads_knowledge(mining) or store not in drawn:
                    continue
                for language, share in self._shares(mining, model).items():
                    key = mining, name(mining, model), language
                    most[key] = max(most.get(key, 0), run_sizes.most(drawn[store], share))
        return {key: run_sizes.cap(number) for key, number in most.items()}

    def _shares(self, mining: str, model: str) -> dict[str, float]:
        """Each language's share of the examples drawn in training; 1 if the sizes of the texts are unknown."""
        languages, data = self.pretraining.languages(model), self.pretraining.data
        corpora = {self.pretraining.mining.corpus(mining, language) for language in languages}
        if self.pretraining.settings.generated or any(data.users_folder(corpus) for corpus in corpora):
            return dict.fromkeys(languages, 1.0)
        sizes = {language: self.text_sizes.text_bytes(mining, language) for language in languages}
        known = {language: size for language, size in sizes.items() if size}
        shares = language_probabilities(known, self.pretraining.recipe(model).sampling_alpha) if known else {}
        return {language: shares.get(language, 1.0) for language in languages}

    # --- jobs ---------------------------------------------------------------------------------------------------------
    def pairs(self, w) -> dict[str, str]:
        """Records of the mined examples that a model is pretrained on, by `store:part`."""
        pretraining = self.pretraining
        return {
            f"{store}:{part}": pretraining.paths.pairs(mining, self.name(mining, w.model), part)
            for store, mining in pretraining.stores(w.model).items()
            for part in pretraining.mining.parts(mining, pretraining.languages(w.model))
        }

    def inputs(self, w) -> Inputs:
        """Inputs of a pretraining: the checkpoint it starts from, and its examples."""
        models = self.pretraining.models
        if not models.is_trained(w.model):
            origin = models[w.model].snapshot_of
            source = models.checkpoint_source(w.model) or (f"it is {origin} in the end" if origin else "no recipe")
            raise SteleError(f"{w.model} is not pretrained here: {source}")
        if problem := self.pretraining.problem(w.model):
            raise SteleError(f"encoders/{w.model}: {problem[0]}: {problem[1]}")
        return {"base": models.encoder(models[w.model].base, w.pt), "pairs": list(self.pairs(w).values())}

"""Stores of mined examples: which models share one, how many examples it keeps, and what a pretraining reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from stele import catalogue
from stele.catalogue.schema.models import Model
from stele.errors import SteleError
from stele.plan.paths import Inputs
from stele.plan.pretraining import Pretraining
from stele.plan.text_sizes import TextSizes
from stele.training import run_sizes
from stele.training.sampling import language_probabilities

Caps = dict[tuple[str, str, str], int]  # largest number of examples, by (mining recipe, name of the store, language)


@dataclass(frozen=True, eq=False, repr=False)
class Stores:
    pretraining: Pretraining
    text_sizes: TextSizes

    def name(self, mining: str, model: str) -> str:
        """Name of the store that a model reads: the key of its tokenizer's model, or of an added one (`_assigned`)."""
        return self._assigned[0].get((mining, model), self.pretraining.models.tokenizer(model))

    @property
    def caps(self) -> Caps:
        """Largest number of examples that each store keeps, which is what training can draw."""
        return self._assigned[1]

    @cached_property
    def _assigned(self) -> tuple[dict[tuple[str, str], str], Caps]:
        """The name of each model's store by (mining recipe, model), and the caps of all stores.

        Models of the catalogue, whether built or not, share the store of their tokenizer. An added model shares that
        one, or an earlier added model's, if it keeps as many examples as the model draws; else it has a store of its
        own, since a larger shared store would be mined again and change what others are trained on.
        """
        names: dict[tuple[str, str], str] = {}
        caps: Caps = {}
        models, known = self.pretraining.models, catalogue.entries(Model)
        for model in filter(models.is_trained, models.all):
            tokenizer = models.tokenizer(model)
            for mining, drawn in self._drawn(model).items():
                name = tokenizer
                if model not in known:
                    before = (other for mined, other in names if mined == mining)
                    alike = (names[mining, other] for other in before if models.tokenizer(other) == tokenizer)
                    shared = dict.fromkeys([tokenizer, *alike])
                    name = next((store for store in shared if _fits(drawn, caps, mining, store)), model)
                names[mining, model] = name
                for language, number in drawn.items():
                    caps[mining, name, language] = max(caps.get((mining, name, language), 0), number)
        return names, caps

    def _drawn(self, model: str) -> dict[str, dict[str, int]]:
        """Numbers of examples that a model's training can draw, rounded up, by mining recipe and language."""
        most: dict[str, dict[str, int]] = {}
        drawn = run_sizes.drawn(self.pretraining.recipe(model))
        for store, mining in self.pretraining.stores(model).items():
            if not self.pretraining.mining.reads_knowledge(mining) and store in drawn:
                of_mining = most.setdefault(mining, {})
                for language, share in self._shares(mining, model).items():
                    number = run_sizes.cap(run_sizes.most(drawn[store], share))
                    of_mining[language] = max(of_mining.get(language, 0), number)
        return most

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


def _fits(drawn: dict[str, int], caps: Caps, mining: str, name: str) -> bool:
    """Whether a store keeps enough examples in all languages that it has so far."""
    return all(number <= caps.get((mining, name, language), number) for language, number in drawn.items())

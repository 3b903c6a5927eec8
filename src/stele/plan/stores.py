"""Stores of mined examples: which models share one, how many examples it keeps, and what a pretraining reads."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

from stele import catalogue
from stele.catalogue.schema.models import Model
from stele.errors import SteleError
from stele.plan.paths import Inputs
from stele.plan.pretraining import Pretraining
from stele.plan.settings import cached_method
from stele.training import run_sizes
from stele.training.sampling import language_probabilities

Caps = dict[tuple[str, str, str], int]  # largest number of examples, by (mining recipe, tokenizer's model, language)
CAP_SIGN = "+"  # before the cap in the name of a store that is not shared; no model's key has it


@dataclass(frozen=True, eq=False, repr=False)
class Stores:
    pretraining: Pretraining

    def name(self, mining: str, model: str, part: str) -> str:
        """Name of the store that a model reads for a part: the key of its tokenizer's model, or that and a cap.

        Models share the store of their tokenizer. One that config.yaml adds or changes has another store where it draws
        more, since a larger shared store would be mined again and change what others are trained on.
        """
        tokenizer = self.pretraining.models.tokenizer(model)
        drawn = self._drawn(model).get((mining, part), 0)
        if drawn <= self._shared_cap(mining, tokenizer, part):
            return tokenizer
        caps = (self._drawn(other).get((mining, part), 0) for other in self._added_before(model))
        return f"{tokenizer}{CAP_SIGN}{next((cap for cap in caps if cap >= drawn), drawn)}"

    def _added_before(self, model: str) -> Iterator[str]:
        """Models that config.yaml adds before this one, with its tokenizer; a model of the catalogue has none."""
        models, known = self.pretraining.models, catalogue.entries(Model)
        added = [key for key in self.pretraining.settings.config.models if key not in known and models.is_trained(key)]
        for other in added[: added.index(model)] if model in added else ():
            if models.tokenizer(other) == models.tokenizer(model):
                yield other

    def cap(self, mining: str, name: str, part: str) -> int:
        """Largest number of examples that a store keeps."""
        tokenizer, _, cap = name.partition(CAP_SIGN)
        return int(cap) if cap else self._shared_cap(mining, tokenizer, part)

    def tokenizer(self, name: str) -> str:
        """The model whose tokenizer's tokens a store has."""
        return self.pretraining.models.tokenizer(name.partition(CAP_SIGN)[0])

    def _shared_cap(self, mining: str, tokenizer: str, part: str) -> int:
        return self.shared_caps.get((mining, tokenizer, part), run_sizes.LEAST)

    @cached_property
    def shared_caps(self) -> Caps:
        """Caps of the shared stores: the most that a model of the catalogue draws, whether it is built or not."""
        caps: Caps = {}
        shipped = self._shipped()
        models = shipped.pretraining.models
        for model in filter(models.is_trained, models.all):
            for (mining, language), number in shipped._drawn(model).items():
                store = mining, models.tokenizer(model), language
                caps[store] = max(caps.get(store, 0), number)
        return caps

    def _shipped(self) -> Self:
        """The stores of the catalogue's models without the changes that config.yaml makes to them."""
        pretraining = self.pretraining
        config = pretraining.settings.config.model_copy(update={"models": {}})
        settings = replace(pretraining.settings, config=config)
        models = replace(pretraining.models, settings=settings)
        return replace(self, pretraining=replace(pretraining, settings=settings, models=models))

    @cached_method
    def _drawn(self, model: str) -> dict[tuple[str, str], int]:
        """Numbers of examples that a model's training can draw, rounded up, by mining recipe and language."""
        most: dict[tuple[str, str], int] = {}
        drawn = run_sizes.drawn(self.pretraining.recipe(model))
        for store, mining in self.pretraining.stores(model).items():
            if not self.pretraining.mining.reads_knowledge(mining) and store in drawn:
                for language, share in self._shares(mining, model).items():
                    number = run_sizes.cap(run_sizes.most(drawn[store], share))
                    most[mining, language] = max(most.get((mining, language), 0), number)
        return most

    def _shares(self, mining: str, model: str) -> dict[str, float]:
        """Each language's share of the examples drawn in training; 1 if the sizes of the texts are unknown."""
        languages, data = self.pretraining.languages(model), self.pretraining.data
        corpora = {self.pretraining.mining.corpus(mining, language) for language in languages}
        if self.pretraining.settings.generated or any(data.users_folder(corpus) for corpus in corpora):
            return dict.fromkeys(languages, 1.0)
        sizes = {language: self.pretraining.mining.bytes_of_text(mining, language) for language in languages}
        known = {language: size for language, size in sizes.items() if size}
        shares = language_probabilities(known, self.pretraining.recipe(model).sampling_alpha) if known else {}
        return {language: shares.get(language, 1.0) for language in languages}

    def pairs(self, w) -> dict[str, str]:
        """Records of the mined examples that a model is pretrained on, by `store:part`."""
        pretraining = self.pretraining
        return {
            f"{store}:{part}": pretraining.paths.pairs(mining, self.name(mining, w.model, part), part)
            for store, mining in pretraining.stores(w.model).items()
            for part in pretraining.mining.parts(mining, pretraining.languages(w.model))
        }

    def inputs(self, w) -> Inputs:
        """Inputs of a pretraining: checkpoint and examples. Raises SteleError if the model cannot be pretrained."""
        models = self.pretraining.models
        if not models.is_trained(w.model):
            origin = models[w.model].snapshot_of
            source = models.checkpoint_source(w.model) or (f"it is {origin} in the end" if origin else "no recipe")
            raise SteleError(f"{w.model} is not pretrained here: {source}")
        if problem := self.pretraining.problem(w.model):
            raise SteleError(f"encoders/{w.model}: {problem[0]}: {problem[1]}")
        return {"base": models.encoder(models[w.model].base, w.pt), "pairs": list(self.pairs(w).values())}

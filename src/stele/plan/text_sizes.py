"""Sizes of the texts that examples are mined from, and the number of examples that are kept: from the user's files,
else from the catalogue's sizes and the scale's caps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from stele import catalogue
from stele.catalogue import user_documents
from stele.catalogue.schema.costs import Costs
from stele.plan.corpora import Corpora
from stele.plan.mining import Mining
from stele.plan.pretraining import Pretraining
from stele.training import run_sizes
from stele.training.sampling import language_probabilities


@dataclass(frozen=True, eq=False, repr=False)
class TextSizes:
    """Sizes of texts in bytes, and the number of mined examples that a store keeps.

    They are computed from the user's files, else from the catalogue's sizes and the scale's caps.
    """

    mining: Mining
    corpora: Corpora
    pretraining: Pretraining

    @property
    def _costs(self) -> Costs:
        return catalogue.whole(Costs)

    def web_bytes(self, language: str) -> float:
        """Compressed bytes of CC-100 that are read for a language; 0 if CC-100 lacks the language."""
        whole = catalogue.load("cc100_sizes").get(self.corpora.settings.language(language).cc100, 0)
        first = self.corpora.first("cc100")
        return whole if first is None else min(whole, first * self._costs.web_document / self._costs.cc100_text)

    def document_bytes(self, language: str) -> float:
        """Bytes of plain text of the user's own documents in a language."""
        documents = self.corpora.settings.documents.get(language)
        return documents.size if documents else 0.0

    def text_bytes(self, mining: str, language: str) -> float:
        """Bytes of plain text that a mining recipe reads in a language."""
        return self.corpus_bytes(self.mining.corpus(mining, language), language)

    def corpus_bytes(self, corpus: str, language: str) -> float:
        """Bytes of plain text of a corpus in a language, from the user's files if there are any."""
        if corpus == user_documents.DATASET:
            return self.document_bytes(language)
        if corpus == "wikipedia":
            return float(self.corpora.dump_mb(language) << 20) * self._costs.wikipedia_text
        users = self.corpora.user_text(corpus, language)
        if users is not None:
            return users
        if corpus == "wikitext103":
            return self._costs.wikitext103_text
        return self.web_bytes(language) * self._costs.cc100_text

    def most_examples(self, mining: str, tokenizer: str, part: str) -> int | None:
        """Largest number of examples a store keeps, which is what training can draw; None to keep all of them."""
        return self._most_examples.get((mining, tokenizer, part))

    def _shares(self, mining: str, model: str) -> dict[str, float]:
        """Each language's share of the examples drawn in training; 1 if the sizes of the texts are unknown."""
        languages, data = self.pretraining.languages(model), self.corpora.data
        corpora = {self.mining.corpus(mining, language) for language in languages}
        if self.corpora.settings.generated or any(data.users_folder(corpus) for corpus in corpora):
            return dict.fromkeys(languages, 1.0)
        sizes = {language: self.text_bytes(mining, language) for language in languages}
        known = {language: size for language, size in sizes.items() if size}
        shares = language_probabilities(known, self.pretraining.recipe(model).sampling_alpha) if known else {}
        return {language: shares.get(language, 1.0) for language in languages}

    @cached_property
    def _most_examples(self) -> dict[tuple[str, str, str], int]:
        """Largest number of examples that a store keeps, by (mining recipe, tokenizer, language).

        It is the largest number that any model can draw, over all known models whether built or not, so that building
        another table reruns no mining.
        """
        most: dict[tuple[str, str, str], float] = {}
        models = self.pretraining.models
        for model in filter(models.is_trained, models.all):
            drawn = run_sizes.drawn(self.pretraining.recipe(model))
            for store, mining in self.pretraining.stores(model).items():
                if self.mining.reads_knowledge(mining) or store not in drawn:
                    continue
                for language, share in self._shares(mining, model).items():
                    key = mining, models.tokenizer(model), language
                    most[key] = max(most.get(key, 0), run_sizes.most(drawn[store], share))
        return {key: run_sizes.cap(number) for key, number in most.items()}

"""Bytes of the texts that are mined, and what is kept of them: from the user's files, else from the catalogue's sizes
and the scale's caps."""

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
    """Bytes of the texts that are mined, and the examples that a store keeps of them.

    They follow from the user's files, else from the catalogue's sizes and the scale's caps.
    """

    mining: Mining
    corpora: Corpora
    pretraining: Pretraining

    @property
    def _costs(self) -> Costs:
        return catalogue.whole(Costs)

    def web_bytes(self, language: str) -> float:
        """Bytes of a language's CC-100 that are read, compressed; 0 where it has none."""
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
        """Bytes of plain text of a corpus in a language: of the user's files where there are some."""
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
        """The most examples that a store keeps: what training can draw from it; None: no model reads it, and all."""
        return self._most_examples.get((mining, tokenizer, part))

    def _shares(self, mining: str, model: str) -> dict[str, float]:
        """language -> its share of the draws; 1 where nobody knows how large texts are."""
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
        """(mining recipe, tokenizer, language) -> the most examples that a store of it keeps.

        That is what the model that draws most of it can draw, of all models that there are: which of them are built has
        no say, so that another table reruns no mining.
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

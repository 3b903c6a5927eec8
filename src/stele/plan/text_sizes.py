"""Sizes of the texts that examples are mined from."""

from __future__ import annotations

from dataclasses import dataclass

from stele import catalogue
from stele.catalogue import user_documents
from stele.catalogue.schema.costs import Costs
from stele.plan.corpora import Corpora
from stele.plan.mining import Mining


@dataclass(frozen=True, eq=False, repr=False)
class TextSizes:
    """Sizes of texts in bytes, from the user's files, else from the catalogue's sizes and the scale's caps."""

    mining: Mining
    corpora: Corpora

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

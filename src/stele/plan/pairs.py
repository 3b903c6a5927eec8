"""What mining reads: documents, and for knowledge pairs the knowledge base of each of their languages."""

from __future__ import annotations

from dataclasses import dataclass

from stele.plan.corpora import Corpora
from stele.plan.mining import Mining
from stele.plan.paths import Inputs, Paths


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    paths: Paths
    mining: Mining
    corpora: Corpora

    def documents(self, mining: str, language: str) -> list[str]:
        """The records of the documents that a mining recipe reads in a language."""
        return self.corpora.documents(self.mining.corpus(mining, language), language)

    def knowledge_documents(self, w) -> dict[str, list[str]]:
        """language -> the records of its Wikipedia's documents, of a part's languages."""
        return {code: self.corpora.documents("wikipedia", code) for code in self.mining.part_codes(w.method, w.part)}

    def knowledge_bases(self, w) -> dict[str, str]:
        """language -> the record of its knowledge base, of a part's languages."""
        return {code: self.paths.knowledge_base(code) for code in self.mining.part_codes(w.method, w.part)}

    def knowledge_inputs(self, w) -> Inputs:
        documents = self.knowledge_documents(w)
        return {
            "knowledge_base": list(self.knowledge_bases(w).values()),
            "documents": [record for records in documents.values() for record in records],
        }

    def vectors(self, w) -> dict[str, str]:
        """language -> the record of its words' vectors, of a part's languages."""
        dataset = self.mining.recipe(w.method).vectors
        return {code: self.paths.dataset(dataset, code) for code in self.mining.part_codes(w.method, w.part)}

    def section_inputs(self, w) -> Inputs:
        return {**self.knowledge_inputs(w), "vectors": list(self.vectors(w).values())}

"""Mining recipes: what each reads, its parts, and what its command is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from stele.catalogue import recipes, user_documents
from stele.errors import SteleError, unknown
from stele.files.strict import Values
from stele.plan.corpora import Corpora
from stele.plan.paths import TRAINING, Inputs, Paths
from stele.plan.settings import Settings, cached_method
from stele.recipes.mining import OF_TOKENS, MiningRecipe


@dataclass(frozen=True, eq=False, repr=False)
class Mining:
    settings: Settings
    paths: Paths
    corpora: Corpora

    @cached_method
    def recipe(self, mining: str) -> MiningRecipe:
        """The recipe as this scale has it; its command is given all but the keys of the plan."""
        return recipes.pairs(mining, self.settings.sizes)

    def text_recipe(self, mining: str) -> Values:
        """The recipe keys that decide the texts of knowledge pairs, without token lengths, which change no text."""
        return self.recipe(mining).given(exclude=OF_TOKENS)

    def token_recipe(self, mining: str) -> Values:
        """What tokenising knowledge pairs is given."""
        return self.recipe(mining).given(include={"method", *OF_TOKENS})

    def modules(self, mining: str) -> list[str]:
        """The module of its method."""
        method = self.recipe(mining).method
        return [f"pairs.methods.{method}"]

    # --- what is read -------------------------------------------------------------------------------------------------
    def web_corpus(self, language: str) -> str:
        """The corpus of a language's web text: the user's own documents, else CC-100, or its substitute there."""
        if self.settings.documents:
            return user_documents.DATASET
        substitute = self.settings.language(language).cc100_substitute
        return substitute.corpus if substitute else "cc100"

    def corpus(self, mining: str, language: str) -> str:
        """The corpus that a mining recipe reads in a language: its own, or the language's web text."""
        named = self.recipe(mining).corpus
        return self.web_corpus(language) if named == "cc100" else named

    def reads_knowledge(self, mining: str) -> bool:
        """Whether a mining recipe reads the knowledge base, and not the text of a corpus alone."""
        return self.recipe(mining).parts is not None

    def pairs_languages(self, mining: str) -> bool:
        """Whether a mining recipe makes pairs of two languages."""
        return self.recipe(mining).parts == "language_pairs"

    @cached_property
    def by_rule(self) -> dict[str, list[str]]:
        """The mining recipes by the rule that starts with them: `mine`, `knowledge_pairs` and `section_pairs`."""
        rules: dict[str, list[str]] = {"mine": [], "knowledge_pairs": [], "section_pairs": []}
        for name in sorted(recipes.names("pairs")):
            of_knowledge = "section_pairs" if self.recipe(name).vectors else "knowledge_pairs"
            rules[of_knowledge if self.reads_knowledge(name) else "mine"].append(name)
        return rules

    def datasets(self, mining: str, languages: Iterable[str]) -> set[tuple[str, str]]:
        """(dataset, part) of all that a mining recipe reads in some languages."""
        if not self.reads_knowledge(mining):
            return {(self.corpus(mining, code), code) for code in languages}
        vectors = [self.recipe(mining).vectors] if self.recipe(mining).vectors else []
        by_language = {(name, code) for name in ("wikipedia", *vectors) for code in languages}
        return by_language | {("wikidata_items", "all")}

    # --- parts --------------------------------------------------------------------------------------------------------
    def parts(self, mining: str, languages: Iterable[str]) -> list[str]:
        """The parts that a mining recipe has in some languages: the languages, or all pairs of them ("en-fr")."""
        if not self.pairs_languages(mining):
            return list(languages)
        return ["-".join(pair) for pair in combinations(sorted(set(languages)), 2)]

    def part_codes(self, mining: str, part: str) -> list[str]:
        """The languages of a part, "en" or "en-fr"; a part of another shape is an error that shows the right one."""
        known = self.settings.languages
        codes = part.split("-") if part not in known else [part]
        for code in codes:
            if code not in known:
                raise unknown("language", code, known, f"pairs/{mining}/{part}")
        if (right := self.parts(mining, codes)) != [part]:
            raise SteleError(f"pairs/{mining}/{part}: want {' or '.join(right) or 'two languages'}")
        return codes

    # --- jobs ---------------------------------------------------------------------------------------------------------
    def documents(self, mining: str, language: str) -> list[str]:
        """The records of the documents that a mining recipe reads in a language: without those held out, if any are."""
        corpus = self.corpus(mining, language)
        if self.settings.config.adapt:
            return [self.paths.split(TRAINING, corpus, language)]
        return self.corpora.documents(corpus, language)

    def knowledge_documents(self, w) -> dict[str, list[str]]:
        """language -> the records of its Wikipedia's documents, of a part's languages."""
        return {code: self.corpora.documents("wikipedia", code) for code in self.part_codes(w.method, w.part)}

    def knowledge_bases(self, w) -> dict[str, str]:
        """language -> the record of its knowledge base, of a part's languages."""
        return {code: self.paths.knowledge_base(code) for code in self.part_codes(w.method, w.part)}

    def knowledge_inputs(self, w) -> Inputs:
        documents = self.knowledge_documents(w)
        return {
            "knowledge_base": list(self.knowledge_bases(w).values()),
            "documents": [record for records in documents.values() for record in records],
        }

    def vectors(self, w) -> dict[str, str]:
        """language -> the record of its words' vectors, of a part's languages."""
        dataset = self.recipe(w.method).vectors
        return {code: self.paths.dataset(dataset, code) for code in self.part_codes(w.method, w.part)}

    def section_inputs(self, w) -> Inputs:
        return {**self.knowledge_inputs(w), "vectors": list(self.vectors(w).values())}

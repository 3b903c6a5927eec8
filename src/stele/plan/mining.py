"""Mining recipes: the data that each reads, its parts by language, and the values that its command takes."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from stele.catalogue import recipes, user_documents
from stele.errors import SteleError, check_known
from stele.files.strict import Values
from stele.plan.corpora import Corpora
from stele.plan.paths import TRAINING, Paths
from stele.plan.settings import Settings, cached_method
from stele.recipes.mining import OF_TOKENS, MiningRecipe


@dataclass(frozen=True, eq=False, repr=False)
class Mining:
    settings: Settings
    paths: Paths
    corpora: Corpora

    @cached_method
    def recipe(self, mining: str) -> MiningRecipe:
        """The mining recipe at this scale. Its command takes all keys except those that only the plan reads."""
        return recipes.scaled("pairs", mining, self.settings.sizes)

    def text_recipe(self, mining: str) -> Values:
        """The recipe keys that determine the texts of knowledge pairs: all but token lengths."""
        return self.recipe(mining).given(exclude=OF_TOKENS)

    def token_recipe(self, mining: str) -> Values:
        """The recipe keys that tokenising knowledge pairs takes."""
        return self.recipe(mining).given(include={"method", *OF_TOKENS})

    def modules(self, mining: str) -> list[str]:
        return [f"pairs.methods.{self.recipe(mining).method}"]

    def corpus(self, mining: str, language: str) -> str:
        """The corpus that a mining recipe reads in a language: the one it names.

        For `cc100` it is the user's documents if there are any, else CC-100 or the language's substitute.
        """
        named = self.recipe(mining).corpus
        if named != "cc100":
            return named
        if self.settings.documents:
            return user_documents.DATASET
        substitute = self.settings.language(language).cc100_substitute
        return substitute.corpus if substitute else named

    def bytes_of_text(self, mining: str, language: str) -> float:
        """Estimated bytes of plain text that a mining recipe reads in a language."""
        return self.corpora.bytes_of_text(self.corpus(mining, language), language)

    def reads_knowledge(self, mining: str) -> bool:
        """Whether a mining recipe reads the knowledge base in addition to the text of a corpus."""
        return self.recipe(mining).parts is not None

    def pairs_languages(self, mining: str) -> bool:
        return self.recipe(mining).parts == "language_pairs"

    @cached_property
    def by_rule(self) -> dict[str, list[str]]:
        """The mining recipes by the workflow rule that runs them first: mine, knowledge_pairs or section_pairs."""
        rules: dict[str, list[str]] = {"mine": [], "knowledge_pairs": [], "section_pairs": []}
        for name in sorted(recipes.names("pairs")):
            of_knowledge = "section_pairs" if self.recipe(name).vectors else "knowledge_pairs"
            rules[of_knowledge if self.reads_knowledge(name) else "mine"].append(name)
        return rules

    def datasets(self, mining: str, languages: Iterable[str]) -> set[tuple[str, str]]:
        """(dataset, part) of all data that a mining recipe reads for the given languages."""
        if not self.reads_knowledge(mining):
            return {(self.corpus(mining, code), code) for code in languages}
        vectors = [self.recipe(mining).vectors] if self.recipe(mining).vectors else []
        by_language = {(name, code) for name in ("wikipedia", *vectors) for code in languages}
        return by_language | {("wikidata_items", "all")}

    def parts(self, mining: str, languages: Iterable[str]) -> list[str]:
        """The parts of a mining recipe for the given languages: the languages, or all pairs of them ("en-fr")."""
        if not self.pairs_languages(mining):
            return list(languages)
        return ["-".join(pair) for pair in combinations(sorted(set(languages)), 2)]

    def part_codes(self, mining: str, part: str) -> list[str]:
        """The languages of a part, "en" or "en-fr". Raises SteleError if the recipe has no such part."""
        known = self.settings.languages
        codes = part.split("-") if part not in known else [part]
        for code in codes:
            check_known("language", code, known, f"pairs/{mining}/{part}")
        if (right := self.parts(mining, codes)) != [part]:
            raise SteleError(f"pairs/{mining}/{part}: no such part; want {' or '.join(right) or 'two languages'}")
        return codes

    def documents(self, mining: str, language: str) -> list[str]:
        """Records of the documents that a mining recipe reads in a language, without held-out documents if any."""
        corpus = self.corpus(mining, language)
        if self.settings.config.adapt:
            return [self.paths.split(TRAINING, corpus, language)]
        return self.corpora.documents(corpus, language)

    def knowledge_documents(self, w) -> dict[str, list[str]]:
        """Records of the Wikipedia documents by language, for the languages of a part."""
        return {code: self.corpora.documents("wikipedia", code) for code in self.part_codes(w.method, w.part)}

    def knowledge_bases(self, w) -> dict[str, str]:
        """Records of the knowledge bases by language, for the languages of a part."""
        return {code: self.paths.knowledge_base(code) for code in self.part_codes(w.method, w.part)}

    def vectors(self, w) -> dict[str, str]:
        """Records of the word vectors by language, for the languages of a part."""
        dataset = self.recipe(w.method).vectors
        return {code: self.paths.dataset(dataset, code) for code in self.part_codes(w.method, w.part)}

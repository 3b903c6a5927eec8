"""Calibration of an encoder's vectors: one job learns the statistics and rotations for all benchmarks that use them.

Statistics depend only on the language, and rotations only on the pair of languages, so one job learns those of all
benchmarks that have a setting with its recipe.
"""

from dataclasses import dataclass
from pathlib import Path

from stele.catalogue import recipes, user_documents
from stele.catalogue.user_data import listing, part_files
from stele.plan.data import Data
from stele.plan.finetuning import Finetuning
from stele.plan.paths import Paths
from stele.plan.protocols import Protocols
from stele.plan.settings import cached_method
from stele.recipes.search import CalibrationRecipe


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    paths: Paths
    data: Data
    protocols: Protocols
    finetuning: Finetuning

    @property
    def corpus(self) -> str:
        """The corpus that calibration is learnt from: the user's documents, else CC-100, as in CCP, section 3.2."""
        return user_documents.DATASET if self.paths.settings.documents else "cc100"

    @cached_method
    def recipe(self, name: str) -> CalibrationRecipe:
        return recipes.scaled("calibration", name, self.paths.settings.sizes)

    def pair(self, benchmark: str, language: str) -> str:
        """The language pair ("fr-en") that a benchmark's language belongs to; a pair's code is returned as it is."""
        pivot = self.data.benchmark(benchmark).pivot
        return f"{language}-{pivot}" if pivot else language

    @cached_method
    def lacking(self, language: str) -> str | None:
        """Why a language cannot be calibrated (the corpus has no text in it), else None."""
        corpus = self.corpus
        if language not in self.data.languages_of(corpus):
            name = "CC-100" if corpus == "cc100" else f"user_data.{corpus}"
            return f"{name} has no text in {language}, which calibration would be learnt from"
        folder = self.data.users_folder(corpus) if corpus == "cc100" else None
        is_there = folder and Path(folder).expanduser().is_dir()  # a missing folder is reported by the rows
        if is_there and not part_files(listing(folder), self.data.resolve(corpus, language, [language])):
            return f"user_data.{corpus}: {folder} has no text in {language}, which calibration would be learnt from"
        return None

    @cached_method
    def left_out(self, benchmark: str) -> dict[str, str]:
        """Languages (or pairs) of a benchmark that cannot be calibrated, each with the reason."""
        reasons = {}
        for language in self.data.languages(benchmark):
            sides = self.pair(benchmark, language).split("-")
            if reason := next(filter(None, map(self.lacking, sides)), None):
                reasons[language] = reason
        return reasons

    def languages(self, benchmark: str) -> list[str]:
        """The languages (or pairs) of a benchmark that can be calibrated."""
        return [code for code in self.data.languages(benchmark) if code not in self.left_out(benchmark)]

    @cached_method
    def benchmarks(self, recipe: str) -> list[str]:
        """The benchmarks that have a setting with this calibration recipe, all of which encode alike."""
        return [
            benchmark
            for benchmark in self.protocols.settings
            if any(entry.get("calibration") == recipe for entry in self.protocols.settings[benchmark].values())
        ]

    @cached_method
    def pairs(self, recipe: str) -> list[str]:
        """Language pairs to rotate, one direction each; skips benchmarks that would mix real and generated data."""
        pairs: dict[frozenset[str], str] = {}
        for benchmark in self.benchmarks(recipe):
            if not self.data.mixture_problem(benchmark, [self.corpus, *self.data.of_benchmark(benchmark)]):
                for language in self.languages(benchmark):
                    pair = self.pair(benchmark, language)
                    pairs.setdefault(frozenset(pair.split("-")), pair)
        return list(pairs.values())

    def documents(self, recipe: str) -> dict[str, str]:
        """Records of the documents by language, for all languages of the recipe's pairs."""
        codes = sorted({code for pair in self.pairs(recipe) for code in pair.split("-")})
        return {code: self.paths.documents(self.corpus, code) for code in codes}

    def reads(self, recipe: str, benchmark: str) -> dict[str, str]:
        """Records, by `dataset:part`, of the texts that a recipe is learnt from, for this benchmark and all others."""
        languages = self.languages(benchmark) or self.data.languages(benchmark)
        pairs = {*self.pairs(recipe), *(self.pair(benchmark, language) for language in languages)}
        codes = sorted({code for pair in pairs for code in pair.split("-")})
        return {f"{self.corpus}:{code}": self.paths.dataset(self.corpus, code) for code in codes}

"""Rows of lexical models such as BM25: their parameters are fixed, or tuned on other questions."""

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.benchmarks.reader import BenchmarkReader
from stele.catalogue import datasets
from stele.catalogue.schema.benchmarks import Analyzer
from stele.files.strict import Values
from stele.plan.data import reader_of
from stele.plan.models import Problem
from stele.plan.paths import Inputs, Reads, seed_names
from stele.plan.rows import Kind
from stele.recipes.search import Bm25, Tuning

ANSERINI = "anserini"  # the "dataset" that is the program Anserini; if the user gives it, it searches instead of bm25s


class Lexical(Kind):
    rule = "bm25"

    class Setting(Bm25):
        """The BM25 parameters k1 and b."""

    @property
    def anserini(self) -> str | None:
        """Record of the user's copy of Anserini; None if there is none."""
        paths = self.rows.paths
        return paths.dataset(ANSERINI, datasets.ALL) if ANSERINI in paths.settings.config.user_data else None

    def problem(self, row: RunKey) -> Problem | None:
        if not self.rows.models.is_lexical(row.model):
            return "not built", f"no rule builds {row.benchmark}/{row.setting} with {row.model} yet"
        if problem := self.rows.availability.data_problem(self.reads(row)):
            return problem
        if reason := self.rows.data.language_problem(row.benchmark):
            return "not in scale", reason
        lacking = {*self.rows.data.languages(row.benchmark)} - catalogue.entries(Analyzer).keys()
        if self.anserini or not lacking:
            return None
        return "not built", (
            f"catalogue/analyzers.yaml has no analyzer of {', '.join(sorted(lacking))}, by which {row.model} would "
            f"split texts into terms; choose other `languages`, or give Anserini as user_data.{ANSERINI}"
        )

    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        engine = {"anserini": self.anserini} if self.anserini else {}
        return {"data": list(self.rows.protocols.searched(row).values()), **engine}

    def recipe(self, row: RunKey) -> Values:
        """Search parameters of a row's setting, and the RM3 query expansion of its model, if any."""
        setting = self.rows.protocols.setting(row)
        expansion = self.rows.models[row.model].rm3
        recipe = {key: setting[key] for key in self.Setting.model_fields if key in setting}
        return recipe | ({"rm3": expansion.given()} if expansion else {})

    def seeds(self, row: RunKey, pretraining: list[int], finetuning: list[int]) -> list[str]:
        """A single seed, since lexical retrieval draws no random numbers."""
        return seed_names([0], [0])

    def reads(self, row: RunKey) -> Reads:
        engine = {ANSERINI: {f"{ANSERINI}:{datasets.ALL}": self.anserini}} if self.anserini else {}
        return {**engine, row.benchmark: self.rows.protocols.records(row)}


class Tuned(Lexical):
    """Rows whose settings choose k1 and b by tuning."""

    class Setting(Tuning):
        """The candidate values of k1 and b, and the questions on which they are tuned."""

    def problem(self, row: RunKey) -> Problem | None:
        if self.rows.models.is_lexical(row.model) and self.rows.models[row.model].rm3:
            return "not built", f"no rule tunes {row.model}, which expands queries"
        reader = reader_of(row.benchmark, BenchmarkReader)
        if reader and getattr(reader, "JUDGED_SPLIT", None) is None:
            return "not built", f"{row.benchmark} has only the scored split, so nothing tunes k1 and b; give them"
        return super().problem(row)


KINDS = {"lexical": Lexical, "tuned": Tuned}

"""Scoring: what the jobs that score, average and count read; result cards: the rows that a model's card shows."""

from __future__ import annotations

from dataclasses import dataclass

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.datasets import counted_dataset
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.errors import SteleError
from stele.files.digests import digest
from stele.plan.data import Data
from stele.plan.paths import Inputs, Paths
from stele.plan.protocols import Protocols
from stele.plan.retrieval import row_of
from stele.plan.rows import Rows
from stele.plan.rows.statistics import STATISTICS, Statistics
from stele.registry import names_held

SETTINGS = ("direct", "direct_dense")  # of an encoder as it is; the second where the first is of BM25
# the published numbers, which stand beside ours on cards and in tables of today's encoders
PUBLISHED = ("catalogue/references.tsv", "catalogue/published.yaml")
DEFAULT = ("belebele", "miracl_hard_negatives")


@dataclass(frozen=True, eq=False, repr=False)
class Scoring:
    paths: Paths
    protocols: Protocols
    rows: Rows

    def metrics(self, w) -> list[str]:
        return self.protocols.protocol(w.benchmark, w.setting).metrics

    def same_questions(self, w) -> str | None:
        """What decides the interval of an average, where it is not as usual.

        Snakemake compares params without their names: None is among a score's already, and a True might be.
        """
        return "same questions" if self.protocols.data.benchmark(w.benchmark).same_questions else None

    def counting_modules(self, dataset: str) -> list[str]:
        """The module that is chosen by the name of what is counted."""
        modules = names_held(STATISTICS, "COUNTED")
        return [f"scoring.statistics.{modules[counted_dataset(dataset).module]}"]

    def data(self, w) -> dict[str, str]:
        """`dataset:part` -> record of the judgments."""
        judgments = self.protocols.protocol(w.benchmark, w.setting).judgments
        return self.protocols.data.records(judgments, self.protocols.data.read_languages(w.benchmark))

    def inputs(self, w) -> Inputs:
        return {"retrieval": self.scored(row_of(w), w.seeds), "data": list(self.data(w).values())}

    def counting(self, wildcards) -> Statistics:
        """The kind of the row that counts the wildcards' dataset."""
        return self.rows.kind(RunKey("statistics", wildcards.dataset, "count"))

    def scored(self, row: RunKey, seeds: str) -> str:
        """The record of what a row's job gives, which is scored."""
        return self.paths.results(f"{row.path}/{seeds}/{self.rows.kind(row).scored}.json")

    def seed_results(self, w) -> list[str]:
        """The results of the single seeds of a row, whose mean is its result."""
        row = row_of(w)
        return [self.paths.seed_result(row, seeds) for seeds in self.rows.seeds(row)]


@dataclass(frozen=True, eq=False, repr=False)
class Cards:
    paths: Paths
    rows: Rows
    scoring: Scoring
    data: Data

    def benchmarks(self, model: str) -> list[str]:
        """Those that `cards` of config.yaml names for a model, or the default ones."""
        return self.paths.settings.config.cards.get(model) or list(DEFAULT)

    def rows_of(self, model: str) -> list[RunKey]:
        """The rows of a model's card; one that cannot be built is an error that says why."""
        self.rows.models[model]  # an unknown name is said with the nearest
        wanted = [RunKey(benchmark, model, self.setting(benchmark)) for benchmark in self.benchmarks(model)]
        for row in wanted:
            if problem := self.rows.problem(row):
                raise SteleError(f"{row.name}: {', '.join(problem)}")
        return wanted

    def facts(self, model: str) -> str:
        """A digest of what the catalogue says of a model and of its card's benchmarks; the command reads it itself."""
        about = catalogue.entries(Model).get(model)
        benchmarks = [catalogue.entry(Benchmark, name).given() for name in self.benchmarks(model)]
        return digest([about.given() if about else None, *benchmarks])

    def user_data(self, model: str) -> list[str]:
        """The datasets of a model's card that are taken from folders of the user's."""
        names = {name for benchmark in self.benchmarks(model) for name in self.data.of_benchmark(benchmark)}
        return sorted(name for name in names if self.data.users_folder(name))

    def setting(self, benchmark: str) -> str:
        """The setting in which encoders are evaluated on a benchmark as they are; an error where there is none."""
        of = {name: self._as_they_are(name) for name in catalogue.entries(Benchmark)}
        if setting := of.get(benchmark):
            return setting
        known = ", ".join(name for name, has in of.items() if has)
        raise SteleError(f"{benchmark}: its models are trained for it; encoders as they are are evaluated on {known}")

    def _as_they_are(self, benchmark: str) -> str | None:
        entries = self.rows.protocols.settings.get(benchmark, {})
        encoded = [name for name in SETTINGS if name in entries and self.rows.kinds.get(entries[name]["kind"]).encodes]
        return encoded[0] if encoded else None

    def inputs(self, w) -> Inputs:
        """The results of one seed (a model as it is has no other), and the records of what was scored."""
        seeds = {row: self.rows.seeds(row)[0] for row in self.rows_of(w.model)}
        return {
            "results": [self.paths.seed_result(row, seed) for row, seed in seeds.items()],
            "scored": [self.scoring.scored(row, seed) for row, seed in seeds.items()],
        }

"""Scoring and result cards: inputs of the jobs that score, average and count, and the rows of a model's card."""

from dataclasses import dataclass

from stele import catalogue
from stele.artifacts.results import RunKey
from stele.catalogue.datasets import counted_dataset
from stele.catalogue.schema.benchmarks import Benchmark
from stele.catalogue.schema.models import Model
from stele.errors import SteleError
from stele.files.digests import digest
from stele.plan.paths import Inputs
from stele.plan.retrieval import row_of
from stele.plan.rows import Rows, kind_named
from stele.plan.rows.statistics import STATISTICS, Statistics
from stele.registry import names_held

SETTINGS = ("direct", "direct_dense")  # settings without fine-tuning; the second, if `direct` is BM25's setting
# published numbers, shown beside ours on cards and in tables of today's encoders
PUBLISHED = ("catalogue/references.tsv", "catalogue/published.yaml")
DEFAULT = ("belebele", "miracl_hard_negatives")


@dataclass(frozen=True, eq=False, repr=False)
class Scoring:
    rows: Rows

    def same_questions(self, w) -> str | None:
        """The text "same questions" if a benchmark asks the same ones in all languages, which changes intervals.

        It is a text because Snakemake compares params without their names, and True might be another param's value.
        """
        return "same questions" if self.rows.data.benchmark(w.benchmark).same_questions else None

    def counting_modules(self, dataset: str) -> list[str]:
        """The module that counts a dataset, chosen by the dataset's name."""
        modules = names_held(STATISTICS, "COUNTED")
        return [f"scoring.statistics.{modules[counted_dataset(dataset).module]}"]

    def data(self, w) -> dict[str, str]:
        """Records of the judgments by `dataset:part`."""
        judgments = self.rows.protocols.protocol(w).judgments
        return self.rows.data.records(judgments, self.rows.data.read_languages(w.benchmark))

    def inputs(self, w) -> Inputs:
        return {"retrieval": self.rows.scored(row_of(w), w.seeds), "data": list(self.data(w).values())}

    def counting(self, wildcards) -> Statistics:
        """The kind of row that counts the dataset in the wildcards."""
        return self.rows.kind(RunKey("statistics", wildcards.dataset, "count"))

    def seed_results(self, w) -> list[str]:
        """Paths of the results of a row's single seeds; their mean is the row's result."""
        row = row_of(w)
        return [self.rows.paths.seed_result(row, seeds) for seeds in self.rows.seeds(row)]


@dataclass(frozen=True, eq=False, repr=False)
class Cards:
    rows: Rows

    def benchmarks(self, model: str) -> list[str]:
        """Benchmarks on a model's card: those that `cards` in config.yaml names for it, or the default ones."""
        return self.rows.paths.settings.config.cards.get(model) or list(DEFAULT)

    def rows_of(self, model: str) -> list[RunKey]:
        """The rows of a model's card. Raises SteleError with the reason if one of them cannot be built."""
        self.rows.models[model]  # raises for an unknown name
        return self.untrained_rows(self.benchmarks(model), [model])

    def untrained_rows(self, benchmarks: list[str], models: list[str]) -> list[RunKey]:
        """The rows of models as they are. Raises SteleError with the reason if one of the rows cannot be built."""
        rows = [RunKey(benchmark, model, self.setting(benchmark)) for benchmark in benchmarks for model in models]
        for row in rows:
            if problem := self.rows.problem(row):
                raise SteleError(f"{row.name}: {', '.join(problem)}")
        return rows

    def facts(self, model: str) -> str:
        """Digest of the catalogue entries of a model and its card's benchmarks, which the command itself reads."""
        about = catalogue.entries(Model).get(model)
        benchmarks = [catalogue.entry(Benchmark, name).given() for name in self.benchmarks(model)]
        return digest([about.given() if about else None, *benchmarks])

    def user_data(self, model: str) -> list[str]:
        """Datasets of a model's card that come from the user's folders."""
        names = {name for benchmark in self.benchmarks(model) for name in self.rows.data.of_benchmark(benchmark)}
        return sorted(name for name in names if self.rows.data.users_folder(name))

    def setting(self, benchmark: str) -> str:
        """Setting of a benchmark that evaluates encoders without fine-tuning. Raises SteleError if there is none."""
        settings = {name: self._as_they_are(name) for name in catalogue.entries(Benchmark)}
        if setting := settings.get(benchmark):
            return setting
        known = ", ".join(name for name, setting in settings.items() if setting)
        raise SteleError(f"{benchmark}: its models are trained for it; without training, encoders can do {known}")

    def _as_they_are(self, benchmark: str) -> str | None:
        entries = self.rows.protocols.settings.get(benchmark, {})
        encoded = [name for name in SETTINGS if name in entries and kind_named(entries[name]["kind"]).encodes]
        return encoded[0] if encoded else None

    def inputs(self, w) -> Inputs:
        """Inputs of a card's job: the results of the first seed of each row, and the records that were scored."""
        seeds = {row: self.rows.seeds(row)[0] for row in self.rows_of(w.model)}
        return {
            "results": [self.rows.paths.seed_result(row, seed) for row, seed in seeds.items()],
            "scored": [self.rows.scored(row, seed) for row, seed in seeds.items()],
        }

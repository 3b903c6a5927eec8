"""Result cards: the rows whose results a model's card shows, and what its job reads."""

from __future__ import annotations

from dataclasses import dataclass

from stele import catalogue
from stele.artifacts.row import Row
from stele.catalogue.schema.benchmarks import Benchmark
from stele.errors import SteleError
from stele.plan.paths import Inputs, Paths
from stele.plan.rows import Rows
from stele.plan.scoring import Scoring

SETTING = "direct"
ENCODED = ("dense", "vectors")  # kinds of rows
DEFAULT = ("belebele", "miracl_hard_negatives")


@dataclass(frozen=True, eq=False, repr=False)
class Cards:
    paths: Paths
    rows: Rows
    scoring: Scoring

    def benchmarks(self, model: str) -> list[str]:
        """Those that `cards` of config.yaml names for a model, or the default ones."""
        return self.paths.settings.config.cards.get(model) or list(DEFAULT)

    def rows_of(self, model: str) -> list[Row]:
        """The rows of a model's card; one that cannot be built is an error that says why."""
        self.rows.models[model]  # an unknown name is said with the nearest
        wanted = [Row(benchmark, model, SETTING) for benchmark in self.benchmarks(model)]
        known = [name for name in catalogue.entries(Benchmark) if self._encodes(name)]
        for row in wanted:
            if row.benchmark not in known:
                raise SteleError(
                    f"{row.benchmark}: no encoder is evaluated on it as it is: its models are trained for it, or match "
                    f"words; those that can be are {', '.join(known)}"
                )
            if problem := self.rows.problem(row):
                raise SteleError(f"{row.name}: {', '.join(problem)}")
        return wanted

    def _encodes(self, benchmark: str) -> bool:
        """Whether encoders are evaluated on a benchmark as they are."""
        protocols = self.rows.protocols
        return any(SETTING in protocols.of_kind(kind, benchmark) for kind in ENCODED)

    def inputs(self, w) -> Inputs:
        """The results of one seed (a model as it is has no other), and the records of what was scored."""
        seeds = {row: self.rows.seeds(row)[0] for row in self.rows_of(w.model)}
        return {
            "results": [self.paths.seed_result(row, seed) for row, seed in seeds.items()],
            "scored": [self.scoring.scored(row, seed) for row, seed in seeds.items()],
        }

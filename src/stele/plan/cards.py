"""Result cards: the rows whose results a model's card shows, and what its job reads."""

from __future__ import annotations

from dataclasses import dataclass

from stele.artifacts.row import Row
from stele.errors import SteleError
from stele.plan.paths import Inputs, Paths
from stele.plan.rows import Rows
from stele.plan.scoring import Scoring

SETTING = "direct"
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
        for row in wanted:
            if problem := self.rows.problem(row):
                raise SteleError(f"{row.name}: {', '.join(problem)}")
        return wanted

    def inputs(self, w) -> Inputs:
        """The results of one seed (a model as it is has no other), and the records of what was scored."""
        seeds = {row: self.rows.seeds(row)[0] for row in self.rows_of(w.model)}
        return {
            "results": [self.paths.seed_result(row, seed) for row, seed in seeds.items()],
            "scored": [self.scoring.scored(row, seed) for row, seed in seeds.items()],
        }

"""Scoring: what the jobs that score, average and count read."""

from __future__ import annotations

from dataclasses import dataclass

from stele.artifacts.results import RunKey
from stele.catalogue.datasets import counted_dataset
from stele.plan.paths import Inputs, Paths
from stele.plan.protocols import Protocols
from stele.plan.retrieval import row_of
from stele.plan.rows import Rows
from stele.plan.rows.statistics import STATISTICS, Statistics
from stele.registry import names_held


@dataclass(frozen=True, eq=False, repr=False)
class Scoring:
    paths: Paths
    protocols: Protocols
    rows: Rows

    def metrics(self, w) -> list[str]:
        return self.protocols.protocol(w.benchmark, w.setting).metrics

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

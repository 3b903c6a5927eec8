"""Rows that count a dataset, or a test collection: the row's model is that."""

from __future__ import annotations

from dataclasses import dataclass

from stele.artifacts.row import Row
from stele.catalogue import datasets
from stele.catalogue.counted import COLLECTION, counted
from stele.files.strict import Strict
from stele.plan.models import Problem
from stele.plan.paths import Inputs
from stele.plan.rows import Below
from stele.registry import module_names


@dataclass(frozen=True, eq=False)
class Statistics:
    below: Below

    class Setting(Strict):
        pass

    def problem(self, row: Row) -> Problem | None:
        what = counted(row.model)
        if what.module not in module_names("stele.scoring.statistics"):
            return "not built", f"nothing counts {row.model} yet"
        if what.module == COLLECTION:
            return self._collection_problem(row.model, what.datasets)
        if datasets.dataset(row.model).parts != datasets.ALL and self.below.paths.settings.config.languages:
            return "not in scale", f"{row.model} is counted in all its languages; this run has only some (`languages`)"
        reason = self.below.data.problem([row.model])
        return ("unavailable", reason) if reason else None

    def _collection_problem(self, benchmark: str, read: list[str]) -> Problem | None:
        data = self.below.data
        if not data.languages(benchmark):
            return "not in scale", f"no language of {benchmark} is built"
        reason = data.problem(read) or data.mixture_problem(benchmark, read)
        return ("unavailable", reason) if reason else None

    def left_out(self, row: Row) -> dict[str, str]:
        return {}

    def records(self, name: str) -> dict[str, str]:
        """`dataset:part` -> record of all that is counted: all parts in scale."""
        return {key: path for read in counted(name).datasets for key, path in self.below.data.all_records(read).items()}

    def inputs(self, row: Row, seeds: str) -> Inputs:
        return {"data": list(self.records(row.model).values())}

    def seeds(self, row: Row) -> list[str]:
        """None: a count is the result, not a mean of some."""
        return []

    def downloads(self, row: Row) -> set[str]:
        return {*self.records(row.model).values()}


KINDS = {"statistics": Statistics}

"""Rows that count a dataset: the row's model is the dataset."""

from __future__ import annotations

from dataclasses import dataclass

from stele.artifacts.row import Row
from stele.catalogue import datasets
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
        dataset = row.model
        if dataset not in module_names("stele.scoring.statistics"):
            return "not built", f"nothing counts {dataset} yet"
        if datasets.dataset(dataset).parts != datasets.ALL and self.below.paths.settings.config.languages:
            return "not in scale", f"{dataset} is counted in all its languages; this run has only some (`languages`)"
        reason = self.below.data.problem([dataset])
        return ("unavailable", reason) if reason else None

    def left_out(self, row: Row) -> dict[str, str]:
        return {}

    def inputs(self, row: Row, seeds: str) -> Inputs:
        return {"data": list(self.below.data.all_records(row.model).values())}

    def seeds(self, row: Row) -> list[str]:
        """None: a count is the result, not a mean of some."""
        return []

    def downloads(self, row: Row) -> set[str]:
        """All parts in scale: a count is of the whole."""
        return {*self.below.data.all_records(row.model).values()}


KINDS = {"statistics": Statistics}

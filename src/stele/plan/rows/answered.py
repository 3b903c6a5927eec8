"""Rows of question answering: an encoder learns to find answers in paragraphs, and answers a benchmark's questions."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from stele.artifacts.row import Row
from stele.catalogue import recipes
from stele.files.strict import Strict
from stele.plan.params import as_json
from stele.plan.paths import Inputs
from stele.plan.rows.dense import Dense
from stele.recipes.finetuning import AnsweringRecipe


@dataclass(frozen=True, eq=False, repr=False)
class Answered(Dense):
    class Setting(Strict):
        answering: str = Field(description="the recipe by which a model learns to find answers")

    def recipe(self, row: Row) -> AnsweringRecipe:
        """How a model learns: what the command is given."""
        name = self.below.protocols.setting(row.benchmark, row.setting)["answering"]
        return recipes.answering(name, self.below.paths.settings.sizes)

    def as_json(self, row: Row) -> str:
        return as_json(self.recipe(row).given())

    def training_set(self, row: Row) -> str:
        """The name of what it learns from."""
        return self.recipe(row).training_set.entry

    def training_data(self, row: Row) -> dict[str, str]:
        """`dataset:part` -> record of that."""
        name = self.training_set(row)
        return self.below.data.records(
            self.below.data.training_set(name).data, self.below.data.training_languages(name)
        )

    def modules(self, row: Row) -> list[str]:
        """The module that reads it."""
        return [f"benchmarks.{self.below.data.training_set(self.training_set(row)).module}"]

    def datasets(self, row: Row) -> dict[str, list[str]]:
        name = self.training_set(row)
        return {**super().datasets(row), f"training set {name}": self.below.data.training_set(name).data}

    def inputs(self, row: Row, seeds: str) -> Inputs:
        """Besides the encoder and the questions what it learns from."""
        return {**super().inputs(row, seeds), "training_data": list(self.training_data(row).values())}

    def downloads(self, row: Row) -> set[str]:
        return super().downloads(row) | {*self.training_data(row).values()}


KINDS = {"answered": Answered}

"""Rows of encoders: a model, fine-tuned or as it is, encodes queries and passages, or the pairs that are compared."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from stele.artifacts.row import Row
from stele.catalogue.schema.benchmarks import Metric
from stele.files.strict import Strict
from stele.plan.models import Problem
from stele.plan.paths import Inputs, seed_names
from stele.plan.rows import Below
from stele.recipes.search import TokenWindows, TopicField


@dataclass(frozen=True, eq=False, repr=False)
class Dense:
    below: Below

    class Setting(Strict):
        recipe: str | None = Field(None, description="fine-tuning recipe; none: the model as it is")
        field: TopicField | None = Field(None, description="of topics, that is the query; none: the collection's own")
        windows: TokenWindows | None = Field(None, description="in which documents are encoded; none: the benchmark's")

    def _recipe(self, row: Row) -> str | None:
        return self.below.protocols.recipe(row.benchmark, row.setting)

    def problem(self, row: Row) -> Problem | None:
        """Of the model, else `not in scale` where no language is left, else of its fine-tuning and of the data."""
        if not self.below.models[row.model].has_encoder:
            return "not built", f"no rule builds {row.benchmark}/{row.setting} with {row.model} yet"
        parts = self.below.availability
        problem = parts.model_problem(row.model)
        if problem is None and not self.below.data.languages(row.benchmark):
            problem = "not in scale", f"no language of {row.benchmark} is built"
        problem = problem or parts.finetuning_problem(self._recipe(row))
        return problem or parts.data_problem(self.datasets(row))

    def left_out(self, row: Row) -> dict[str, str]:
        return {}

    def datasets(self, row: Row) -> dict[str, list[str]]:
        """The datasets that a row reads, in groups of those that must tell of one world, by what reads them."""
        return {
            row.benchmark: self.below.protocols.datasets(row),
            **self.below.availability.finetuning_data(self._recipe(row)),
            **self.below.availability.pretraining_data(row.model),
        }

    def inputs(self, row: Row, seeds: str) -> Inputs:
        """The encoder that a row evaluates, and what it encodes."""
        return {"encoder": self.encoder(row, seeds), "data": list(self.below.protocols.searched(row).values())}

    def encoder(self, row: Row, seeds: str) -> str:
        """The record of the encoder that a row evaluates."""
        return self.below.finetuning.encoder(row.model, self._recipe(row), seeds)

    def seeds(self, row: Row) -> list[str]:
        """One for each seed of pretraining and of fine-tuning; a model that is not trained here has no former ones."""
        seeds = self.below.paths.settings.config.seeds
        trained = self.below.models.pretraining_of(row.model)
        return seed_names(seeds.pretraining if trained else [0], seeds.finetuning)

    def downloads(self, row: Row) -> set[str]:
        """The records of all datasets and checkpoints that a row needs."""
        parts = self.below
        own = parts.sources.of_recipe(self._recipe(row)) | parts.sources.of_model(row.model)
        return parts.protocols.records(row) | own


class Vectors(Dense):
    """Of settings that look at vectors of what belongs together: where they lie, or whether they find one another."""

    class Setting(Strict):
        """The recipe, and what is read and measured where that is not what the benchmark does."""

        recipe: str | None = Field(None, description="fine-tuning recipe; none: the model as it is")
        data: list[str] | None = None
        judgments: list[str] | None = None
        metrics: list[Metric] | None = Field(None, min_length=1)


class Parameters(Dense):
    """Of a count of the encoder's parameters: those of the checkpoint that it starts from. Training adds none."""

    class Setting(Strict):
        pass

    def _root(self, row: Row) -> Row:
        return row._replace(model=self.below.models.root(row.model))

    def problem(self, row: Row) -> Problem | None:
        return super().problem(self._root(row))

    def encoder(self, row: Row, seeds: str) -> str:
        return super().encoder(self._root(row), seeds)

    def downloads(self, row: Row) -> set[str]:
        return super().downloads(self._root(row))


KINDS = {"dense": Dense, "vectors": Vectors, "parameters": Parameters}

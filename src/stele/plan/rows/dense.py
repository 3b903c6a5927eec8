"""Rows of encoders: a model, fine-tuned or not, encodes queries and passages, or pairs of texts to compare."""

from collections import ChainMap

from pydantic import Field

from stele.artifacts.results import RunKey
from stele.catalogue.schema.benchmarks import Metric
from stele.files.strict import Strict
from stele.plan.models import Problem
from stele.plan.paths import Inputs, Reads, seed_names
from stele.plan.rows import Kind
from stele.recipes.search import TokenWindows, TopicField


class Dense(Kind):
    rule = "retrieve"
    encodes = True

    class Setting(Strict):
        recipe: str | None = Field(None, description="fine-tuning recipe; null: the model is not fine-tuned")
        field: TopicField | None = Field(
            None, description="field of a topic that is the query; null: the collection's default"
        )
        windows: TokenWindows | None = Field(
            None, description="windows in which documents are encoded; null: the benchmark's"
        )

    def _recipe(self, row: RunKey) -> str | None:
        return self.rows.protocols.recipe(row)

    def problem(self, row: RunKey) -> Problem | None:
        """The first problem found in the model, the scale's languages, the fine-tuning, the encoder, the data."""
        if not self.rows.models[row.model].has_encoder:
            return "not built", f"no rule builds {row.benchmark}/{row.setting} with {row.model} yet"
        parts = self.rows.availability
        problem = parts.model_problem(row.model)
        if problem is None and (reason := self.rows.data.language_problem(row.benchmark)):
            problem = "not in scale", reason
        problem = problem or parts.finetuning_problem(self._recipe(row)) or self._encoder_problem(row)
        return problem or parts.data_problem(self.reads(row))

    def _encoder_problem(self, row: RunKey) -> Problem | None:
        """The problem of a folder without stated pooling, of a prompt without its instruction, or of a real checkpoint
        with a recipe sized for stand-ins."""
        models, recipe = self.rows.models, self._recipe(row)
        if recipe is None and self.encodes and not models.has_pooling(row.model):
            folder = models.checkpoint_source(row.model)["path"]
            return "unavailable", (
                f"{folder} is a plain transformers folder, which does not state a pooling; give "
                f"models.{row.model} an encoding, at least `encoding: {{pooling: mean}}` or `{{pooling: cls}}` (on the "
                "command line of `stele evaluate` or `adapt`: --encoding pooling=mean)"
            )
        if self.encodes and self._lacks_instruction(row):
            return "unavailable", (
                f"the prompt of {row.model} has a place for an {{instruction}}, but neither {row.benchmark} nor the "
                f"model gives one; give models.{row.model} one, as `encoding: {{instruction: ...}}` (on the command "
                "line of `stele evaluate`: --encoding instruction=...)"
            )
        return models.standin_problem("finetuning", recipe and recipe.partition("-")[0], row.model)

    def _lacks_instruction(self, row: RunKey) -> bool:
        """Whether a stated prompt has a place for an instruction, which neither the model nor the benchmark gives."""
        stated = ChainMap(*(values for _, values in self.rows.models.encoding_overrides(row.model)))
        prompts = stated.get("query_prompt", "") + stated.get("passage_prompt", "")
        encoding = self.rows.data.benchmark(row.benchmark).encoding
        instruction = stated.get("instruction") or (encoding and encoding.instruction)
        return "{instruction}" in prompts and not instruction

    def reads(self, row: RunKey) -> Reads:
        return {
            row.benchmark: self.rows.protocols.records(row),
            **self.rows.finetuning.reads(self._recipe(row)),
            **self.rows.availability.pretraining.reads(row.model),
        }

    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        """Inputs of the job: the encoder that a row evaluates, and the texts that it encodes."""
        return {"encoder": self.encoder(row, seeds), "data": list(self.rows.protocols.searched(row).values())}

    def encoder(self, row: RunKey, seeds: str) -> str:
        return self.rows.finetuning.encoder(row.model, self._recipe(row), seeds)

    def learns(self, row: RunKey) -> bool:
        """Whether a row depends on a fine-tuning seed; if not, all its seeds would be copies."""
        return self._recipe(row) is not None

    def seeds(self, row: RunKey, pretraining: list[int], finetuning: list[int]) -> list[str]:
        """One name per pretraining and fine-tuning seed; without such a training, 0 is its only seed."""
        pretrained = self.rows.models.pretraining_of(row.model)
        return seed_names(pretraining if pretrained else [0], finetuning if self.learns(row) else [0])


class Vectors(Dense):
    """Rows that measure vectors of matching texts: their distribution, or whether matches are nearest neighbours."""

    scored = "vectors"

    class Setting(Strict):
        """The fine-tuning recipe, and data, judgments and metrics that replace those of the benchmark."""

        recipe: str | None = Field(None, description="fine-tuning recipe; null: the model is not fine-tuned")
        data: list[str] | None = Field(None, description="datasets to encode; null: the benchmark's")
        judgments: list[str] | None = Field(None, description="datasets for scoring; null: the benchmark's")
        metrics: list[Metric] | None = Field(None, min_length=1, description="metrics; null: the benchmark's")


class Parameters(Dense):
    """Rows that count an encoder's parameters, taken from the checkpoint it starts from: training adds none."""

    scored = None
    encodes = False

    class Setting(Strict):
        pass

    def _root(self, row: RunKey) -> RunKey:
        return row._replace(model=self.rows.models.root(row.model))

    def problem(self, row: RunKey) -> Problem | None:
        return super().problem(self._root(row))

    def encoder(self, row: RunKey, seeds: str) -> str:
        return super().encoder(self._root(row), seeds)

    def reads(self, row: RunKey) -> Reads:
        return super().reads(self._root(row))

    def checkpoints(self, row: RunKey) -> set[str]:
        return super().checkpoints(self._root(row))


KINDS = {"dense": Dense, "vectors": Vectors, "parameters": Parameters}

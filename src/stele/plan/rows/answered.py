"""Rows of question answering: an encoder is trained to find answers in paragraphs, and answers the questions."""

from pydantic import Field

from stele.artifacts.results import RunKey
from stele.benchmarks.reader import SpanTrainingReader
from stele.catalogue import recipes
from stele.errors import SteleError
from stele.evaluation.metrics import load_metric
from stele.evaluation.metrics.answers import MlqaExactMatch, mlqa_tokens
from stele.files.strict import Strict
from stele.plan.data import reader_of
from stele.plan.models import Problem
from stele.plan.paths import Inputs, Reads
from stele.plan.rows.dense import Dense
from stele.recipes.finetuning import AnsweringRecipe


class Answered(Dense):
    rule = "answer"
    scored = "answers"
    encodes = False

    class Setting(Strict):
        answering: str = Field(description="recipe by which a model learns to find answers")

    def recipe(self, row: RunKey) -> AnsweringRecipe:
        """Training recipe of an answering model, as the command line takes it.

        Raises SteleError if its training set has no questions about paragraphs.
        """
        name = self.rows.protocols.setting(row)["answering"]
        recipe = recipes.scaled("answering", name, self.rows.paths.settings.sizes)
        reader_of(recipe.training_set.module, SpanTrainingReader)
        return recipe

    def problem(self, row: RunKey) -> Problem | None:
        name = self.rows.protocols.setting(row)["answering"]
        problem = super().problem(row) or self._unscored(row)
        return problem or self.rows.models.standin_problem("answering", name, row.model)

    def _unscored(self, row: RunKey) -> Problem | None:
        """The problem of metrics by MLQA's rules, which not every language of the answers has."""
        metrics = self.rows.protocols.protocol(row).metrics
        by_mlqa = [name for name in metrics if isinstance(load_metric(name), MlqaExactMatch)]
        try:
            for pair in self.rows.data.languages(row.benchmark) if by_mlqa else ():
                mlqa_tokens("", pair.rpartition("-")[2])
        except SteleError as error:
            return "not built", f"{', '.join(by_mlqa)}: {error}; in other languages take f1_squad, exact_match_squad"
        return None

    def learns(self, row: RunKey) -> bool:
        return True

    def training_set(self, row: RunKey) -> str:
        return self.recipe(row).training_set.entry

    def training_data(self, row: RunKey) -> dict[str, str]:
        """Records of the training set by `dataset:part`."""
        name = self.training_set(row)
        return self.rows.data.records(self.rows.data.training_set(name).data, self.rows.data.training_languages(name))

    def modules(self, row: RunKey) -> list[str]:
        return [f"benchmarks.{self.rows.data.training_set(self.training_set(row)).module}"]

    def reads(self, row: RunKey) -> Reads:
        return {**super().reads(row), f"training set {self.training_set(row)}": self.training_data(row)}

    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        return {**super().inputs(row, seeds), "training_data": list(self.training_data(row).values())}


KINDS = {"answered": Answered}

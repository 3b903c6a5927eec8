"""Reasons why a model, or the data that a row reads, is not available."""

from dataclasses import dataclass

from stele.plan.finetuning import Finetuning
from stele.plan.models import Problem
from stele.plan.pretraining import Pretraining
from stele.plan.settings import cached_method


@dataclass(frozen=True, eq=False, repr=False)
class Availability:
    pretraining: Pretraining
    finetuning: Finetuning

    @cached_method
    def model_problem(self, key: str) -> Problem | None:
        """(state, reason) when a model cannot be built, else None: `not built`, `unavailable` or `not in scale`."""
        if not (trained := self.pretraining.models.pretraining_of(key)):
            return self.pretraining.models.checkpoint_problem(key)
        of_others = self.model_problem(self.pretraining.models[trained].base) or self.model_problem(
            self.pretraining.models.tokenizer(key)
        )
        return self.pretraining.problem(trained) or of_others

    @cached_method
    def finetuning_problem(self, recipe: str | None) -> Problem | None:
        """(state, reason) if a chain of fine-tunings lacks a language or model, or contradicts itself, else None."""
        for name in self.finetuning.chain(recipe):
            if reason := self.finetuning.lacking(name):
                return "not in scale", reason
            if reason := self.finetuning.contradiction(name):
                return "not built", reason
            for model in sorted(self.finetuning.written_by(name)):
                if problem := self.model_problem(model):
                    return problem
        return None

    @cached_method
    def pretraining_data(self, model: str) -> dict[str, list[str]]:
        """Pretraining corpora of a model and of the models that it starts from, by the pretraining that reads them."""
        groups = {}
        while trained := self.pretraining.models.pretraining_of(model):
            groups[f"pretraining of {trained}"] = sorted({dataset for dataset, _ in self.pretraining.texts(trained)})
            model = self.pretraining.models[trained].base
        return groups

    @cached_method
    def finetuning_data(self, recipe: str | None) -> dict[str, list[str]]:
        """Datasets that a chain of fine-tunings reads, by the training set or the hard negatives made from them."""
        groups = {}
        for name in self.finetuning.chain(recipe):
            groups |= self.finetuning.datasets(name)
            if mined := self.finetuning.mined_set(name):
                groups[f"hard negatives of {mined}"] = self.finetuning.mined_datasets(mined)
        return groups

    def data_problem(self, groups: dict[str, list[str]]) -> Problem | None:
        """`unavailable` with the reason if a dataset is not available, or if a group mixes real and generated data."""
        for reader, names in groups.items():
            if reason := self.pretraining.data.problem(names) or self.pretraining.data.mixture_problem(reader, names):
                return "unavailable", reason
        return None

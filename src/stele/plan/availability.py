"""Reasons why a model, or the data that a row reads, is not available, and the checkpoints that it needs."""

from dataclasses import dataclass

from stele.plan.finetuning import Finetuning
from stele.plan.models import Problem
from stele.plan.paths import Reads
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
    def checkpoints(self, model: str, recipe: str | None) -> set[str]:
        """Models whose checkpoints a fine-tuned model needs: its root, its tokenizer's, its queries' writers."""
        models = self.pretraining.models
        tokenizer = {models.tokenizer(model)} if models.pretraining_of(model) else set()
        return {models.root(model)}.union(tokenizer, *map(self.finetuning.written_by, self.finetuning.chain(recipe)))

    def data_problem(self, reads: Reads) -> Problem | None:
        """`unavailable` with the reason if a dataset is not available, or if a step mixes real and generated data."""
        for step, records in reads.items():
            names = list(dict.fromkeys(name.partition(":")[0] for name in records))
            if reason := self.pretraining.data.problem(names) or self.pretraining.data.mixture_problem(step, names):
                return "unavailable", reason
        return None

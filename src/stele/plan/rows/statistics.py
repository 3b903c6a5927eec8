"""Rows that count a dataset, a test collection or mined pairs; its name takes the place of the row's model."""

from stele.artifacts.results import RunKey
from stele.catalogue import datasets, recipes
from stele.catalogue.datasets import COLLECTION, counted_dataset
from stele.errors import SteleError
from stele.files.strict import Strict
from stele.plan.mining import Mining
from stele.plan.models import Problem
from stele.plan.paths import Inputs, Reads
from stele.plan.rows import Kind
from stele.registry import names_held

STATISTICS = "stele.scoring.statistics"


class Statistics(Kind):
    rule = "count_dataset"
    scored = None
    counts = True

    class Setting(Strict):
        pass

    @property
    def _mining(self) -> Mining:
        return self.rows.availability.pretraining.mining

    def problem(self, row: RunKey) -> Problem | None:
        counted = counted_dataset(row.model)
        if counted.module not in names_held(STATISTICS, "COUNTED"):
            return "not built", f"nothing counts {row.model} yet"
        if reason := self._language_problem(row.model):
            return "not in scale", reason
        problem = self.rows.availability.data_problem(self.reads(row))
        return problem or (counted.lengths_in and self.rows.availability.model_problem(counted.lengths_in)) or None

    def _language_problem(self, name: str) -> str | None:
        """The reason why a dataset or its pairs are not counted in the languages of this run; None if they are."""
        if name in recipes.names("pairs"):
            no_pair = f"no two languages of {self._mining.recipe(name).vectors} are built"
            return None if self._parts(name) else no_pair
        counted = counted_dataset(name)
        if counted.module == COLLECTION or counted.lengths_in:
            return self.rows.data.language_problem(name)
        if datasets.dataset(name).parts != datasets.ALL and self.rows.paths.settings.config.languages:
            return f"{name} is counted in all its languages; this run has only some (`languages`)"
        return None

    def _parts(self, mining: str) -> list[str]:
        """Language pairs of a mining recipe that are counted: those that are built and have word vectors."""
        data, vectors = self.rows.data, self._mining.recipe(mining).vectors
        built = data.languages("statistics")
        return [part for part in self._mining.parts(mining, data.languages_of(vectors)) if part in built]

    def records(self, name: str) -> dict[str, str]:
        """Records of all parts in scale that are counted, by `dataset:part`, or `recipe:part` for mined pairs."""
        if name in recipes.names("pairs"):
            return {f"{name}:{part}": self.rows.paths.knowledge_pairs(name, part) for part in self._parts(name)}
        records: dict[str, str] = {}
        for dataset in counted_dataset(name).datasets:
            records |= self.rows.data.all_records(dataset)
        return records

    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        lengths = self.lengths(row.model)
        return {"data": list(self.records(row.model).values()), **({"lengths": lengths} if lengths else {})}

    def lengths(self, name: str) -> list[str]:
        """Records of a dataset's document lengths, one per language; empty if lengths are not counted."""
        if name in recipes.names("pairs") or counted_dataset(name).lengths_in is None:
            return []
        codes = {code for pair in self.rows.data.languages(name) for code in pair.split("-")}
        return [self.rows.paths.results(f"statistics/{name}/count/lengths_{code}.json") for code in sorted(codes)]

    def length_inputs(self, name: str) -> Inputs:
        """Inputs of the job that measures lengths: data and tokenizer. Raises SteleError if none are measured."""
        row = RunKey("statistics", name, "count")
        if (problem := self.problem(row)) or not self.lengths(name):
            state, reason = problem or ("not built", "the lengths of its documents are not counted")
            raise SteleError(f"results/{row.path}: {state}: {reason}")
        (tokenizer,) = self.checkpoints(row)
        return {"data": list(self.records(name).values()), "tokenizer": self.rows.paths.checkpoint(tokenizer)}

    def seeds(self, row: RunKey, pretraining: list[int], finetuning: list[int]) -> list[str]:
        """An empty list: a count has no seeds, as it is no mean over runs."""
        return []

    def reads(self, row: RunKey) -> Reads:
        """Records of the datasets that are counted, or from which the counted pairs are mined."""
        if row.model not in recipes.names("pairs"):
            return {row.model: self.records(row.model)}
        codes = {code for part in self._parts(row.model) for code in self._mining.part_codes(row.model, part)}
        texts = sorted(self._mining.datasets(row.model, codes))
        return {row.model: {f"{name}:{part}": self.rows.paths.dataset(name, part) for name, part in texts}}

    def checkpoints(self, row: RunKey) -> set[str]:
        """The model whose tokenizer measures the documents, if their lengths are counted."""
        lengths_in = counted_dataset(row.model).lengths_in
        return {self.rows.models.tokenizer(lengths_in)} if lengths_in else set()


KINDS = {"statistics": Statistics}

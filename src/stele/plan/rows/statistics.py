"""Rows that count a dataset, a test collection or mined pairs; its name takes the place of the row's model."""

from collections.abc import Iterable

from stele.artifacts.results import RunKey
from stele.catalogue import datasets, recipes
from stele.catalogue.datasets import COLLECTION, counted_dataset
from stele.errors import SteleError
from stele.files.strict import Strict
from stele.plan.mining import Mining
from stele.plan.models import Problem
from stele.plan.paths import Inputs
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
        if row.model in recipes.names("pairs"):
            return self._pairs_problem(row.model)
        what = counted_dataset(row.model)
        if what.module not in names_held(STATISTICS, "COUNTED"):
            return "not built", f"nothing counts {row.model} yet"
        if what.module == COLLECTION:
            return self._collection_problem(row.model, what.datasets)
        if what.lengths_in:
            problem = self._collection_problem(row.model, what.datasets)
            return problem or self.rows.availability.model_problem(what.lengths_in)
        if datasets.dataset(row.model).parts != datasets.ALL and self.rows.paths.settings.config.languages:
            return "not in scale", f"{row.model} is counted in all its languages; this run has only some (`languages`)"
        return self.rows.availability.data_problem({row.model: [row.model]})

    def _collection_problem(self, benchmark: str, read: list[str]) -> Problem | None:
        if problem := self.rows.data.language_problem(benchmark):
            return "not in scale", problem
        return self.rows.availability.data_problem({benchmark: read})

    def _pairs_problem(self, mining: str) -> Problem | None:
        if mining not in names_held(STATISTICS, "COUNTED"):
            return "not built", f"nothing counts {mining} yet"
        if not (parts := self._parts(mining)):
            return "not in scale", f"no two languages of {self._mining.recipe(mining).vectors} are built"
        read = sorted({name for name, _ in self._datasets(mining, parts)})
        return self.rows.availability.data_problem({mining: read})

    def _parts(self, mining: str) -> list[str]:
        """Language pairs of a mining recipe that are counted: those that are built and have word vectors."""
        data, vectors = self.rows.data, self._mining.recipe(mining).vectors
        built = data.languages("statistics")
        return [part for part in self._mining.parts(mining, data.languages_of(vectors)) if part in built]

    def _datasets(self, mining: str, parts: Iterable[str]) -> set[tuple[str, str]]:
        """(dataset, part) of all data from which the given parts are mined."""
        codes = {code for part in parts for code in self._mining.part_codes(mining, part)}
        return self._mining.datasets(mining, codes)

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
        return {"data": list(self.records(name).values()), "tokenizer": self._tokenizer(name)}

    def _tokenizer(self, name: str) -> str:
        """Record of the checkpoint whose tokenizer measures the documents."""
        return self.rows.paths.checkpoint(self.rows.models.tokenizer(counted_dataset(name).lengths_in))

    def seeds(self, row: RunKey, pretraining: list[int], finetuning: list[int]) -> list[str]:
        """An empty list: a count has no seeds, as it is no mean over runs."""
        return []

    def downloads(self, row: RunKey) -> set[str]:
        if row.model in recipes.names("pairs"):
            return {self.rows.paths.dataset(*read) for read in self._datasets(row.model, self._parts(row.model))}
        tokenizers = {self._tokenizer(row.model)} if self.lengths(row.model) else set()
        return tokenizers.union(self.records(row.model).values())


KINDS = {"statistics": Statistics}

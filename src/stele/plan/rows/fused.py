"""Rows that fuse two rankings of a benchmark: dense retrieval by a model, and term matching (Shi et al.)."""

from typing import Any

from pydantic import Field

from stele.artifacts.results import RunKey
from stele.benchmarks.reader import BenchmarkReader
from stele.plan.data import reader_of
from stele.plan.models import Problem
from stele.plan.paths import Inputs, Reads
from stele.plan.rows import Kind, lexical
from stele.recipes.search import Fusion

TERM_SETTING = "direct"  # the setting of term matching, if the benchmark has it


class Fused(Kind):
    rule = "fuse"

    class Setting(Fusion):
        term: str = Field(description="lexical model whose ranking is fused")
        dense: str = Field(description="setting of the benchmark in which the encoder is searched")

    def parts(self, row: RunKey) -> tuple[RunKey, RunKey]:
        setting = self.rows.protocols.setting(row)
        term = RunKey(row.benchmark, setting["term"], self._term_setting(row.benchmark))
        return term, row._replace(setting=setting["dense"])

    def _term_setting(self, benchmark: str) -> str:
        """The setting of term matching on a benchmark: `direct`, or else its first lexical setting."""
        settings = self.rows.protocols.settings[benchmark]
        names = [name for name, setting in settings.items() if setting["kind"] in lexical.KINDS]
        return TERM_SETTING if TERM_SETTING in names or not names else names[0]

    def problem(self, row: RunKey) -> Problem | None:
        """The problem of the benchmark, else of the dense retrieval row, of the term matching row, or of the data."""
        reader = reader_of(row.benchmark, BenchmarkReader)
        if reader and reader.SCORED_BY != "judgments":
            return "not built", f"{row.benchmark} has no judgments of passages, by which the weights are chosen"
        term, dense = self.parts(row)
        problem = self.rows.problem(dense) or self.rows.problem(term)
        return problem or self.rows.availability.data_problem(self.reads(row))

    def left_out(self, row: RunKey) -> dict[str, str]:
        term, dense = self.parts(row)
        return self.rows.left_out(term) | self.rows.left_out(dense)

    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        """Inputs of the job: both rankings, and the topics and judgments on which the weight is chosen."""
        term, dense = self.parts(row)
        paths = {"term": f"{term.path}/{self.rows.seeds(term)[0]}", "dense": f"{dense.path}/{seeds}"}
        records = {name: self.rows.paths.results(f"{path}/retrieval.json") for name, path in paths.items()}
        return {**records, "data": list(self.data(row).values())}

    def data(self, row: RunKey) -> dict[str, str]:
        """Records of the topics and judgments by `dataset:part`."""
        names = self.rows.protocols.datasets(row)
        return self.rows.data.records(names, self.rows.data.languages(row.benchmark))

    def recipe(self, row: RunKey) -> dict[str, Any]:
        """Fusion keys of a row's setting: how the scores of the two rankings are made comparable."""
        setting = self.rows.protocols.setting(row)
        return {key: setting[key] for key in Fusion.model_fields if key in setting}

    def seeds(self, row: RunKey, pretraining: list[int], finetuning: list[int]) -> list[str]:
        """Seeds of the dense retrieval row; term matching has no seeds."""
        _, dense = self.parts(row)
        return self.rows.kind(dense).seeds(dense, pretraining, finetuning)

    def reads(self, row: RunKey) -> Reads:
        term, dense = (self.rows.kind(part).reads(part) for part in self.parts(row))
        return {**term, **dense, "fusion": self.data(row)}

    def checkpoints(self, row: RunKey) -> set[str]:
        _, dense = self.parts(row)
        return self.rows.kind(dense).checkpoints(dense)


KINDS = {"fused": Fused}

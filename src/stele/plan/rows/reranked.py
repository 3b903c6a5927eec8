"""Rows of re-ranking: all judged documents of a topic are ordered by a cross-encoder, trained in folds of topics.

A pair of languages is a job; the row's run has those of all its pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from stele.artifacts.row import Row
from stele.catalogue import recipes
from stele.errors import SteleError
from stele.files.strict import Strict
from stele.plan.params import as_json
from stele.plan.paths import Inputs
from stele.plan.rows.dense import Dense
from stele.recipes.reranking import RerankingRecipe


@dataclass(frozen=True, eq=False)
class Reranked(Dense):
    class Setting(Strict):
        reranking: str = Field(description="the recipe by which a scorer is trained")

    def recipe(self, row: Row) -> RerankingRecipe:
        """What the scorer is and how it learns."""
        name = self.below.protocols.setting(row.benchmark, row.setting)["reranking"]
        return recipes.reranking(name, self.below.paths.settings.sizes)

    def as_json(self, row: Row) -> str:
        return as_json(self.recipe(row).given())

    def pair(self, row: Row, seeds: str, pair: str) -> str:
        """The record of the job of one pair of languages."""
        return self.below.paths.results(f"{row.path}/{seeds}/pairs/{pair}/retrieval.json")

    def inputs(self, row: Row, seeds: str) -> Inputs:
        """The runs of all pairs in scale."""
        return {"pairs": [self.pair(row, seeds, pair) for pair in self.below.data.languages(row.benchmark)]}

    def pair_inputs(self, row: Row, seeds: str, pair: str) -> Inputs:
        """The encoder that the scorer starts from, and topics, documents and judgments."""
        if problem := self.problem(row):
            raise SteleError(f"results/{row.path}: {problem[0]}: {problem[1]}")
        if pair not in (languages := self.below.data.languages(row.benchmark)):
            raise SteleError(f"results/{row.path}: not in scale: {pair} is not among {', '.join(languages)}")
        return super().inputs(row, seeds)


KINDS = {"reranked": Reranked}

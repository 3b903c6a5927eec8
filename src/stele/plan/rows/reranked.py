"""Rows of re-ranking: all judged documents of a topic are ordered by a cross-encoder, trained in folds of topics.

A pair of languages is a job; the row's run has those of the pairs that tables and figures show of it, all where they
show none.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from stele.artifacts.row import Row
from stele.catalogue import recipes
from stele.errors import SteleError
from stele.files.strict import Strict
from stele.plan.models import Problem
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
        windows = self.below.availability.pretraining.attention_window(row.model) is not None
        return recipes.reranking(name, self.below.paths.settings.sizes, windows)

    def as_json(self, row: Row) -> str:
        return as_json(self.recipe(row).given())

    def pair(self, row: Row, seeds: str, pair: str) -> str:
        """The record of the job of one pair of languages."""
        return self.below.paths.results(f"{row.path}/{seeds}/pairs/{pair}/retrieval.json")

    def left_out(self, row: Row) -> dict[str, str]:
        """The pairs that nothing shows of a row that is shown: each would be a training of its own."""
        pairs = self.below.data.languages(row.benchmark)
        shown = self.below.shown.languages(row) or pairs
        return {pair: "no table or figure shows this pair of the row" for pair in pairs if pair not in shown}

    def pairs(self, row: Row) -> list[str]:
        """The row's pairs that are built."""
        left_out = self.left_out(row)
        return [pair for pair in self.below.data.languages(row.benchmark) if pair not in left_out]

    def problem(self, row: Row) -> Problem | None:
        """As of other encoders; `not in scale` where no pair is built that is shown of the row."""
        none_left = "not in scale", f"no pair of {row.benchmark} is built that a table or figure shows of {row.model}"
        return super().problem(row) or (None if self.pairs(row) else none_left)

    def inputs(self, row: Row, seeds: str) -> Inputs:
        """The runs of the row's pairs."""
        return {"pairs": [self.pair(row, seeds, pair) for pair in self.pairs(row)]}

    def pair_inputs(self, row: Row, seeds: str, pair: str) -> Inputs:
        """The encoder that the scorer starts from, and topics, documents and judgments."""
        if problem := super().problem(row):
            raise SteleError(f"results/{row.path}: {problem[0]}: {problem[1]}")
        if pair not in (languages := self.below.data.languages(row.benchmark)):
            raise SteleError(f"results/{row.path}: not in scale: {pair} is not among {', '.join(languages)}")
        return super().inputs(row, seeds)


KINDS = {"reranked": Reranked}

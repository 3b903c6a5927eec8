"""Rows of re-ranking: all judged documents of a topic are ordered by a scorer, trained in folds of topics if it learns.

A model is what a cross-encoder starts from, or a scorer over vectors of words. A pair of languages is a job; the row's
run has those of the pairs that tables and figures show of it, all where they show none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pydantic import Field

from stele.artifacts.results import RunKey
from stele.catalogue import recipes
from stele.catalogue.schema.models import WordScorer
from stele.errors import SteleError
from stele.files.strict import Strict
from stele.plan.data import Data
from stele.plan.models import Problem
from stele.plan.paths import Inputs, as_json, assignments, seed_names
from stele.plan.rows.dense import Dense
from stele.recipes.reranking import RerankingRecipe, Trained

ANALYZERS = "catalogue/analyzers.yaml"


@dataclass(frozen=True, eq=False, repr=False)
class Reranked(Dense):
    rule = "rerank"
    encodes = False

    class Setting(Strict):
        reranking: str | None = Field(None, description="the recipe of a scorer that starts from a transformer")
        word_scorers: Literal["trained", "untrained"] | None = Field(
            None, description="the models over vectors of words that belong here: by whether they learn"
        )

    def _scorer(self, row: RunKey) -> WordScorer | None:
        """The scorer over vectors of words that a row's model is; None of a model that is encoded with."""
        return self.upstream.models[row.model].word_scorer

    def recipe(self, row: RunKey) -> RerankingRecipe:
        """What the scorer is and how it learns."""
        sizes = self.upstream.paths.settings.sizes
        if scorer := self._scorer(row):
            return recipes.reranking(scorer.reranking, sizes)
        name = self.upstream.protocols.setting(row.benchmark, row.setting)["reranking"]
        windows = self.upstream.availability.pretraining.attention_window(row.model) is not None
        return recipes.reranking(name, sizes, windows)

    def as_json(self, row: RunKey) -> str:
        return as_json(self.recipe(row).given())

    def learns(self, row: RunKey) -> bool:
        """Whether anything is trained: a row's seeds, and what its job takes, follow from that."""
        return isinstance(self.recipe(row), Trained)

    def problem(self, row: RunKey) -> Problem | None:
        """The problem of the encoder or the word vectors; `not in scale` without a pair that a table shows."""
        if problem := self._problem(row):
            return problem
        if self.pairs(row):
            return None
        if lacking := self._lacking(row):
            return "unavailable", next(iter(lacking.values()))
        return "not in scale", f"no pair of {row.benchmark} is built that a table or figure shows of {row.model}"

    def _problem(self, row: RunKey) -> Problem | None:
        """Why no pair of languages can be built."""
        setting, scorer = self.upstream.protocols.setting(row.benchmark, row.setting), self._scorer(row)
        if scorer is None:
            fits = setting.get("reranking") is not None
        else:
            fits = setting.get("word_scorers") == ("trained" if self.learns(row) else "untrained")
        if not fits:
            return "not built", f"no rule builds {row.benchmark}/{row.setting} with {row.model}"
        if scorer is not None:
            return self.upstream.availability.data_problem(self.datasets(row))
        return super().problem(row) or self.upstream.models.standin_problem(
            "reranking", setting["reranking"], row.model
        )

    def _lacking(self, row: RunKey) -> dict[str, str]:
        """The pairs of languages that a scorer's vectors do not have."""
        if (scorer := self._scorer(row)) is None:
            return {}
        data = self.upstream.data
        lacking = (p for p in data.languages(row.benchmark) if not vector_parts(data, scorer.vectors, p))
        return {pair: f"{scorer.vectors} has no vectors of {pair}" for pair in lacking}

    def left_out(self, row: RunKey) -> dict[str, str]:
        """The pairs without vectors, and those that nothing shows of a row that is shown: each would be a training."""
        pairs = self.upstream.data.languages(row.benchmark)
        shown = self.upstream.shown.languages(row) or pairs
        unseen = {pair: "no table or figure shows this pair of the row" for pair in pairs if pair not in shown}
        return unseen | self._lacking(row)

    def pairs(self, row: RunKey) -> list[str]:
        """The row's pairs that are built."""
        left_out = self.left_out(row)
        return [pair for pair in self.upstream.data.languages(row.benchmark) if pair not in left_out]

    def datasets(self, row: RunKey) -> dict[str, list[str]]:
        """The vectors of words tell of the world that the documents tell of."""
        if (scorer := self._scorer(row)) is None:
            return super().datasets(row)
        return {row.benchmark: [*self.upstream.protocols.datasets(row), scorer.vectors]}

    def pair(self, row: RunKey, seeds: str, pair: str) -> str:
        """The record of the job of one pair of languages."""
        return self.upstream.paths.results(f"{row.path}/{seeds}/pairs/{pair}/retrieval.json")

    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        """The runs of the row's pairs."""
        return {"pairs": [self.pair(row, seeds, pair) for pair in self.pairs(row)]}

    def pair_inputs(self, row: RunKey, seeds: str, pair: str) -> Inputs:
        """What the scorer starts from, an encoder or vectors of words, and topics, documents and judgments.

        A pair that no table shows can be asked for, too.
        """
        if problem := self._problem(row):
            raise SteleError(f"results/{row.path}: {problem[0]}: {problem[1]}")
        if reason := self._lacking(row).get(pair):
            raise SteleError(f"results/{row.path}: unavailable: {reason}")
        if pair not in (languages := self.upstream.data.languages(row.benchmark)):
            raise SteleError(f"results/{row.path}: not in scale: {pair} is not among {', '.join(languages)}")
        if self._scorer(row) is None:
            return super().inputs(row, seeds)
        searched = self.upstream.protocols.searched(row)
        return {"vectors": list(self.vectors(row, pair).values()), "data": list(searched.values())}

    def vectors(self, row: RunKey, pair: str) -> dict[str, str]:
        """`dataset:part` -> record of the vectors of words of a pair of languages; none where a transformer scores."""
        if (scorer := self._scorer(row)) is None:
            return {}
        return self.upstream.data.records([scorer.vectors], vector_parts(self.upstream.data, scorer.vectors, pair))

    def start(self, row: RunKey, seeds: str, pair: str) -> str:
        """The option that names what the scorer starts from."""
        if vectors := self.vectors(row, pair):
            return f"--vectors {' '.join(assignments(vectors))}"
        return f"--encoder {self.encoder(row, seeds)}"

    def code_data(self, row: RunKey) -> tuple[str, ...]:
        """The files of facts that a scorer reads: words are taken from texts by analyzers.yaml."""
        return () if self._scorer(row) is None else (ANALYZERS,)

    def seeds(self, row: RunKey) -> list[str]:
        """As of rows of encoders; of vectors of words those of fine-tuning, or one where nothing is drawn."""
        if self._scorer(row) is None:
            return super().seeds(row)
        return seed_names([0], self.upstream.paths.settings.config.seeds.finetuning if self.learns(row) else [0])

    def downloads(self, row: RunKey) -> set[str]:
        if self._scorer(row) is None:
            return super().downloads(row)
        records = self.upstream.protocols.records(row)
        for pair in self.pairs(row):
            records.update(self.vectors(row, pair).values())
        return records


def vector_parts(data: Data, dataset: str, pair: str) -> list[str]:
    """The parts of a dataset of word vectors that have a pair of languages: its own, or one a language; else none."""
    have, languages = data.languages_of(dataset), pair.split("-")
    part = "-".join(sorted(languages))
    return [part] if part in have else languages if {*languages} <= {*have} else []


KINDS = {"reranked": Reranked}

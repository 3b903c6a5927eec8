"""Rows of re-ranking: a scorer, cross-validated by folds of topics if it is trained, ranks a topic's judged documents.

A row's model is the checkpoint a cross-encoder starts from, or a scorer over word vectors. Each language pair is a job;
a row's run has the pairs that tables and figures show of it, or all pairs if they show none.
"""

from typing import Literal

from pydantic import Field

from stele.artifacts.results import RunKey
from stele.benchmarks.reader import BenchmarkReader
from stele.catalogue import recipes
from stele.catalogue.schema.models import WordScorer
from stele.errors import SteleError
from stele.files.strict import Strict
from stele.plan.data import Data, reader_of
from stele.plan.models import Problem
from stele.plan.paths import Inputs, Reads, assignments
from stele.plan.rows.dense import Dense
from stele.recipes.reranking import RerankingRecipe, Trained


class Reranked(Dense):
    rule = "rerank"
    encodes = False

    class Setting(Strict):
        reranking: str | None = Field(None, description="re-ranking recipe of a scorer that starts from a transformer")
        word_scorers: Literal["trained", "untrained"] | None = Field(
            None,
            description="models over word vectors that this setting admits: those that are trained, or those that are "
            "not",
        )

    def _scorer(self, row: RunKey) -> WordScorer | None:
        """The word-vector scorer that a row's model is; None if the model is a transformer."""
        return self.rows.models[row.model].word_scorer

    def recipe(self, row: RunKey) -> RerankingRecipe:
        """Recipe of the scorer: its architecture and its training."""
        sizes = self.rows.paths.settings.sizes
        if scorer := self._scorer(row):
            return recipes.reranking(scorer.reranking, sizes)
        name = self.rows.protocols.setting(row)["reranking"]
        windows = self.rows.availability.pretraining.attention_window(row.model) is not None
        return recipes.reranking(name, sizes, windows)

    def learns(self, row: RunKey) -> bool:
        """Whether the scorer is trained; the row's seeds and its job's options depend on it."""
        has_recipe = self._scorer(row) or self.rows.protocols.setting(row).get("reranking")
        return bool(has_recipe) and isinstance(self.recipe(row), Trained)

    def problem(self, row: RunKey) -> Problem | None:
        """The problem of the encoder or the word vectors; `not in scale` if no pair is built that a table shows."""
        if problem := self._problem(row):
            return problem
        if self.rows.languages(row):
            return None
        if lacking := self._lacking(row):
            return "unavailable", next(iter(lacking.values()))
        return "not in scale", f"no pair of {row.benchmark} is built that a table or figure shows of {row.model}"

    def _problem(self, row: RunKey) -> Problem | None:
        """The problem that prevents all language pairs of a row, else None."""
        setting, scorer = self.rows.protocols.setting(row), self._scorer(row)
        if scorer is None:
            fits = setting.get("reranking") is not None
        else:
            fits = setting.get("word_scorers") == ("trained" if self.learns(row) else "untrained")
        if not fits:
            return "not built", f"no rule builds {row.benchmark}/{row.setting} with {row.model}"
        reader = reader_of(row.benchmark, BenchmarkReader)
        if reader and reader.SCORED_BY != "judgments":
            return "not built", f"{row.benchmark} has no judgments of passages, which a scorer would rank"
        if scorer is not None:
            return self.rows.availability.data_problem(self.reads(row))
        encodings = (values for _, values in self.rows.models.encoding_overrides(row.model))
        if next((values["pooling"] for values in encodings if "pooling" in values), None) == "last":
            return "not built", f"{row.model} has causal attention: the first token, which is scored, sees no text"
        problem = super().problem(row)
        return problem or self.rows.models.standin_problem("reranking", setting["reranking"], row.model)

    def _lacking(self, row: RunKey) -> dict[str, str]:
        """Language pairs for which the scorer's dataset has no word vectors, each with the reason."""
        if (scorer := self._scorer(row)) is None:
            return {}
        data = self.rows.data
        lacking = (p for p in data.languages(row.benchmark) if not vector_parts(data, scorer.vectors, p))
        return {pair: f"{scorer.vectors} has no vectors of {pair}" for pair in lacking}

    def left_out(self, row: RunKey) -> dict[str, str]:
        """Pairs without word vectors, and pairs that no table or figure shows, since each would need a training."""
        pairs = self.rows.data.languages(row.benchmark)
        shown = self.rows.shown.get(row) or pairs
        unseen = {pair: "no table or figure shows this pair of the row" for pair in pairs if pair not in shown}
        return unseen | self._lacking(row)

    def reads(self, row: RunKey) -> Reads:
        """Records of a row; word vectors and documents must not mix real and generated data."""
        if self._scorer(row) is None:
            return super().reads(row)
        records = self.rows.protocols.records(row)
        for pair in self.rows.languages(row):
            records |= self.vectors(row, pair)
        return {row.benchmark: records}

    def pair(self, row: RunKey, seeds: str, pair: str) -> str:
        return self.rows.paths.results(f"{row.path}/{seeds}/pairs/{pair}/retrieval.json")

    def inputs(self, row: RunKey, seeds: str) -> Inputs:
        return {"pairs": [self.pair(row, seeds, pair) for pair in self.rows.languages(row)]}

    def pair_inputs(self, row: RunKey, seeds: str, pair: str) -> Inputs:
        """Inputs of a pair's job: an encoder or word vectors, and topics, documents and judgments.

        Any pair of the benchmark can be requested, shown in a table or not; for others SteleError is raised.
        """
        if problem := self._problem(row):
            raise SteleError(f"results/{row.path}: {problem[0]}: {problem[1]}")
        if reason := self._lacking(row).get(pair):
            raise SteleError(f"results/{row.path}: unavailable: {reason}")
        if pair not in (languages := self.rows.data.languages(row.benchmark)):
            raise SteleError(f"results/{row.path}: not in scale: {pair} is not among {', '.join(languages)}")
        if self._scorer(row) is None:
            return super().inputs(row, seeds)
        searched = self.rows.protocols.searched(row)
        return {"vectors": list(self.vectors(row, pair).values()), "data": list(searched.values())}

    def vectors(self, row: RunKey, pair: str) -> dict[str, str]:
        """Records of a language pair's word vectors by `dataset:part`; empty if the scorer is a transformer."""
        if (scorer := self._scorer(row)) is None:
            return {}
        return self.rows.data.records([scorer.vectors], vector_parts(self.rows.data, scorer.vectors, pair))

    def start(self, row: RunKey, seeds: str, pair: str) -> str:
        """The option --vectors or --encoder that names the word vectors or the encoder the scorer starts from."""
        if vectors := self.vectors(row, pair):
            return f"--vectors {' '.join(assignments(vectors))}"
        return f"--encoder {self.encoder(row, seeds)}"

    def code_data(self, row: RunKey) -> tuple[str, ...]:
        """Fact files that a scorer reads: analyzers.yaml, which tokenises texts for word-vector scorers."""
        return () if self._scorer(row) is None else ("catalogue/analyzers.yaml",)


def vector_parts(data: Data, dataset: str, pair: str) -> list[str]:
    """Parts of a word vector dataset for a language pair: the pair's own part, or one per language; else empty."""
    have, languages = data.languages_of(dataset), pair.split("-")
    part = "-".join(sorted(languages))
    return [part] if part in have else languages if {*languages} <= {*have} else []


KINDS = {"reranked": Reranked}

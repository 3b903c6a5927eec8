"""Rows that no encoder stands behind: lexical models, which learn nothing, and counts of datasets."""

from __future__ import annotations

from typing import Any

from stele import catalogue
from stele.catalogue import datasets
from stele.errors import SteleError, unknown
from stele.plan.base import Plan
from stele.registry import module_names

STATISTICS, COUNT = "statistics", "count"  # the benchmark and its setting whose "models" are datasets
ANSERINI = "anserini"  # the dataset that is Anserini; named by the user, it searches in bm25s's place


class Plain(Plan):
    """The plan with rule bm25 and the counts of datasets."""

    # --- lexical models ---------------------------------------------------------------------------------------------
    def is_lexical(self, model: str) -> bool:
        """Whether a model matches words and has no checkpoint."""
        return self.model(model).get("kind") == "lexical"

    @property
    def lexical_models(self) -> list[str]:
        return [key for key in self.models if self.is_lexical(key)]

    def lexical_of(self, benchmark: str) -> dict[str, dict[str, Any]]:
        """The settings of lexical models on a benchmark, with how their parameters are chosen."""
        return catalogue.load("settings")["lexical"].get(benchmark, {})

    def kind_problem(self, benchmark: str, model: str, setting: str) -> tuple[str, str] | None:
        """`not built` where a setting is of lexical models and the model is none, or the other way round."""
        if self.is_lexical(model) == (setting in self.lexical_of(benchmark)):
            return None
        return "not built", f"no rule builds {benchmark}/{setting} with {model} yet"

    def seeds(self, model: str) -> list[str]:
        """The seeds of a result; a lexical model has nothing that a seed could change."""
        return ["pt0-ft0"] if self.is_lexical(model) else super().seeds(model)

    # --- statistics -------------------------------------------------------------------------------------------------
    def counted_data(self, dataset: str) -> dict[str, str]:
        """`dataset:part` -> record of all parts of a dataset that are in scale: a count is of the whole."""
        in_scale = self._languages_in_scale([dataset])
        have = datasets.languages_of(datasets.dataset(dataset))
        return self.data([dataset], [code for code in have if in_scale is None or code in in_scale])

    def count_problem(self, dataset: str, setting: str) -> tuple[str, str] | None:
        """(state, reason) when a dataset cannot be counted."""
        if setting != COUNT or dataset not in module_names("stele.scoring.statistics"):
            return "not built", f"nothing counts {dataset} yet"
        entry = datasets.dataset(dataset)
        if entry["parts"] != datasets.ALL and self.config.languages:
            return "not in scale", f"{dataset} is counted in all its languages; this run has only some (`languages`)"
        return None

    # --- retrieval.smk ----------------------------------------------------------------------------------------------
    def bm25_recipe(self, w) -> dict[str, Any]:
        """How k1 and b are chosen; a setting of other models is an error that says the nearest of these."""
        settings = self.lexical_of(w.benchmark)
        if w.setting not in settings:
            raise unknown("setting of lexical models", w.setting, settings, f"results/{w.benchmark}/{w.model}")
        return settings[w.setting]

    def bm25_data(self, w) -> dict[str, str]:
        return self.data(self.benchmark(w.benchmark)["data"], self.languages(w.benchmark))

    @property
    def anserini(self) -> str | None:
        """The record of the user's Anserini, None where there is none."""
        return self.dataset(ANSERINI, datasets.ALL) if ANSERINI in self.config.user_data else None

    def bm25_input(self, w) -> dict[str, Any]:
        self.bm25_recipe(w)
        if problem := self.row_problem(w.benchmark, w.model, w.setting):
            raise SteleError(f"results/{w.benchmark}/{w.model}/{w.setting}: {problem[0]}: {problem[1]}")
        engine = {"anserini": self.anserini} if self.anserini else {}
        return {"data": list(self.bm25_data(w).values()), **engine}

    # --- scoring.smk ------------------------------------------------------------------------------------------------
    def count_dataset_input(self, w) -> dict[str, Any]:
        if problem := self.row_problem(STATISTICS, w.dataset, COUNT):
            raise SteleError(f"results/{STATISTICS}/{w.dataset}/{COUNT}: {problem[0]}: {problem[1]}")
        return {"data": list(self.counted_data(w.dataset).values())}

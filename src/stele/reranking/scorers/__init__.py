"""The scorers, one a file, named in a re-ranking recipe; each file has a class `Scorer` with one of two bases."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from stele.encoders.word_vectors import WordVectors
from stele.registry import load_named
from stele.reranking.folds.candidates import Candidates

if TYPE_CHECKING:
    from torch import nn

# (language, words) -> the vectors of those words that have one; a file is read once for all its words
ReadVectors = Callable[[str, Collection[str]], WordVectors]


class Sources(NamedTuple):
    """What a scorer may read beside the candidates.

    query_language, document_language   codes, for the analysis of terms
    encoder       folder of the transformer that a cross-encoder starts from
    read_vectors  the word vectors of a language
    collection    the texts of all documents, for counts over the collection
    """

    query_language: str
    document_language: str
    encoder: Path | None
    read_vectors: ReadVectors
    collection: Callable[[], Iterator[str]]


class UntrainedScorer(ABC):
    """A scorer that learns nothing."""

    def __init__(self, candidates: Candidates, recipe: Any, sources: Sources) -> None:
        self.candidates, self.recipe, self.sources = candidates, recipe, sources

    @abstractmethod
    def scores(self) -> np.ndarray:
        """The score of each candidate, float64 [n]."""


class TrainedScorer(ABC):
    """A scorer that is trained in folds; its inputs are made once for all folds."""

    def __init__(self, candidates: Candidates, recipe: Any, sources: Sources) -> None:
        self.recipe, self.sources = recipe, sources
        self.inputs = self.read_inputs(candidates)

    @abstractmethod
    def read_inputs(self, candidates: Candidates) -> Any:
        """What the module reads of all candidates."""

    @abstractmethod
    def new_module(self, seed: int) -> nn.Module:
        """An untrained module, drawn by `seed`.

        Called with candidates int64 [m] it gives `recipe.outputs` numbers each, [m, outputs], of which the last is the
        score. Its `lengths` int64 [n] are the candidates' sizes, by which batches are made.
        """


def load_scorer(name: str, candidates: Candidates, recipe: Any, sources: Sources) -> UntrainedScorer | TrainedScorer:
    """The scorer of a recipe. Raises SteleError for an unknown name."""
    return load_named(__name__, name, kind="scorer").Scorer(candidates, recipe, sources)

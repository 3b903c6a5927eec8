"""Scorers of re-ranking, one per file and named after it; each file has a class `Scorer` with one of two bases."""

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
    """Inputs of a scorer besides the candidates.

    query_language, document_language   codes, for the analysis of terms
    encoder       folder of the transformer from which a cross-encoder starts
    read_vectors  function that reads the word vectors of a language
    collection    function that yields the texts of all documents, for counts over the collection
    """

    query_language: str
    document_language: str
    encoder: Path | None
    read_vectors: ReadVectors
    collection: Callable[[], Iterator[str]]


class UntrainedScorer(ABC):
    """Base of scorers without training."""

    def __init__(self, candidates: Candidates, recipe: Any, sources: Sources) -> None:
        self.candidates, self.recipe, self.sources = candidates, recipe, sources

    @abstractmethod
    def scores(self) -> np.ndarray:
        """Scores all candidates: float64 [n]."""


class TrainedScorer(ABC):
    """Base of scorers that are trained in folds; their inputs are prepared once for all folds."""

    def __init__(self, candidates: Candidates, recipe: Any, sources: Sources) -> None:
        self.recipe, self.sources = recipe, sources
        self.inputs = self.read_inputs(candidates)

    @abstractmethod
    def read_inputs(self, candidates: Candidates) -> Any:
        """Prepares the module's inputs for all candidates."""

    @abstractmethod
    def new_module(self, seed: int) -> nn.Module:
        """Creates an untrained module, initialised by `seed`.

        The module maps candidate numbers int64 [m] to outputs float32 [m, `recipe.outputs`], of which the last is the
        score. Its `lengths` int64 [n] are the candidates' sizes, used to form batches.
        """


def load_scorer(name: str, candidates: Candidates, recipe: Any, sources: Sources) -> UntrainedScorer | TrainedScorer:
    """Loads the scorer of a recipe by its name. Raises SteleError if the name is unknown."""
    return load_named(__name__, name, kind="scorer").Scorer(candidates, recipe, sources)

"""The scorers, one a file, named in a re-ranking recipe (`load_named`).

A scorer that learns nothing has `scores(candidates, recipe, sources)` -> float64 [n], one a candidate. One that learns
has `inputs(candidates, recipe, sources)`, made once for all folds, and `module(inputs, recipe, sources, seed)`, a new
torch module for each fold: called with candidates int64 [m] it gives `recipe.outputs` numbers of each [m, outputs], the
last of which is the score; its `lengths` int64 [n] say how large each candidate is, by which batches are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from stele.reranking.inputs.word_vectors import ReadVectors


class Sources(NamedTuple):
    """What scorers read beside the candidates.

    query_language, document_language   codes, of the analysis of terms
    encoder       folder of a transformer, for a scorer that starts from one
    read_vectors  the vectors of words in a language
    collection    the texts of all documents, for what is counted over a collection
    """

    query_language: str
    document_language: str
    encoder: Path | None
    read_vectors: ReadVectors
    collection: Callable[[], Iterator[str]]

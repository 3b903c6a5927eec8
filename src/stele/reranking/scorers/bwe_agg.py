"""BWE-AGG: the cosine of the summed vectors of the query's and of the document's words (Litschko et al. 2018).

`weights: idf` weighs the document's words by ln(N / df) in the collection; the query's count alike, as "weights
document terms with IDF" has it (Yu et al., section 5.1.2). Vectors are summed as they are given. Where a side has no
word with a vector the score is 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stele.reranking.inputs.candidates import Candidates
from stele.reranking.inputs.word_vectors import WordVectors
from stele.reranking.scorers import Sources, _words

if TYPE_CHECKING:
    from stele.recipes.reranking import BweAgg


def scores(candidates: Candidates, recipe: BweAgg, sources: Sources) -> np.ndarray:
    """float64 [n]."""
    words = _words.read_words(candidates, sources)
    idf = _idf(words.document_vectors, sources) if recipe.weights == "idf" else None
    queries = _sums(words.queries, words.query_vectors.vectors)
    documents = _sums(words.documents, words.document_vectors.vectors, idf)
    return np.einsum("nd,nd->n", queries[candidates.topic_of], documents[candidates.document_of])


def _sums(texts: list[np.ndarray], vectors: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """The weighted sums of each text's vectors, with unit length, float64 [texts, d]; 0 of one without any."""
    sums = np.zeros((len(texts), vectors.shape[1]))
    for number, rows in enumerate(texts):
        distinct, counts = np.unique(rows, return_counts=True)
        sums[number] = (counts if weights is None else counts * weights[distinct]) @ vectors[distinct].astype(
            np.float64
        )
    norms = np.linalg.norm(sums, axis=1, keepdims=True)
    return sums / np.where(norms > 0, norms, 1)


def _idf(vectors: WordVectors, sources: Sources) -> np.ndarray:
    """ln(N / df) of each row's word, float64."""
    number, frequency = _words.document_frequencies(sources.collection(), sources.document_language)
    idf = np.zeros(len(vectors.vectors))
    for word, row in vectors.words.items():
        idf[row] = np.log(number / max(1, frequency[word]))
    return idf

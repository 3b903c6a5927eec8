"""BWE-AGG: the cosine of the summed vectors of the query's and of the document's words (Litschko et al. 2018).

`weights: idf` weights the document's words by ln(N / df) in the collection and leaves the query's words unweighted:
"weights document terms with IDF" (Yu et al., section 5.1.2). Vectors are summed as they are in the file. The score is
0 if a side has no word with a vector.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from stele.encoders.word_vectors import WordVectors
from stele.reranking.scorers import Sources, UntrainedScorer
from stele.reranking.scorers._words import read_words, unit_vectors
from stele.text.terms import analyzer

if TYPE_CHECKING:
    from stele.recipes.reranking import BweAgg


class Scorer(UntrainedScorer):
    recipe: BweAgg

    def scores(self) -> np.ndarray:
        words = read_words(self.candidates, self.sources)
        idf = _idf(words.document_vectors, self.sources) if self.recipe.weights == "idf" else None
        queries = _sums(words.queries, words.query_vectors.vectors)
        documents = _sums(words.documents, words.document_vectors.vectors, idf)
        return np.einsum("nd,nd->n", queries[self.candidates.topic_of], documents[self.candidates.document_of])


def _sums(texts: list[np.ndarray], vectors: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Weighted sum of each text's word vectors, scaled to length 1, float64 [texts, d]; 0 for a text without any."""
    sums = np.zeros((len(texts), vectors.shape[1]))
    for number, rows in enumerate(texts):
        distinct, counts = np.unique(rows, return_counts=True)
        if weights is not None:
            counts = counts * weights[distinct]
        sums[number] = counts @ vectors[distinct].astype(np.float64)
    return unit_vectors(sums)


def _idf(vectors: WordVectors, sources: Sources) -> np.ndarray:
    """Inverse document frequency ln(N / df) of each row's word, float64 [rows]: df of the N documents have the word."""
    analyze, documents, frequency = analyzer(sources.document_language, False), 0, Counter()
    for text in sources.collection():
        documents += 1
        frequency.update(set(analyze(text)))
    idf = np.zeros(len(vectors.vectors))
    for word, row in vectors.words.items():
        idf[row] = np.log(documents / max(1, frequency[word]))
    return idf
